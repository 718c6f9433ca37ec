// SPDX-License-Identifier: Apache-2.0
// Pictures and arrays made to cost much, or damaged so that an answer would be a wrong one.
#include <gtest/gtest.h>

#include "runtime/tools/npy.h"
#include "tests/support/cost.h"
#include "tests/support/model_builder.h"
#include "tests/support/pictures.h"
#include "tests/support/zip.h"

namespace qrt::reading_costs_test {
namespace {

using testing::chunk;
using testing::CommandResult;
using testing::compressed;
using testing::jpeg;
using testing::png;
using testing::with_scans;
using testing::ZipMember;

class ReadingCosts : public testing::CostTest {
 protected:
  // Returns a model of y = 255 - x, for inputs of this shape and type.
  std::string model(const std::vector<int>& dims, int inputs = 1) {
    testing::ModelBuilder m;
    Shape shape;
    for (const int d : dims) shape.push_back(d);
    std::vector<uint8_t> table(256);
    for (int i = 0; i < inputs; ++i) {
      const std::string n = std::to_string(i);
      const uint32_t x = m.input(shape, DType::kUInt8, "x" + n);
      fb::LutOptionsT lut;
      lut.table = m.buffer(table);
      m.op(std::move(lut), {x}, {m.output(shape, DType::kUInt8, "y" + n)});
    }
    return write("model.qrt", m.build());
  }
  CommandResult show(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {model({-1, 3, 224, 224}), "--image", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_within_cost("qrt_run", arguments, {file});
  }
  // Checks that a file is run, or refused with the limit named.
  static void expect_bounded(const CommandResult& r) {
    if (r.status == 0) return;
    EXPECT_EQ(r.status, 4) << r.err;
    EXPECT_NE(r.err.find("file of its size"), std::string::npos) << r.err;
  }
};

TEST_F(ReadingCosts, PicturesOfManyPixels) {
  for (const auto& [w, h] : std::vector<std::pair<uint32_t, uint32_t>>{{1, 299593},
                                                                       {1, 1000000},
                                                                       {1000000, 1},
                                                                       {3, 100000},
                                                                       {100000, 3},
                                                                       {8000, 8000},
                                                                       {4096, 4096}})
    for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                                 {"--resize", "16384x3", "--crop", "224"},
                                                 {"--resize", "256"}}) {
      const CommandResult r = show(write("a.png", png(w, h)), more);
      if (r.status != 3 && r.status != 2) expect_bounded(r);
    }
  // Pictures of a usual size are not in question.
  EXPECT_EQ(show(write("a.png", png(3000, 3000))).status, 0);
}

// Texts in a PNG, which the reader skips, are cheap.
TEST_F(ReadingCosts, TextsInAPng) {
  const std::string text = compressed(std::string(100000, '\0'), 79);
  std::string chunks;
  for (int i = 0; i < 100; ++i)
    chunks += chunk("zTXt", "k" + std::to_string(i) + std::string(2, '\0') + text);
  EXPECT_EQ(show(write("a.png", png(8, 8, chunks))).status, 0);
}

// A JPEG whose last scan comes again is no progression, and is refused.
TEST_F(ReadingCosts, JpegOfRepeatedScans) {
  const std::string file = jpeg(4096, 4096, 1, true);
  EXPECT_EQ(show(write("a.jpg", file)).status, 0);
  for (const size_t scans : {200, 20000})
    EXPECT_EQ(show(write("a.jpg", with_scans(file, scans))).status, 3) << scans;
}

// A JPEG with a scan for each bit of each coefficient is refused where it costs too much: nothing
// is wrong with its scans but their number.
TEST_F(ReadingCosts, JpegOfManyScans) {
  std::vector<jpeg_scan_info> scans = {{1, {0}, 0, 0, 0, 0}};
  for (int bit = 10; bit >= 0; --bit)
    for (int k = 1; k < 64; ++k) scans.push_back({1, {0}, k, k, bit == 10 ? 0 : bit + 1, bit});
  const CommandResult r = show(write("a.jpg", jpeg(2048, 2048, 1, true, 0, scans)));
  EXPECT_EQ(r.status, 4) << r.err;
  EXPECT_NE(r.err.find("more work than a file of its size"), std::string::npos) << r.err;
  EXPECT_EQ(show(write("a.jpg", jpeg(64, 64, 1, true, 0, scans))).status, 0);
}

TEST_F(ReadingCosts, CutJpegsAreDamaged) {
  for (const bool is_progressive : {false, true}) {
    const std::string whole = jpeg(224, 224, 3, is_progressive);
    ASSERT_EQ(show(write("a.jpg", whole)).status, 0);
    for (const size_t n : {whole.size() / 40, whole.size() / 2, whole.size() - 2}) {
      const CommandResult r = show(write("a.jpg", whole.substr(0, n)));
      EXPECT_EQ(r.status, 3) << n << ": " << r.err;
      EXPECT_NE(r.err.find("is a damaged JPEG"), std::string::npos) << r.err;
    }
  }
}

TEST_F(ReadingCosts, JpegsWithZerosAreDamaged) {
  for (const unsigned restart : {0u, 4u}) {
    const std::string whole = jpeg(224, 224, 3, false, restart);
    for (const double place : {0.3, 0.5, 0.9})
      for (const size_t n : {300u, 1000u}) {
        std::string damaged = whole;
        damaged.replace(static_cast<size_t>(static_cast<double>(whole.size()) * place), n, n, '\0');
        const CommandResult r = show(write("a.jpg", damaged));
        EXPECT_EQ(r.status, 3) << restart << " " << place << " " << n << ": " << r.err;
        EXPECT_NE(r.err.find("is a damaged JPEG"), std::string::npos) << r.err;
      }
  }
}

// ---- texts ----

TEST_F(ReadingCosts, LabelsOfManyLines) {
  const auto labels = [&](const std::string& text) {
    const std::vector<uint8_t> zeros(8);
    const std::string x = path("x.npy");
    EXPECT_TRUE(tool::write_npy(x, DType::kUInt8, {1, 8}, zeros.data(), zeros.size()).ok());
    const std::string file = write("labels.txt", text);
    return run_within_cost("qrt_run", {model({1, 8}), x, "--top", "1", "--labels", file}, {file});
  };
  const CommandResult r = labels(std::string(10000000, '\n'));
  EXPECT_EQ(r.status, 4) << r.err;
  EXPECT_NE(r.err.find("file of its size"), std::string::npos) << r.err;
  EXPECT_EQ(labels(std::string(1000000, '\n')).status, 3);  // too many for the output
}

TEST_F(ReadingCosts, EarlierResultsThatNest) {
  std::string lists;
  for (int i = 0; i < 3000000; ++i) lists += "[],";
  for (const std::string& text : {std::string(10000000, '['), "[" + lists + "[]]"}) {
    const std::string file = write("old.json", text);
    const CommandResult r = run_within_cost(
        "qrt_bench", {model({1, 8}), "--runs", "1", "--warmup", "0", "--compare", file}, {file});
    EXPECT_TRUE(r.status == 3 || r.status == 4) << r.err;
  }
}

// ---- arrays ----

ZipMember zeros(const std::string& name, const Shape& shape) {
  const std::vector<uint8_t> none;
  std::string content = tool::npy_content(DType::kUInt8, shape, none.data(), 0);
  content.resize(content.size() + static_cast<size_t>(shape.elements()));
  return {name + ".npy", content};
}

TEST_F(ReadingCosts, ArraysThatInflateAThousandfold) {
  const std::string fits = write("a.npz", testing::zip({zeros("x0", {50, 3, 224, 224})}, true));
  EXPECT_EQ(run_within_cost("qrt_run", {model({-1, 3, 224, 224}), fits}, {fits}).status, 0);
  const std::string large = write("b.npz", testing::zip({zeros("x0", {500, 3, 224, 224})}, true));
  const CommandResult r = run_within_cost("qrt_run", {model({-1, 3, 224, 224}), large}, {large});
  EXPECT_EQ(r.status, 4) << r.err;
  EXPECT_NE(r.err.find("file of its size"), std::string::npos) << r.err;
}

// An array whose header is wrong, or says another size than the archive, is refused when inflated.
TEST_F(ReadingCosts, ArraysThatInflateBehindAWrongHeader) {
  for (const bool is_npy : {true, false}) {
    ZipMember bomb = zeros("x0", {10});
    bomb.content = (is_npy ? bomb.content : "no array") + std::string(100000000, '\0');
    const std::string file = write("a.npz", testing::zip({bomb}, true));
    const CommandResult r = run_within_cost("qrt_run", {model({-1, 3, 224, 224}), file}, {file});
    EXPECT_EQ(r.status, 3) << r.err;
    EXPECT_NE(r.err.find(is_npy ? "do not make" : "not an npy file"), std::string::npos) << r.err;
  }
}

// Many arrays that do not fit their inputs, each within the limits, are refused before they are read.
TEST_F(ReadingCosts, ManyArraysThatDoNotFit) {
  std::vector<ZipMember> members;
  for (int i = 0; i < 4; ++i) members.push_back(zeros("x" + std::to_string(i), {40000000}));
  const std::string file = write("a.npz", testing::zip(members, true));
  const CommandResult r = run_within_cost("qrt_run", {model({1, 8}, 4), file}, {file});
  EXPECT_EQ(r.status, 3) << r.err;
  EXPECT_NE(r.err.find("expected input 0"), std::string::npos) << r.err;
}

// Writes ten arrays of 40 MB, each of a batch that is `more` larger than the one before. None of
// them stays in memory: the most memory counted for a child process includes what its parent held.
std::string large_arrays(int more) {
  std::vector<ZipMember> members;
  for (int i = 0; i < 10; ++i)
    members.push_back(zeros("x" + std::to_string(i), {5000000 + more * i, 8}));
  return testing::zip(members, true);
}

// Many arrays that fit their inputs, but not each other, are refused before they are read: their
// batches differ.
TEST_F(ReadingCosts, ManyArraysOfOtherBatches) {
  const std::string file = write("a.npz", large_arrays(1));
  const CommandResult r = run_within_cost("qrt_run", {model({-1, 8}, 10), file}, {file});
  EXPECT_EQ(r.status, 3) << r.err;
  EXPECT_NE(r.err.find("'batch' is 5000001, but 5000000 by "), std::string::npos) << r.err;
}

// Many arrays that fit are refused where together they are more than a file of this size may become.
TEST_F(ReadingCosts, ManyArraysThatFit) {
  const std::string file = write("a.npz", large_arrays(0));
  const CommandResult r = run_within_cost("qrt_run", {model({-1, 8}, 10), file}, {file});
  EXPECT_EQ(r.status, 4) << r.err;
  EXPECT_NE(r.err.find("file of its size"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace qrt::reading_costs_test
