// SPDX-License-Identifier: Apache-2.0
// C++ without exceptions (-fno-exceptions): functions that return what went wrong.
//
//     no_exceptions MODEL.qrt INPUT OUTPUT FILE
//
// As names.cc.
#include <cstdio>
#include <qrt/qrt.hpp>
#include <vector>

namespace {

qrt::Outcome classify(char** argv, const std::vector<float>& values) {
  qrt::Model model;
  qrt::Session session;
  qrt::Span<const float> scores;
  if (qrt::Outcome o = qrt::Model::try_load_file(argv[1], &model); !o.ok()) return o;
  if (qrt::Outcome o = qrt::Session::try_create(model, &session); !o.ok()) return o;
  if (qrt::Outcome o = session.try_set_input(argv[2], values); !o.ok()) return o;
  if (qrt::Outcome o = session.try_run(); !o.ok()) return o;
  if (qrt::Outcome o = session.try_output(argv[3], &scores); !o.ok()) return o;
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[best]) best = i;
  std::printf("%zu\n", best);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: no_exceptions MODEL.qrt INPUT OUTPUT FILE\n");
    return 2;
  }
  std::FILE* file = std::fopen(argv[4], "rb");
  if (file == nullptr) {
    std::perror(argv[4]);
    return 1;
  }
  std::vector<float> values;
  for (float value; std::fread(&value, sizeof value, 1, file) == 1;) values.push_back(value);
  std::fclose(file);
  const qrt::Outcome outcome = classify(argv, values);
  if (!outcome.ok()) std::fprintf(stderr, "%s\n", outcome.message());
  return outcome.ok() ? 0 : 1;
}
