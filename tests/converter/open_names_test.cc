// SPDX-License-Identifier: Apache-2.0
// Open dimensions that have to do with each other: sums by their names, sizes that have to be equal, sizes of 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "converter/sizes/probes.h"
#include "tests/support/onnx_builder.h"

namespace qrt::open_names_test {
namespace {

using testing::Bytes;
using testing::Dims;
using testing::OnnxBuilder;

void name_dims(OnnxBuilder* b, int input, const std::vector<std::string>& names) {
  auto* shape =
      b->graph().mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) shape->mutable_dim(static_cast<int>(i))->set_dim_param(names[i]);
}

struct Converted {
  Status status;
  convert::Graph graph;
  Bytes file;
};

Converted convert_whole(const OnnxBuilder& b) {
  Converted c;
  testing::Imported imported = b.import();
  c.status = std::move(imported.status);
  c.graph = std::move(imported.graph);
  if (c.status.ok()) c.status = run_passes(&c.graph, nullptr);
  if (c.status.ok()) c.status = write_model(c.graph, &c.file);
  return c;
}

Bytes floats(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(bytes, bytes + values.size() * sizeof(float));
}

std::vector<float> counted(int64_t count, float from) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = from + static_cast<float>(i);
  return values;
}

// Returns a past and new rows side by side, to which a mask as long as both is added.
Converted decoder() {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string past = b.input({1, -1, 2}), rows = b.input({1, -1, 2}), mask = b.input({1, -1});
  name_dims(&b, 0, {"", "past"});
  name_dims(&b, 1, {"", "seq"});
  name_dims(&b, 2, {"", "past + seq"});
  const std::string all = b.node("Concat", {past, rows}, {{"axis", 1}});
  const std::string column = b.node("Unsqueeze", {mask, b.constant<int64_t>({1}, {2})});
  b.output(b.node("Add", {all, column}));
  return convert_whole(b);
}

testing::RunResult run_decoder(const Bytes& file, int64_t past, int64_t seq, int64_t mask) {
  testing::RunOptions options;
  options.dims = {{"past", past}, {"seq", seq}};
  return testing::run_model(file,
                            {floats(counted(2 * past, 0.0f)), floats(counted(2 * seq, 100.0f)),
                             floats(counted(mask, 1000.0f))},
                            options);
}

TEST(OpenNames, MaySayThatASizeIsASum) {
  const Converted c = decoder();
  ASSERT_TRUE(c.status.ok()) << c.status.message();
  ASSERT_EQ(c.graph.symbols.size(), 2u);
  const testing::RunResult r = run_decoder(c.file, 1, 2, 3);
  ASSERT_EQ(r.status, QRT_OK) << r.message;
  EXPECT_EQ(r.outputs[0], floats({1000, 1001, 1101, 1102, 1104, 1105}));
  EXPECT_EQ(run_decoder(c.file, 1, 2, 4).status, QRT_INVALID_ARGUMENT);
}

TEST(OpenNames, APastMayBeEmpty) {
  const Converted c = decoder();
  ASSERT_TRUE(c.status.ok()) << c.status.message();
  EXPECT_EQ(c.graph.symbols[0].least, 0);
  const testing::RunResult r = run_decoder(c.file, 0, 2, 2);
  ASSERT_EQ(r.status, QRT_OK) << r.message;
  EXPECT_EQ(r.outputs[0], floats({1100, 1101, 1103, 1104}));
}

// "past + 1" is no symbol either.
TEST(OpenNames, MaySayThatASizeIsAnotherAndANumber) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string past = b.input({1, -1}), mask = b.input({1, -1}), one = b.input({1, 1});
  name_dims(&b, 0, {"", "past"});
  name_dims(&b, 1, {"", "past+1"});
  b.output(b.node("Add", {b.node("Concat", {past, one}, {{"axis", 1}}), mask}));
  const Converted c = convert_whole(b);
  ASSERT_TRUE(c.status.ok()) << c.status.message();
  ASSERT_EQ(c.graph.symbols.size(), 1u);
  EXPECT_EQ(c.graph.symbols[0].name, "past");
}

// Two sizes that have to be equal are tied to one, beside an independent size.
TEST(OpenNames, OfSizesThatHaveToBeEqualAreTied) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string mask = b.input({1, -1}), past = b.input({1, -1, 2}), keys = b.input({1, -1, 2});
  name_dims(&b, 0, {"", "encoder"});
  name_dims(&b, 1, {"", "past"});
  name_dims(&b, 2, {"", "encoder_out"});
  const std::string column = b.node("Unsqueeze", {mask, b.constant<int64_t>({1}, {2})});
  b.output(b.node("Add", {keys, column}));
  b.output(b.node("Mul", {past, past}));
  const Converted c = convert_whole(b);
  ASSERT_TRUE(c.status.ok()) << c.status.message();
  ASSERT_EQ(c.graph.symbols.size(), 3u);
  EXPECT_EQ(c.graph.symbols[2].tied_to, 0);
  EXPECT_EQ(c.graph.symbols[1].tied_to, -1);
  const auto run_at = [&](int64_t encoder, int64_t past_length, int64_t encoder_out) {
    testing::RunOptions options;
    options.dims = {{"encoder", encoder}, {"past", past_length}, {"encoder_out", encoder_out}};
    return testing::run_model(
        c.file,
        {floats(counted(encoder, 10.0f)), floats(counted(2 * past_length, 1.0f)),
         floats(counted(2 * encoder_out, 1.0f))},
        options);
  };
  const testing::RunResult r = run_at(2, 1, 2);
  ASSERT_EQ(r.status, QRT_OK) << r.message;
  EXPECT_EQ(r.outputs[0], floats({11, 12, 14, 15}));
  EXPECT_EQ(r.outputs[1], floats({1, 4}));
  EXPECT_EQ(run_at(2, 1, 3).status, QRT_INVALID_ARGUMENT);
}

// The graph says what --explain reports of its dimensions.
// A table is cut to the length of one input and added to another one, of which it may be a broadcast row. The source gives the
// cut's length to both only where these are one size.
TEST(OpenNames, TiedSizesThatDifferAreRightOrRefused) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const auto number = [&](int64_t n) { return b.constant<int64_t>({1}, {n}); };
  const std::string ids = b.input({1, -1, 2}), x = b.input({1, -1, 2});
  name_dims(&b, 0, {"", "past"});
  name_dims(&b, 1, {"", "rows"});
  const auto length = [&](const std::string& of) {
    return b.node("Gather", {b.node("Shape", {of}), number(1)});
  };
  std::vector<float> values = counted(2 * 220, 0.5f);
  const std::string table = b.constant<float>({1, 220, 2}, values);
  const std::string cut = b.node("Slice", {table, number(0), length(x), number(1)});
  b.output(b.node("Add", {ids, x}));
  b.output(b.node("Add", {x, cut}));
  const Converted c = convert_whole(b);
  ASSERT_TRUE(c.status.ok()) << c.status.message();
  for (const auto& [past, rows] : {std::pair<int64_t, int64_t>(4, 4), {1, 22}, {22, 1}, {7, 9}}) {
    testing::RunOptions options;
    options.dims = {{"past", past}, {"rows", rows}};
    const testing::RunResult r = testing::run_model(
        c.file, {floats(counted(2 * past, 10)), floats(counted(2 * rows, 100))}, options);
    if (past == rows) {
      ASSERT_EQ(r.status, QRT_OK) << r.message;
    }
    if (r.status != QRT_OK) continue;
    std::vector<float> want = counted(2 * rows, 100);
    for (size_t i = 0; i < want.size(); ++i) want[i] += values[i];
    EXPECT_EQ(r.outputs[1], floats(want)) << past << " and " << rows;
  }
}

TEST(OpenNames, KnowWhatTheyAreAndWhatLimitsThem) {
  const Converted sum = decoder();
  ASSERT_TRUE(sum.status.ok()) << sum.status.message();
  ASSERT_EQ(sum.graph.sums.size(), 1u);
  EXPECT_EQ(sum.graph.sums[0].sum, "past + seq");
  for (const convert::Symbol& s : sum.graph.symbols) EXPECT_EQ(s.limited_by, "");

  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string y = b.input({1, -1, 2});
  name_dims(&b, 0, {"", "length"});
  const std::string table = b.constant<float>({1, 70, 2}, counted(140, 0));
  const std::string length =
      b.node("Gather", {b.node("Shape", {y}), b.constant<int64_t>({1}, {1})});
  const std::string rows = b.node(
      "Slice", {table, b.constant<int64_t>({1}, {0}), length, b.constant<int64_t>({1}, {1})});
  b.output(b.node("Add", {y, rows}));
  const Converted ends = convert_whole(b);
  ASSERT_TRUE(ends.status.ok()) << ends.status.message();
  ASSERT_EQ(ends.graph.symbols.size(), 1u);
  EXPECT_EQ(ends.graph.symbols[0].most, 70);
  EXPECT_GE(ends.graph.symbols[0].most, 64);
  const std::string& why = ends.graph.symbols[0].limited_by;
  EXPECT_EQ(why.rfind("at length = 7", 0), 0u) << why;
  EXPECT_NE(why.find("and [1, 70, 2] do not broadcast"), std::string::npos) << why;
  // A request for more sizes is refused, one for as many or fewer is not.
  const std::string bytes = b.bytes();
  const auto passes_with = [&](const std::string& limit) {
    testing::Imported asked = testing::import_file(
        bytes.data(), bytes.size(), [&](const std::string& path, testing::Imported* to) {
          convert::SourceEdges edges;
          edges.open = {limit};
          return convert::import_onnx(path, &to->graph, &to->report, true, edges);
        });
    return asked.status.ok() ? convert::run_passes(&asked.graph, nullptr) : std::move(asked.status);
  };
  const Status more = passes_with("length=2:71");
  EXPECT_EQ(more.code(), Code::kUnsupported);
  EXPECT_NE(std::string(more.message()).find("--open length: it can have the sizes 2 to 70"),
            std::string::npos)
      << more.message();
  for (const char* limit : {"length=2:70:2", "length=5:70", "length"})
    EXPECT_TRUE(passes_with(limit).ok()) << limit;

  OnnxBuilder one_size(17);
  const std::string x = one_size.dq<uint8_t>(one_size.input<uint8_t>({1, 2, -1}), 0.1f, 128);
  name_dims(&one_size, 0, {"", "", "width"});
  const std::string weights =
      one_size.dq<int8_t>(one_size.constant<int8_t>({24, 3}, std::vector<int8_t>(72, 5)), 0.1f, 0);
  const std::string flat = one_size.qdq<uint8_t>(one_size.node("Flatten", {x}), 0.1f, 128);
  one_size.integer_output<uint8_t>(one_size.node("MatMul", {flat, weights}), 0.5f, 128);
  const Converted fixed = convert_whole(one_size);
  ASSERT_TRUE(fixed.status.ok()) << fixed.status.message();
  ASSERT_EQ(fixed.graph.symbols.size(), 1u);
  EXPECT_EQ(fixed.graph.symbols[0].least, 12);
  EXPECT_EQ(fixed.graph.symbols[0].most, 12);
  EXPECT_NE(fixed.graph.symbols[0].limited_by.find("at width = "), std::string::npos)
      << fixed.graph.symbols[0].limited_by;
}

// A size of 0 that --open asks for is refused where the model does not run at it.
TEST(OpenNames, ASizeOf0ThatWasAskedFor) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string x = b.input({1, -1, 2});
  name_dims(&b, 0, {"", "n"});
  b.output(b.node("ReduceMax", {x}, {{"axes", Dims{1}}, {"keepdims", 1}}));
  testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  imported.graph.symbols[0].asked_most = imported.graph.symbols[0].most;
  const Status status = run_passes(&imported.graph, nullptr);
  ASSERT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(status.message()).find("the size of 'n' cannot be 0"), std::string::npos)
      << status.message();
}

// Among the sizes that are tried, every small number divides one of each dimension and leaves 1 of another: a quotient that
// is rounded up is another than one that is rounded down, plus one.
TEST(Probes, HaveMultiplesOfSmallNumbers) {
  std::vector<convert::Symbol> symbols(3);
  symbols[0].is_first = true;
  const convert::ProbeFamily family = convert::probe_families(symbols)[0];
  for (const size_t s : {1, 2})
    for (const int64_t d : {2, 3, 4, 5, 6, 7})
      for (const int64_t rest : {0, 1})
        EXPECT_TRUE(std::any_of(family.sizes.begin(), family.sizes.end(),
                                [&](const convert::Sizes& sizes) { return sizes[s] % d == rest; }))
            << s << ": " << rest << " of " << d;
}

}  // namespace
}  // namespace qrt::open_names_test
