// SPDX-License-Identifier: Apache-2.0
// C++20: inputs and outputs by name, as spans.
//
//     names MODEL.qrt INPUT OUTPUT FILE
//
// FILE holds the float32 elements of the input called INPUT; prints the index of the greatest element of
// the one called OUTPUT.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <qrt/qrt.hpp>
#include <span>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: names MODEL.qrt INPUT OUTPUT FILE\n";
    return 2;
  }
  std::ifstream file(argv[4], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));

  qrt::Session session(qrt::Model::load_file(argv[1]));  // it keeps what it needs of the model
  session.set_input(argv[2], std::span<const float>(values));
  session.run();
  const std::span<const float> scores = session.output<float>(argv[3]);
  std::cout << std::ranges::max_element(scores) - scores.begin() << "\n";
  return 0;
} catch (const qrt::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
