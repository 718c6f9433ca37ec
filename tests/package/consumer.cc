// SPDX-License-Identifier: Apache-2.0
// An application in C++: the same through qrt.hpp, and an error as an exception.
#include <cstdio>
#include <qrt/qrt.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const qrt::Model model = qrt::Model::load_file(argv[1]);
    qrt::SessionOptions options;
    options.batch = 3;
    qrt::Session session(model, options);
#ifdef __cpp_lib_span
    const std::span<float> x = session.input<float>(0);
#else
    const qrt::Span<float> x = session.input<float>(0);
#endif
    for (float& v : x) v = 1.5f;
    session.run();
    const qrt::Span<const float> y = session.output<float>(1);
    std::printf("%zu probabilities from %s\n", y.size(), model.metadata("producer")->data());
    if (y.size() != 30) return 1;
  } catch (const qrt::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  try {
    qrt::Model::load_file("/no/such/file.qrt");
  } catch (const qrt::Error& e) {
    return e.status() == QRT_IO_ERROR ? 0 : 1;
  }
  return 1;
}
