// SPDX-License-Identifier: Apache-2.0
// A part of the sweep (tests/onnxruntime/sweep) with what ONNX Runtime makes of it, and that the sweep leaves nothing out.
#include <gtest/gtest.h>

#include "converter/import/onnx/importer.h"
#include "kernels/integer_build.h"
#include "tests/converter/sweep_numbers.h"
#include "tests/onnxruntime/sweep/cells.h"

namespace qrt::sweep::sweep_test {
namespace {

TEST(Sweep, HasARowForEveryOperator) { EXPECT_EQ(missing_rows(), std::vector<std::string>()); }

// Returns the kind that the importer takes a producer's tensor for.
Kind kind_of(const Producer& producer, const Dims& dims) {
  Graph g(1, 21);
  const Value x = producer.make(g, dims);
  g.b.output(g.quantized(x).name);
  const std::string bytes = g.b.bytes();
  Kind kind = Kind::kRefused;
  testing::import_file(bytes.data(), bytes.size(), [&](const std::string& path, auto* to) {
    convert::from_onnx::Model model;
    Status s = convert::from_onnx::Model::load(path, &model);
    convert::from_onnx::Importer importer(model, false, 1, &to->graph, &to->report);
    if (s.ok()) s = importer.run();
    kind = importer.tensors().at(x.name).kind;
    return s;
  });
  return kind;
}

TEST(Sweep, ProducersMakeTheKindTheyStandUnder) {
  for (int i = 0; i <= static_cast<int>(convert::from_onnx::Tensor::kLastKind); ++i) {
    const Kind kind = static_cast<Kind>(i);
    EXPECT_EQ(producers(kind).empty(), kind == Kind::kRefused) << i;
    for (const Producer& producer : producers(kind)) {
      bool is_made = false;
      for (const Dims& dims : {Dims{3, 8}, Dims{2, 4, 7}, Dims{2, 4, 5, 6}, Dims{2, 4, 3, 5, 4}}) {
        if (!producer.takes(dims)) continue;
        const Kind found = kind_of(producer, dims);
        if (found == Kind::kRefused) continue;  // in this shape
        EXPECT_EQ(static_cast<int>(found), i) << producer.name << ", " << dims.size() << "-D";
        is_made = true;
      }
      EXPECT_TRUE(is_made) << producer.name;
    }
  }
}

// Returns the digest of all outputs in turn, as judge.mjs makes it (FNV-1a); 0 and -0 are one number.
uint32_t digest(const convert::Graph& graph, std::vector<Bytes> outputs) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (graph.values[graph.outputs[i]].type.dtype == DType::kFloat32) {
      std::vector<float> floats = testing::from_bytes<float>(outputs[i]);
      for (float& f : floats) f += 0.0f;
      outputs[i] = testing::to_bytes(floats);
    }
    for (const uint8_t byte : outputs[i]) h = (h ^ byte) * 16777619u;
  }
  return h;
}

TEST(Sweep, EqualsOnnxRuntime) {
  std::map<std::string, Cell> by_name;
  for (const Cell& cell : all_cells()) by_name.emplace(cell.name(), cell);
  for (const SweepNumber& number : kSweepNumbers) {
    const std::string flag = number.allow_float ? ", --allow-float" : "";
    SCOPED_TRACE(number.cell + flag);
    const auto found = by_name.find(number.cell);
    ASSERT_NE(found, by_name.end()) << "tests/onnxruntime/sweep/numbers.mjs was not run";
    Graph g = make_graph(found->second, kSweepSeed);
    g.b.allow_float = number.allow_float;
    testing::Imported imported = g.b.import();
    if (is_integer_build() && imported.count(fb::OpOptions::Float) > 0) continue;
    ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
    const auto result = testing::run_graph(imported.graph, true, g.inputs());
    EXPECT_EQ(digest(imported.graph, result.outputs), number.digest);
  }
}

}  // namespace
}  // namespace qrt::sweep::sweep_test
