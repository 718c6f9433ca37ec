// SPDX-License-Identifier: Apache-2.0
// Tests the division of matrix products into tasks: every output is in exactly one task, tall and
// wide products are balanced over 2 to 16 threads, and small products are not divided.
#include "runtime/ops/gemm_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/checked.h"
#include "runtime/ops/tasks.h"

namespace qrt::gemm_call_test {
namespace {

// Returns a GemmCall for this CPU's best kernel, with only the fields that the division into tasks
// reads.
GemmCall make(size_t m, size_t n, size_t k, size_t outer, size_t threads) {
  flatbuffers::FlatBufferBuilder fbb;
  fb::RequantT requant;  // ACC
  fbb.Finish(fb::CreateRequant(fbb, &requant));
  std::vector<uint8_t> bias(n * 4);
  GemmCall gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.taps = 1;
  gemm.kc = round_up(k, 4);
  gemm.outer = outer;
  // make_gemm() reads the sums of weights where a kernel takes x - 128.
  const std::vector<int32_t> zeros(n);
  flatbuffers::FlatBufferBuilder vectors;
  const auto offset = vectors.CreateVector(zeros);
  fb::FullyConnectedOptionsBuilder options(vectors);
  options.add_weight_sum(offset);
  vectors.Finish(options.Finish());
  const auto* weight_sum =
      flatbuffers::GetRoot<fb::FullyConnectedOptions>(vectors.GetBufferPointer())->weight_sum();
  SharedTables tables;
  make_gemm({nullptr, bias.data(), weight_sum},
            {flatbuffers::GetRoot<fb::Requant>(fbb.GetBufferPointer()), /*pair_safe=*/false,
             /*file_end=*/nullptr, &tables},
            detected_isas(), threads, &gemm);
  return gemm;
}

TEST(GemmCall, EveryTileBelongsToOnePart) {
  for (const size_t m : {1, 7, 49, 3136}) {
    for (const size_t n : {1, 17, 1024}) {
      for (const size_t outer : {1, 3}) {
        for (size_t threads = 1; threads <= 16; ++threads) {
          const GemmCall g = make(m, n, 1024, outer, threads);
          const size_t m_tiles = ceil_div(m, g.kernel->mr), n_tiles = ceil_div(n, g.kernel->nr);
          ASSERT_LE(g.m_chunks, m_tiles);
          ASSERT_LE(g.n_chunks, n_tiles);
          std::vector<int> seen(outer * g.m_chunks * g.n_chunks);
          Parallel parallel;
          parallel.threads = threads;
          parallel.custom = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
            for (size_t i = 0; i < count; ++i) task(argument, i);
          };
          for_gemm_chunks(g, parallel, [&](size_t task, size_t o, size_t part) {
            ASSERT_LT(task, g.tasks);
            ++seen[o * g.m_chunks * g.n_chunks + part];
          });
          for (int s : seen) ASSERT_EQ(s, 1);
        }
      }
    }
  }
}

// Returns the ideal share of a thread over the work of the busiest thread.
double efficiency(const GemmCall& g, size_t threads) {
  const size_t m_tiles = ceil_div(g.m, g.kernel->mr), n_tiles = ceil_div(g.n, g.kernel->nr);
  const size_t rounds = ceil_div(g.outer * g.m_chunks * g.n_chunks, threads);
  const size_t greatest = ceil_div(m_tiles, g.m_chunks) * ceil_div(n_tiles, g.n_chunks);
  return static_cast<double>(g.outer * m_tiles * n_tiles) /
         static_cast<double>(threads * rounds * greatest);
}

TEST(GemmCall, LargeProductsAreBalanced) {
  const struct {
    size_t m, n, k;
  } layers[] = {{49, 1024, 4096}, {49, 512, 4608},  {3136, 64, 576},
                {12544, 64, 512}, {196, 1024, 512}, {784, 512, 128 * 9}};
  for (const auto& layer : layers) {
    for (size_t threads = 2; threads <= 16; ++threads) {
      const GemmCall g = make(layer.m, layer.n, layer.k, 1, threads);
      EXPECT_GE(efficiency(g, threads), 0.5) << layer.m << " x " << layer.n << " on " << threads
                                             << " threads: " << g.m_chunks << " x " << g.n_chunks;
    }
  }
}

TEST(GemmCall, ASingleRowIsCutByChannels) {
  const GemmCall g = make(1, 4096, 4096, 1, 4);
  EXPECT_EQ(g.m_chunks, 1u);
  EXPECT_GE(g.n_chunks, 4u);
}

TEST(GemmCall, SmallProductsStayOnTheCallingThread) {
  const GemmCall g = make(4, 16, 16, 1, 8);
  EXPECT_EQ(g.tasks, 1u);
}

TEST(GemmCall, OneThreadIsNotCut) {
  const GemmCall g = make(3136, 256, 1024, 1, 1);
  EXPECT_EQ(g.m_chunks * g.n_chunks, 1u);
}

TEST(GemmCall, GroupsStandApart) {
  const auto folded = fold_bias({1, 2, 3, 4, 5, 6}, nullptr, 3, /*signed_lhs=*/false);
  ASSERT_EQ(folded.size(), 2 * channel_stride(3) + 64);
  EXPECT_EQ(folded[2], 3);
  EXPECT_EQ(folded[channel_stride(3)], 4);
}

TEST(Tasks, PiecesAreEvenAndOnBorders) {
  const Parallel parallel;
  std::vector<size_t> borders = {0};
  for_chunks(parallel, 3, 200, 64, [&](size_t i, size_t begin, size_t end) {
    EXPECT_EQ(i + 1, borders.size());
    EXPECT_EQ(begin, borders.back());
    borders.push_back(end);
  });
  EXPECT_EQ(borders, (std::vector<size_t>{0, 64, 128, 200}));
}

TEST(Tasks, CountFollowsTheTime) {
  EXPECT_EQ(task_count(0, 100, 8), 1u);
  EXPECT_EQ(task_count(1.4 * kMinTaskNs, 100, 8), 1u);
  EXPECT_EQ(task_count(3 * kMinTaskNs, 100, 8), 3u);
  EXPECT_EQ(task_count(1e12, 100, 8), 8u);
  EXPECT_EQ(task_count(1e12, 5, 8), 5u);
  EXPECT_EQ(task_count(1e12, 0, 8), 1u);
}

}  // namespace
}  // namespace qrt::gemm_call_test
