// SPDX-License-Identifier: Apache-2.0
// C++17: how near sentences are to each other by a model of embeddings, at every sentence's own length.
//
//     sentences MODEL.qrt < IDS
//
// A line of IDS is a sentence: the ids of its tokens, as a tokeniser gives them. Prints for each line the cosine with the
// first one. The model:
//
//     python3 runtime/examples/models.py sentences sentences.onnx && qrt_convert sentences.onnx -o sentences.qrt
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <numeric>
#include <qrt/qrt.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::int64_t> read_ids(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::int64_t> ids;
  for (std::int64_t id; words >> id;) ids.push_back(id);
  return ids;
}

// Returns a vector of length 1. Throws qrt::Error of QRT_OUT_OF_RANGE where the model has no such token.
std::vector<float> embed(qrt::Session* session, const std::vector<std::int64_t>& ids) {
  session->reshape({{"length", static_cast<std::int64_t>(ids.size())}});
  session->set_input("ids", ids);
  session->run();
  const auto output = session->output<float>("embedding");
  return {output.begin(), output.end()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sentences MODEL.qrt < IDS\n");
    return 2;
  }
  try {
    qrt::Session session(qrt::Model::load_file(argv[1]));
    std::vector<float> first;
    for (std::string line; std::getline(std::cin, line);) {
      const std::vector<float> now = embed(&session, read_ids(line));
      if (first.empty()) first = now;
      std::printf("%.3f\n", std::inner_product(now.begin(), now.end(), first.begin(), 0.0));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
