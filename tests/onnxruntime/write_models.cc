// SPDX-License-Identifier: Apache-2.0
// write_models DIR: the models of which the tests hold ONNX Runtime's numbers, for numbers.mjs. Each
// as DIR/<suite>.<name>.onnx with the bytes of its inputs, DIR/<suite>.<name>.<input>.bin.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/converter/onnx_bits/case.h"
#include "tests/converter/symbolic_batch_cases.h"

namespace qrt::testing {
namespace {

void write(const std::string& stem, const OnnxBuilder& b, const std::vector<Bytes>& inputs) {
  std::ofstream(stem + ".onnx", std::ios::binary) << b.bytes();
  for (size_t i = 0; i < inputs.size(); ++i)
    std::ofstream(stem + "." + std::to_string(i) + ".bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(inputs[i].data()),
               static_cast<std::streamsize>(inputs[i].size()));
}

}  // namespace
}  // namespace qrt::testing

int main(int argc, char** argv) {
  using namespace qrt::testing;
  if (argc != 2) {
    fprintf(stderr, "usage: write_models DIR\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  for (const BitsCase& c : all_bits_cases()) {
    BitsModel m;
    c.build(m);
    write(folder + "onnx_bits." + c.name, m.b, m.inputs());
  }
  for (const SymbolicBatchCase& c : kSymbolicBatchCases)
    write(folder + "symbolic_batch." + c.name, build(c, -1), {input_of(c)});
  return 0;
}
