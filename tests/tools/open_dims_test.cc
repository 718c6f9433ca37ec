// SPDX-License-Identifier: Apache-2.0
// The tools on models with open dimensions besides the batch: sizes from arrays and from --dims.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/sized_model.h"

namespace qrt::open_dims_test {
namespace {

using nlohmann::json;
using testing::CommandResult;
using testing::SizedModel;

class OpenDims : public testing::CommandTest {
 protected:
  OpenDims() {
    images_ = write("images.qrt", SizedModel(8, 7, true).build());
    counter_ = write("counter.qrt", testing::sized_counter(3).build());
    testing::ModelBuilder m = testing::sized_counter(3);
    // Both inputs have the symbol.
    const uint32_t one = m.model().inputs[1];
    m.at(one).shape = {1, 3};
    m.at(m.model().outputs[1]).shape = {1, 3};
    for (const auto& v : m.model().variables) {
      if (m.at(v->tensor).shape[1] == 4) m.at(v->tensor).shape = {1, 3};
      if (m.at(v->tensor).sizes.empty())
        testing::set_sizes(&m, v->tensor, {testing::constant_size(1), testing::symbol_size(0)});
    }
    testing::set_sizes(&m, one, {testing::constant_size(1), testing::symbol_size(0)});
    shared_ = write("shared.qrt", m.build());
    stepped_ = write("stepped.qrt", row({{"n", 8, 64, 8}}));
    two_ = write("two.qrt", row({{"n", 1, 64, 1}, {"m", 1, 64, 1}}));
  }

  struct Row {
    const char* name;
    uint32_t least, most, step;
  };
  // Returns a model of rows of these lengths: of one, its table of 255 - x; of two, their sum.
  static std::vector<uint8_t> row(const std::vector<Row>& rows) {
    testing::ModelBuilder m;
    std::vector<uint32_t> inputs;
    for (const Row& r : rows) {
      const auto symbol = static_cast<int>(inputs.size());
      testing::add_symbol(&m, r.name, 16, r.least, r.most, r.step);
      inputs.push_back(m.input({1, 16}, DType::kUInt8, r.name));
      testing::set_sizes(&m, inputs.back(),
                         {testing::constant_size(1), testing::symbol_size(symbol)});
    }
    const uint32_t y = m.output({1, 16}, DType::kUInt8, "y");
    if (rows.size() == 2) {
      fb::AddOptionsT add;
      add.a_scale = add.b_scale = testing::float_bits(1.0f);
      m.op(std::move(add), inputs, {y});
      return m.build();
    }
    std::vector<uint8_t> codes(256);
    for (size_t i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(255 - i);
    fb::LutOptionsT lut;
    lut.table = m.buffer(codes);
    m.op(std::move(lut), inputs, {y});
    return m.build();
  }

  std::string array(const std::string& name, const Shape& shape) {
    const std::vector<uint8_t> data =
        testing::some_numbers<uint8_t>(static_cast<size_t>(shape.elements()), 0, 255);
    EXPECT_TRUE(tool::write_npy(path(name), DType::kUInt8, shape, data.data(), data.size()).ok());
    return path(name);
  }

  std::string images_, counter_, shared_, stepped_, two_;
};

TEST_F(OpenDims, RunTakesSizesFromItsArrays) {
  const std::string fixed = write("fixed.qrt", SizedModel(13, 9, false).build());
  const std::string x = array("x.npy", {2, 13, 9, 4});
  const CommandResult open = run("qrt_run", {images_, x}), expected = run("qrt_run", {fixed, x});
  ASSERT_EQ(expected.status, 0) << expected.err;
  ASSERT_EQ(open.status, 0) << open.err;
  EXPECT_EQ(open.out, expected.out);
  const CommandResult named = run("qrt_run", {images_, x, "--dims", "h=13,w=9"});
  EXPECT_EQ(named.out, expected.out) << named.err;
}

TEST_F(OpenDims, SizesThatContradictEachOtherAreRefused) {
  const std::string x = array("x.npy", {1, 5}), one = array("one.npy", {1, 6});
  expect_failure("qrt_run", {shared_, x, one}, 3, "one.npy: 'n' is 6, but 5 by " + x);
  EXPECT_EQ(run("qrt_run", {shared_, x, array("five.npy", {1, 5})}).status, 0);
  expect_failure("qrt_run", {images_, array("i.npy", {1, 13, 9, 4}), "--dims", "h=12"}, 3,
                 "i.npy: 'h' is 13, but 12 by --dims");
  const std::string large = array("large.npy", {1, 65, 9, 4});
  expect_failure("qrt_run", {images_, large}, 3, "large.npy: 'h' is 65, expected 2 to 64\n");
  expect_failure("qrt_run", {images_, large, "--dims", "h=65"}, 2,
                 "the size of 'h' is 65, expected 2 to 64\n");
  expect_failure("qrt_run", {stepped_, array("odd.npy", {1, 12})}, 3,
                 "odd.npy: 'n' is 12, expected 8 to 64 in steps of 8\n");
  expect_failure("qrt_run", {images_, array("flat.npy", {1, 13, 9, 3})}, 3,
                 "expected input 0 'x' (uint8 [batch, h, w, 4])");
  expect_failure("qrt_run", {images_, path("i.npy"), "--dims", "depth=3"}, 2,
                 "no open dimension 'depth'");
  for (const char* wrong : {"h", "h=", "h=-1", "h=x", "=3", "h=3,", "h=99999999999"})
    expect_failure("qrt_run", {images_, path("i.npy"), "--dims", wrong}, 2,
                   "expected NAME=SIZE, or a list of them");
}

// Arrays of which each has a legal size are wrong inputs where the sizes do not fit each other; sizes by --dims are wrong usage.
TEST_F(OpenDims, SizesThatDoNotFitEachOther) {
  const std::string five = array("five.npy", {1, 5}), seven = array("seven.npy", {1, 7});
  const std::string message =
      "the model cannot run at n 5, m 7: op 0 (Add 'op0'): shapes [1, 5] and [1, 7] do not "
      "broadcast: dimensions 5 and 7, expected equal ones or 1";
  expect_failure("qrt_run", {two_, five, seven}, 3, message);
  expect_failure("qrt_run", {two_, five, seven, "--dims", "n=5,m=7"}, 2, message);
  expect_failure("qrt_run", {two_, five, five, "--threads", "99999"}, 2, "threads");
  EXPECT_EQ(run("qrt_run", {two_, five, array("one.npy", {1, 1})}).status, 0);
}

TEST_F(OpenDims, InspectNamesThem) {
  const CommandResult text = run("qrt_inspect", {images_, "--ops", "--tensors"});
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* part :
       {"x: uint8 [batch, h, w, 4]",
        "columns: uint8 [batch, ((w + 1) / 2 + 1 + (w + 1) / 2 / 2) * 8]",
        "dimension        h: 8 (2 to 64)\n", "dimension        w: 7 (3 to 64)\n"})
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  const CommandResult at =
      run("qrt_inspect", {images_, "--format", "json", "--dims", "h=13,w=9", "--batch", "2"});
  ASSERT_EQ(at.status, 0) << at.err;
  const json root = json::parse(at.out);
  EXPECT_EQ(root["tensors"][0]["shape"], (std::vector<int>{2, 13, 9, 4}));
  EXPECT_EQ(root["tensors"][0]["dims"], json({"batch", "h", "w", nullptr}));
  EXPECT_EQ(
      root["symbols"][0],
      json({{"name", "h"}, {"size", 13}, {"default", 8}, {"least", 2}, {"most", 64}, {"step", 1}}));
  EXPECT_EQ(run("qrt_inspect", {images_, "--html", path("page.html")}).status, 0);
  EXPECT_EQ(run("qrt_inspect", {images_, "--format", "dot"}).status, 0);
  expect_failure("qrt_inspect", {images_, "--dims", "h=1"}, 2, "expected 2 to 64");
}

TEST_F(OpenDims, BenchMeasuresEachSize) {
  const CommandResult r = run("qrt_bench", {images_, "--dims", "h=8,13", "--dims", "w=7,9,64",
                                            "--runs", "2", "--format", "jsonl"});
  ASSERT_EQ(r.status, 0) << r.err;
  std::vector<std::pair<int, int>> sizes;
  for (size_t begin = 0; begin < r.out.size();) {
    const size_t end = r.out.find('\n', begin);
    const json line = json::parse(r.out.substr(begin, end - begin));
    sizes.emplace_back(line["dims"]["h"].get<int>(), line["dims"]["w"].get<int>());
    begin = end + 1;
  }
  EXPECT_EQ(sizes, (std::vector<std::pair<int, int>>{
                       {8, 7}, {8, 9}, {8, 64}, {13, 7}, {13, 9}, {13, 64}}));
  const CommandResult table =
      run("qrt_bench", {images_, "--dims", "h=8,13", "--runs", "2", "--format", "md"});
  EXPECT_NE(table.out.find("images.qrt [h=13] |"), std::string::npos) << table.out << table.err;
  const std::string x = array("x.npy", {1, 13, 9, 4});
  EXPECT_EQ(
      run("qrt_bench", {images_, "--dims", "h=13", "--dims", "w=9", "--runs", "2", "--input", x})
          .status,
      0);
  const CommandResult by_array = run("qrt_bench", {images_, "--runs", "2", "--input", x});
  EXPECT_EQ(by_array.status, 0) << by_array.err;
  EXPECT_NE(by_array.out.find("h=13"), std::string::npos) << by_array.out;
  expect_failure("qrt_bench", {images_, "--dims", "w=7", "--runs", "2", "--input", x}, 3, "w");
  expect_failure("qrt_bench", {images_, "--dims", "h=1", "--runs", "2"}, 2, "expected 2 to 64");
  expect_failure("qrt_bench", {images_, "--dims", "h", "--runs", "2"}, 2, "expected NAME=SIZE");
  expect_failure("qrt_bench", {images_, "--dims", "h=8", "--dims", "h=9"}, 2, "names 'h' twice");
  EXPECT_EQ(
      run("qrt_bench", {images_, "--dims", "h=13", "--runs", "2", "--html", path("b.html")}).status,
      0);
}

TEST_F(OpenDims, RunKeepsEveryTensorAtOtherSizes) {
  const std::string x = array("x.npy", {1, 31, 9, 4});
  const CommandResult dumped =
      run("qrt_run", {images_, x, "--dump-all", "--output-dir", path("dumped")});
  ASSERT_EQ(dumped.status, 0) << dumped.err;
  const CommandResult same = run("qrt_diff", {images_, path("dumped"), "--input", x});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
}

}  // namespace
}  // namespace qrt::open_dims_test
