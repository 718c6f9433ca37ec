// SPDX-License-Identifier: Apache-2.0
// TFLite files of several signatures: one of them is chosen (qrt_convert --signature), and its inputs
// and outputs are called after it.
#include <gtest/gtest.h>

#include "converter/import/frontend.h"
#include "tests/support/tflite_signatures.h"

namespace qrt::testing::tflite_signature_test {
namespace {

using B = BuiltinOperator;
using Strings = std::vector<std::string>;

Imported import_with(const TfliteBuilder& b, const convert::ImportOptions& options) {
  const Bytes bytes = b.build();
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
    return convert::import_model(*convert::find_frontend("tflite"), path, options, &to->graph,
                                 &to->report);
  });
}

void expect_invalid_argument(const TfliteBuilder& b, const convert::ImportOptions& options,
                             const std::string& part) {
  const Status status = import_with(b, options).status;
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
}

Strings names(const convert::Graph& graph, const std::vector<convert::ValueId>& ids) {
  Strings result;
  for (const convert::ValueId id : ids) result.push_back(graph.values[id].name);
  return result;
}

std::vector<int8_t> run(const TfliteBuilder& b, const std::string& signature) {
  const std::vector<int8_t> x = {-3, 0, 5, 127};
  const auto outputs = run_imported(b.model, import_with(b, {{"signature", signature}}),
                                    std::vector<Bytes>{to_bytes(x)});
  if (outputs.size() != 1) return {};
  return {outputs[0].begin(), outputs[0].end()};
}

TEST(TfliteSignature, SeveralNeedAChoice) {
  const TfliteBuilder b = two_signatures();
  expect_invalid_argument(b, {},
                          "has 2 signatures: choose one with --signature NAME or INDEX (0: "
                          "'positive', 1: 'size')");
  expect_invalid_argument(b, {{"signature", "sign"}},
                          "has no signature 'sign' (it has 0: 'positive', 1: 'size')");
  expect_invalid_argument(b, {{"signature", "2"}}, "has no signature '2'");
  const std::vector<int8_t> positive = {0, 0, 5, 127}, size = {3, 0, 5, 127};
  EXPECT_EQ(run(b, "positive"), positive);
  EXPECT_EQ(run(b, "0"), positive);
  EXPECT_EQ(run(b, "size"), size);
  EXPECT_EQ(run(b, "1"), size);
}

TEST(TfliteSignature, NamesGoBeforeIndices) {
  TfliteBuilder b = two_signatures();
  b.model.signature_defs[1]->signature_key = "0";
  EXPECT_EQ(run(b, "0"), (std::vector<int8_t>{3, 0, 5, 127}));
}

TEST(TfliteSignature, NamesTheEdges) {
  const Imported chosen = import_with(two_signatures(), {{"signature", "size"}});
  ASSERT_TRUE(chosen.status.ok()) << chosen.status.message();
  EXPECT_EQ(names(chosen.graph, chosen.graph.inputs), Strings{"x"});
  EXPECT_EQ(names(chosen.graph, chosen.graph.outputs), Strings{"y"});
  EXPECT_EQ(chosen.graph.name, "size");
}

// A file's only signature needs no choice. Without one its tensors keep their names.
TEST(TfliteSignature, OneIsTheModel) {
  TfliteBuilder b = two_signatures();
  b.model.signature_defs.erase(b.model.signature_defs.begin());
  const Imported imported = import_with(b, {});
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(names(imported.graph, imported.graph.inputs), Strings{"t0"});
  EXPECT_EQ(names(imported.graph, imported.graph.outputs), Strings{"t1"});
  const std::vector<int8_t> x = {-3, 0, 5, 127}, y = {3, 0, 5, 127};
  EXPECT_EQ(b.run({to_bytes(x)}), std::vector<Bytes>{to_bytes(y)});
  b.model.signature_defs.clear();
  expect_invalid_argument(b, {{"signature", "size"}}, "has no signatures");
}

// A tensor at two places has two names; a tensor that the signature does not name keeps its own.
TEST(TfliteSignature, NamesEveryPlace) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
  const int z = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
  const int y = b.output(TensorType::INT8, {1, 4}, 0.5f, 0);
  b.op(B::RELU, {x}, {y});
  b.graph().outputs = {y, z, y};
  const auto at = [](int tensor) { return static_cast<uint32_t>(tensor); };
  add_signature(&b, "s", 0, {{"x", at(x)}}, {{"first", at(y)}, {"second", at(y)}});
  const Imported imported = import_with(b, {{"signature", "s"}});
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(names(imported.graph, imported.graph.inputs), (Strings{"x", b.at(z).name}));
  EXPECT_EQ(names(imported.graph, imported.graph.outputs),
            (Strings{"first", b.at(z).name, "second"}));
}

TEST(TfliteSignature, EndsAtTensorsOfItsSubgraph) {
  const Imported cut = import_with(two_signatures(), {{"signature", "size"}, {"outputs", "t0"}});
  ASSERT_TRUE(cut.status.ok()) << cut.status.message();
  EXPECT_EQ(names(cut.graph, cut.graph.outputs), Strings{"t0"});
  EXPECT_EQ(names(cut.graph, cut.graph.inputs), Strings{"x"});
}

TEST(TfliteSignature, AreListed) {
  const auto list = [](const TfliteBuilder& b) {
    const Bytes bytes = b.build();
    Strings lines;
    const Imported listed = import_file(
        bytes.data(), bytes.size(),
        [&](const std::string& path, Imported*) { return convert::list_tflite(path, &lines); });
    EXPECT_TRUE(listed.status.ok()) << listed.status.message();
    return lines;
  };
  TfliteBuilder b = two_signatures();
  EXPECT_EQ(list(b), (Strings{"0 positive", "1 size"}));
  b.model.signature_defs.clear();
  b.graph().name = "main";
  EXPECT_EQ(list(b), Strings{"0 main"});
  b.graph().name.clear();
  EXPECT_EQ(list(b), Strings{"0"});
  b.model.subgraphs.clear();
  EXPECT_EQ(list(b), Strings{"0"});
}

TEST(TfliteSignature, NamesAreHostile) {
  TfliteBuilder b = two_signatures();
  b.model.signature_defs[0]->signature_key = "\x1b[2J\n";
  expect_invalid_argument(b, {}, "0: '\\x1b[2J\\x0a', 1: 'size'");
  b.model.signature_defs[0]->signature_key = std::string(100000, 'n');
  expect_invalid_argument(b, {}, "0: '" + std::string(32, 'n') + "', 1: 'size'");
  EXPECT_EQ(run(b, std::string(100000, 'n')), (std::vector<int8_t>{0, 0, 5, 127}));
  for (int i = 0; i < 1000; ++i) add_signature(&b, "s", 0, {}, {});
  expect_invalid_argument(b, {}, "7: 's', and 994 more, which --list names");
  EXPECT_EQ(run(b, "1001"), (std::vector<int8_t>{0, 0, 5, 127}));
}

TEST(TfliteSignature, DamagedOnes) {
  const auto expect_invalid = [](const TfliteBuilder& b, const std::string& part) {
    const Status status = import_with(b, {{"signature", "size"}}).status;
    EXPECT_EQ(status.code(), Code::kInvalidModel) << status.message();
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
  };
  TfliteBuilder b = two_signatures();
  b.model.signature_defs[0]->subgraph_index = 2;
  expect_invalid(b, "its signature 'positive' names subgraph 2 of 2");
  b = two_signatures();
  b.model.signature_defs[1]->inputs[0]->tensor_index = 2;
  expect_invalid(b, "its signature 'size' names tensor 2 of 2");
  b = two_signatures();
  b.model.signature_defs[1]->outputs[0]->tensor_index = UINT32_MAX;
  expect_invalid(b, "its signature 'size' names tensor 4294967295 of 2");
}

// Assigns the variable "state" in the first subgraph, and reads it where `reads`.
void add_variable(TfliteBuilder* b, bool reads, const std::string& name = "state") {
  const int x = b->input(TensorType::INT8, {1, 4}, 0.5f, 0);
  const int y = b->output(TensorType::INT8, {1, 4}, 0.5f, 0);
  const int handle = b->tensor(TensorType::RESOURCE, {});
  tflite::VarHandleOptionsT o;
  o.shared_name = name;
  b->op(B::VAR_HANDLE, {}, {handle}, o);
  if (reads) {
    const int before = b->activation(TensorType::INT8, {1, 4}, 0.5f, 0);
    b->op(B::READ_VARIABLE, {handle}, {before});
    b->op(B::ADD, {x, before}, {y});
  } else {
    b->op(B::RELU, {x}, {y});
  }
  b->op(B::ASSIGN_VARIABLE, {handle, y}, {});
}

// In the source both signatures change one state, which two .qrt files could not share.
TEST(TfliteSignature, RefusesStateThatAnotherOneSets) {
  const auto build = [](const std::string& of_other) {
    TfliteBuilder b;
    add_variable(&b, false, of_other);
    const uint32_t second = move_to_new_subgraph(&b);
    add_variable(&b, true);
    add_signature(&b, "step", 0, {{"x", 0}}, {{"y", 1}});
    add_signature(&b, "reset", second, {{"x", 0}}, {{"y", 1}});
    return b;
  };
  const Imported shared = import_with(build("state"), {{"signature", "step"}});
  EXPECT_EQ(shared.status.code(), Code::kUnsupported);
  EXPECT_NE(shared.rule().find("another signature of the file sets the variable"),
            std::string::npos)
      << shared.report.text(true);
  EXPECT_TRUE(import_with(build("other"), {{"signature", "step"}}).status.ok());
}

}  // namespace
}  // namespace qrt::testing::tflite_signature_test
