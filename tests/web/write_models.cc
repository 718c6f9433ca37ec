// SPDX-License-Identifier: Apache-2.0
// Writes the models of web_test.py: hostile.qrt, whose names try to be more than names, deep.qrt, as deep as
// ResNet-50 and with its blocks, large.qrt, 1,000 operators with branches and long edges, and sized.qrt, whose height
// and width are open.
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/sized_model.h"

namespace qrt {
namespace {

using testing::ModelBuilder;

void write(const std::string& path, const ModelBuilder& model) {
  const std::vector<uint8_t> bytes = model.build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

ModelBuilder hostile() {
  ModelBuilder m;
  m.model().name = "</script><script>broken()</script>";
  const uint32_t x = m.input({-1, 8}, DType::kUInt8, "<img src=x onerror=broken()>");
  const uint32_t y = m.output({-1, 4, 2}, DType::kUInt8, "\"><svg onload=broken()>\x1b[31m\xff");
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 4, 2};
  auto& op = m.op(std::move(reshape), {x}, {y});
  op.name = "<!--</script><b>__proto__ ${broken()} \\u003c";
  op.source_op = "javascript:broken()";
  return m;
}

// 120 operators in a row; every third adds what was there three operators before.
ModelBuilder deep() {
  ModelBuilder m;
  std::vector<uint32_t> values = {m.input({-1, 64})};
  for (size_t i = 1; i <= 120; ++i) {
    const uint32_t y = i == 120 ? m.output({-1, 64}) : m.tensor({-1, 64});
    fb::AddOptionsT options;
    options.a_scale = options.b_scale = testing::float_bits(0.5f);
    m.op(std::move(options), {values.back(), values[i % 3 == 0 ? i - 3 : i - 1]}, {y});
    values.push_back(y);
  }
  return m;
}

// Each adds its predecessor's output and that of an operator 1 to 60 steps before.
ModelBuilder large() {
  ModelBuilder m;
  std::vector<uint32_t> values = {m.input({-1, 64})};
  for (size_t i = 1; i <= 1000; ++i) {
    const size_t back = i % 10 == 0 ? 60 : 1 + i % 3;
    const uint32_t y = i == 1000 ? m.output({-1, 64}) : m.tensor({-1, 64});
    fb::AddOptionsT options;
    options.a_scale = options.b_scale = testing::float_bits(0.5f);
    m.op(std::move(options), {values.back(), values[i > back ? i - back : 0]}, {y});
    values.push_back(y);
  }
  return m;
}

}  // namespace
}  // namespace qrt

int main(int, char** argv) {
  const std::string folder = argv[1];
  qrt::write(folder + "/hostile.qrt", qrt::hostile());
  qrt::write(folder + "/sized.qrt", qrt::testing::SizedModel(8, 7, true).builder());
  qrt::write(folder + "/deep.qrt", qrt::deep());
  qrt::write(folder + "/large.qrt", qrt::large());
}
