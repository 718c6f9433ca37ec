// SPDX-License-Identifier: Apache-2.0
// Every row of the copy family against index arithmetic, and plan_transpose()'s merging. Inputs and
// outputs end at guard pages without slack: nothing may be over-read.
#include "kernels/copy/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::copy_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr uint8_t kUntouched = 0xA5;

class CopyTest : public ::testing::TestWithParam<CopyKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa))
      GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam().isa);
  }
};

std::vector<CopyKernel> rows() {
  size_t n;
  const CopyKernel* table = copy_kernels(&n);
  return {table, table + n};
}

INSTANTIATE_TEST_SUITE_P(Rows, CopyTest, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return std::string(info.param.name); });

using Dims = std::vector<int64_t>;
using Perm = std::vector<uint8_t>;

int64_t product(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

std::vector<uint8_t> transposed(const uint8_t* x, const Dims& dims, const Perm& perm,
                                size_t element_bytes) {
  const size_t rank = dims.size();
  std::vector<uint8_t> y(static_cast<size_t>(product(dims)) * element_bytes);
  Dims index(rank, 0);  // of the output
  for (size_t o = 0; o < y.size(); o += element_bytes) {
    Dims in_index(rank, 0);
    for (size_t i = 0; i < rank; ++i) in_index[perm[i]] = index[i];
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) offset = offset * dims[i] + in_index[i];
    for (size_t b = 0; b < element_bytes; ++b)
      y[o + b] = x[static_cast<size_t>(offset) * element_bytes + b];
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < dims[perm[i]]) break;
      index[i] = 0;
    }
  }
  return y;
}

std::string describe(const Dims& dims, const Perm& perm, size_t element_bytes) {
  std::string text = "dims";
  for (int64_t d : dims) text += " " + std::to_string(d);
  text += " perm";
  for (uint8_t p : perm) text += " " + std::to_string(p);
  return text + " element bytes " + std::to_string(element_bytes);
}

// Checks a transposition in one call, and cut into ranges of the outermost dimension.
void check_transpose(const CopyKernel& kernel, Random& random, const Dims& dims, const Perm& perm,
                     size_t element_bytes) {
  const size_t bytes = static_cast<size_t>(product(dims)) * element_bytes;
  Guarded<uint8_t> input(bytes), output(bytes);
  for (uint8_t& v : input) v = static_cast<uint8_t>(random.integer(0, 255));
  const std::vector<uint8_t> expected = transposed(input.data(), dims, perm, element_bytes);
  const TransposePlan plan = plan_transpose(dims.data(), dims.size(), perm.data(), element_bytes);
  const size_t outermost = plan.rank == 0 ? 1 : plan.dims[0];
  kernel.transpose(plan, input.data(), output.data(), 0, outermost);
  ASSERT_EQ(std::vector<uint8_t>(output.begin(), output.end()), expected)
      << describe(dims, perm, element_bytes) << " " << random.trace();
  if (outermost < 2) return;

  const auto cut = static_cast<size_t>(random.integer(0, static_cast<int64_t>(outermost) - 1));
  const size_t run = bytes / outermost;
  memset(output.data(), kUntouched, bytes);
  kernel.transpose(plan, input.data(), output.data(), cut, outermost);
  std::vector<uint8_t> part = expected;
  for (size_t i = 0; i < cut * run; ++i) part[i] = kUntouched;
  ASSERT_EQ(std::vector<uint8_t>(output.begin(), output.end()), part) << "from " << cut;
  kernel.transpose(plan, input.data(), output.data(), 0, cut);
  ASSERT_EQ(std::vector<uint8_t>(output.begin(), output.end()), expected) << "to " << cut;
}

TEST_P(CopyTest, TransposesMatricesAroundEveryTileSize) {
  Random random;
  for (size_t element_bytes : {1, 2, 4, 8})
    for (int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65, 131})
      for (int64_t cols : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 129, 257})
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {rows, cols}, {1, 0}, element_bytes));
}

TEST_P(CopyTest, TurnsChannelsLastAndBack) {
  Random random;
  for (size_t element_bytes : {1, 4}) {
    for (int64_t c : {1, 2, 3, 4, 6, 12, 16, 24, 64, 100}) {
      for (int64_t side : {1, 3, 4, 5, 7, 8, 14, 23}) {
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {2, c, side, side}, {0, 2, 3, 1}, element_bytes));
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {2, side, side, c}, {0, 3, 1, 2}, element_bytes));
      }
    }
  }
}

TEST_P(CopyTest, ShufflesTheChannelsOfEachPixel) {
  Random random;
  for (const int64_t groups : {2, 3, 4, 8})
    for (const int64_t c : {1, 2, 15, 16, 17, 31, 33, 58, 116}) {
      ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, {5, groups, c}, {0, 2, 1}, 1));
      ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, {5, c, groups}, {0, 2, 1}, 1));
    }
}

TEST_P(CopyTest, InterleavesPartsThatStandApart) {
  if (GetParam().interleave == nullptr) return;
  Random random;
  for (size_t groups = 2; groups <= kMaxInterleaved; ++groups) {
    for (const size_t n : {1, 2, 15, 16, 17, 31, 58, 63, 64, 65, 116, 128, 131}) {
      for (const size_t rows : {1, 2, 5}) {
        std::vector<std::unique_ptr<Guarded<uint8_t>>> inputs;
        const uint8_t* parts[kMaxInterleaved];
        size_t step[kMaxInterleaved];
        for (size_t k = 0; k < groups; ++k) {
          step[k] = n + static_cast<size_t>(random.coin() ? random.integer(0, 70) : 0);
          inputs.push_back(std::make_unique<Guarded<uint8_t>>((rows - 1) * step[k] + n));
          for (uint8_t& v : *inputs[k]) v = static_cast<uint8_t>(random.integer(0, 255));
          parts[k] = inputs[k]->data();
        }
        Guarded<uint8_t> output(rows * n * groups);
        GetParam().interleave(parts, step, groups, rows, n, output.data());
        for (size_t i = 0; i < output.size(); ++i) {
          const size_t row = i / (n * groups), k = i % groups, at = i / groups % n;
          ASSERT_EQ(output[i], parts[k][row * step[k] + at])
              << "byte " << i << " of " << rows << " rows, " << groups << " parts of " << n << " "
              << random.trace();
        }
      }
    }
  }
}

// Depth to space moves short runs right, near each other in the input and dense in the output.
TEST_P(CopyTest, MakesRowsOfThePixelsOfASmallerImage) {
  Random random;
  for (const size_t element_bytes : {1, 2, 4})
    for (const int64_t width : {1, 2, 3, 12, 20, 21, 22, 32, 33, 64, 65, 131})
      for (const int64_t side : {2, 3, 4, 5, 6, 7, 8, 9})
        for (const int64_t rows : {2, 3, 6, 24})
          ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, {2, width, rows, side},
                                                  {0, 2, 1, 3}, element_bytes));
}

TEST_P(CopyTest, TransposesEveryPermutationOfUpToFourDimensions) {
  Random random;
  for (size_t rank = 0; rank <= 4; ++rank) {
    Perm perm;
    for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<uint8_t>(i));
    do {
      for (size_t element_bytes : {1, 2, 4, 8}) {
        Dims dims(rank);
        for (int64_t& d : dims) d = random.integer(1, 9);
        ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, dims, perm, element_bytes));
      }
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_P(CopyTest, TransposesSixDimensions) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    Perm perm{0, 1, 2, 3, 4, 5};
    for (size_t j = 5; j > 0; --j)
      std::swap(perm[j], perm[static_cast<size_t>(random.integer(0, static_cast<int64_t>(j)))]);
    Dims dims(6);
    for (int64_t& d : dims) d = random.integer(1, 5);
    const size_t element_bytes = size_t{1} << random.integer(0, 3);
    ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, dims, perm, element_bytes));
  }
}

// Few bytes that change places within a block are moved right, for every number of registers and
// the blocks around.
TEST_P(CopyTest, TransposesWithinBlocks) {
  Random random;
  for (const int64_t width : {1, 2, 3, 5, 8, 11, 16, 31, 32})
    for (const int64_t run : {1, 2, 3})
      for (const int64_t outer : {1, 2, 7, 40}) {
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {outer, 2, width, run}, {0, 2, 1, 3}, 1));
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {outer, 3, width, 2, run}, {1, 0, 3, 2, 4}, 1));
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {outer, width, 4}, {0, 2, 1}, 2));
      }
}

// Planes whose rows and columns have several loops are transposed right: more loops than one list
// holds, and runs that move whole.
TEST_P(CopyTest, TransposesPlanesOfSeveralLoops) {
  Random random;
  for (const size_t element_bytes : {1, 2, 4, 8})
    for (const int64_t few : {2, 3, 4, 7})
      for (const int64_t many : {5, 16, 33, 150}) {
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {many, 9, few}, {2, 1, 0}, element_bytes));
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {few, 9, many}, {2, 1, 0}, element_bytes));
        ASSERT_NO_FATAL_FAILURE(
            check_transpose(GetParam(), random, {few, 3, many, 2}, {2, 1, 0, 3}, element_bytes));
      }
  for (int64_t run = 1; run <= 72; ++run)
    ASSERT_NO_FATAL_FAILURE(
        check_transpose(GetParam(), random, {3, 4, 3, 2, run}, {1, 0, 3, 2, 4}, 1));
}

TEST_P(CopyTest, TransposesAnything) {
  Random random;
  for (int i = 0; i < 400; ++i) {
    const auto rank = static_cast<size_t>(random.integer(2, 6));
    Dims dims;
    Perm perm;
    for (size_t k = 0; k < rank; ++k) {
      const int64_t most = product(dims) > 2000 ? 2 : random.integer(0, 3) == 0 ? 70 : 7;
      dims.push_back(random.integer(1, most));
      perm.insert(perm.begin() + random.integer(0, static_cast<int64_t>(k)),
                  static_cast<uint8_t>(k));
    }
    const auto element_bytes = size_t{1} << random.integer(0, 3);
    ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, dims, perm, element_bytes));
  }
}

TEST_P(CopyTest, TransposesNothingOfAnEmptyTensor) {
  Random random;
  for (const Dims& dims : {Dims{0, 3, 4}, Dims{3, 0, 4}, Dims{3, 4, 0}, Dims{0, 0, 0}})
    ASSERT_NO_FATAL_FAILURE(check_transpose(GetParam(), random, dims, {2, 0, 1}, 1));
}

TEST_P(CopyTest, CopiesRowsOfEveryLength) {
  Random random;
  for (size_t bytes = 0; bytes <= 140; ++bytes) {
    for (size_t count : {0, 1, 2, 3, 17}) {
      for (size_t gap : {0, 1, 13}) {
        const size_t in_stride = bytes + gap;
        const size_t out_stride =
            bytes + static_cast<size_t>(random.coin() ? random.integer(0, 9) : 0);
        const auto span = [&](size_t stride) {
          return count == 0 ? 0 : (count - 1) * stride + bytes;
        };
        Guarded<uint8_t> input(span(in_stride)), output(span(out_stride));
        for (uint8_t& v : input) v = static_cast<uint8_t>(random.integer(0, 255));
        std::vector<uint8_t> expected(output.size(), kUntouched);
        for (size_t i = 0; i < count; ++i)
          for (size_t b = 0; b < bytes; ++b)
            expected[i * out_stride + b] = input[i * in_stride + b];
        GetParam().rows(input.data(), in_stride, output.data(), out_stride, count, bytes);
        ASSERT_EQ(std::vector<uint8_t>(output.begin(), output.end()), expected)
            << count << " rows of " << bytes << " " << random.trace();
      }
    }
  }
}

// Runs of all kinds and block sizes, in rows with a stride, are gathered as the row's list of indices says.
TEST(GatherRows, MakesEveryKindOfRunOfEveryBlockSize) {
  using Kind = GatherSpan::Kind;
  Random random;
  const std::vector<int32_t> scattered = {4, 0, 0, 6, 2};
  const std::vector<GatherSpan> runs = {{Kind::kFill, -1, 2, nullptr},
                                        {Kind::kCopy, 1, 3, nullptr},
                                        {Kind::kBlocks, 4, 5, scattered.data()},
                                        {Kind::kCopy, 6, 1, nullptr},
                                        {Kind::kFill, -1, 1, nullptr}};
  const std::vector<int32_t> row = {-1, -1, 1, 2, 3, 4, 0, 0, 6, 2, 6, -1};
  constexpr size_t kBlocks = 7;  // of an input row
  constexpr uint64_t kFill = 0x0123456789ABCDEF;
  for (size_t element : {1, 2, 4, 8}) {
    for (size_t block = element; block <= 136; block += element) {
      for (size_t rows : {1, 2, 5}) {
        const size_t stride = kBlocks * block + static_cast<size_t>(random.integer(0, 5));
        Guarded<uint8_t> input((rows - 1) * stride + kBlocks * block);
        Guarded<uint8_t> output(rows * row.size() * block);
        for (uint8_t& v : input) v = static_cast<uint8_t>(random.integer(0, 255));
        const GatherRows plan = {runs.data(),        runs.size(), block,
                                 row.size() * block, kFill,       element};
        gather_rows(plan, input.data(), stride, output.data(), rows);
        for (size_t i = 0; i < output.size(); ++i) {
          const size_t r = i / (row.size() * block), b = i % block;
          const int32_t index = row[i / block % row.size()];
          const uint8_t expected = index < 0
                                       ? static_cast<uint8_t>(kFill >> 8 * (b % element))
                                       : input[r * stride + static_cast<size_t>(index) * block + b];
          ASSERT_EQ(output[i], expected) << "byte " << i << ", blocks of " << block << ", " << rows
                                         << " rows " << random.trace();
        }
      }
    }
  }
}

TEST(GatherRows, FillsElementsOfEverySize) {
  constexpr uint64_t kBits = 0xFEDCBA9876543210;
  for (size_t element : {1, 2, 4, 8}) {
    for (size_t count : {0, 1, 2, 15, 16, 17, 33}) {
      Guarded<uint8_t> output(count * element);
      fill_elements(kBits, element, output.data(), count);
      for (size_t i = 0; i < output.size(); ++i)
        ASSERT_EQ(output[i], static_cast<uint8_t>(kBits >> 8 * (i % element)));
    }
  }
}

void expect_plan(const Dims& dims, const Perm& perm, const std::vector<size_t>& merged,
                 const std::vector<size_t>& strides) {
  const TransposePlan plan = plan_transpose(dims.data(), dims.size(), perm.data(), 1);
  ASSERT_EQ(std::vector<size_t>(plan.dims, plan.dims + plan.rank), merged);
  ASSERT_EQ(std::vector<size_t>(plan.stride, plan.stride + plan.rank), strides);
}

TEST(TransposePlanning, DropsUnitDimensionsAndMergesNeighbours) {
  expect_plan({}, {}, {}, {});
  expect_plan({1, 1, 1}, {2, 0, 1}, {}, {});
  expect_plan({2, 3, 5}, {0, 1, 2}, {30}, {1});
  expect_plan({1, 3, 8, 8}, {0, 2, 3, 1}, {64, 3}, {1, 64});
  expect_plan({4, 3, 8, 8}, {0, 2, 3, 1}, {4, 64, 3}, {192, 1, 64});
  expect_plan({4, 8, 8, 3}, {0, 3, 1, 2}, {4, 3, 64}, {192, 1, 3});
  expect_plan({2, 5, 7, 1}, {3, 0, 2, 1}, {2, 7, 5}, {35, 1, 7});
  expect_plan({2, 3, 4, 5, 6, 7}, {4, 5, 2, 3, 0, 1}, {42, 20, 6}, {1, 42, 840});
  expect_plan({6, 5, 4, 3, 2, 7}, {5, 4, 3, 2, 1, 0}, {7, 2, 3, 4, 5, 6}, {1, 7, 14, 42, 168, 840});
  expect_plan({3, 0, 5}, {2, 1, 0}, {0}, {1});
}

TEST(CopySelection, TakesTheBestRowTheSetsAllow) {
  size_t n;
  const CopyKernel* table = copy_kernels(&n);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(select_copy(capped(~IsaSet{0}, table[i].isa))->name, table[i].name);
}

}  // namespace
}  // namespace qrt::copy_test
