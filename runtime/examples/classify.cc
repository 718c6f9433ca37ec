// SPDX-License-Identifier: Apache-2.0
// C++: runs a model on all the inputs of a file as one batch, and prints the index of the greatest
// element of each output.
//
//     classify_cc MODEL.qrt INPUTS
//
// INPUTS holds float32 elements as they stand in memory, of any number of images.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <qrt/qrt.hpp>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: classify_cc MODEL.qrt INPUTS\n";
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};

  const qrt::Model model = qrt::Model::load_file(argv[1]);
  qrt::SessionOptions options;
  const std::size_t image_bytes =
      model.input_info(0).bytes / std::max<std::size_t>(model.info().default_batch, 1);
  if (image_bytes == 0 || bytes.size() < image_bytes) {
    std::cerr << argv[2] << ": " << bytes.size() << " bytes, of images of " << image_bytes << "\n";
    return 1;
  }
  options.batch = bytes.size() / image_bytes;
  options.threads = 2;
  qrt::Session session(model, options);
  session.set_input_bytes(0, bytes.data(), bytes.size());
  session.run();

  const qrt::Span<const float> scores = session.output<float>(0);
  const std::size_t classes = scores.size() / options.batch;
  for (const float* row = scores.begin(); classes > 0 && row != scores.end(); row += classes)
    std::cout << std::max_element(row, row + classes) - row << "\n";
  return 0;
} catch (const qrt::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
