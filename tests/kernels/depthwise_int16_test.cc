// SPDX-License-Identifier: Apache-2.0
// Every row of depthwise_int16.h against a loop written from its formula.
#include "kernels/depthwise/depthwise_int16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/int_stages.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::depthwise_int16_test {
namespace {

using testing::Guarded;
using testing::IntStages;
using testing::make_stages;
using testing::Random;

class DepthwiseInt16Test : public ::testing::TestWithParam<DepthwiseInt16Kernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa)) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  }
  Random random_;
};

TEST_P(DepthwiseInt16Test, DepthwiseEqualsTheLoop) {
  struct Case {
    size_t h, w, c, kh, kw, stride, dilation, pad, multiplier;
  };
  for (const Case& k : {Case{5, 7, 1, 3, 3, 1, 1, 1, 1}, Case{6, 5, 17, 3, 2, 2, 1, 0, 1},
                        Case{9, 9, 65, 3, 3, 1, 2, 2, 1}, Case{4, 4, 5, 2, 2, 1, 1, 1, 3},
                        Case{20, 27, 3, 19, 26, 1, 1, 0, 1}, Case{6, 5, 17, 3, 2, 2, 1, 0, 1},
                        Case{9, 9, 130, 3, 3, 1, 1, 1, 1}, Case{17, 16, 7, 15, 17, 1, 1, 1, 2}}) {
    const size_t out_h = (k.h + 2 * k.pad - k.dilation * (k.kh - 1) - 1) / k.stride + 1;
    const size_t out_w = (k.w + 2 * k.pad - k.dilation * (k.kw - 1) - 1) / k.stride + 1;
    const size_t channels = k.c * k.multiplier;
    Guarded<int16_t> x(k.h * k.w * k.c), padding(k.c), w(k.kh * k.kw * channels);
    Guarded<int16_t> y(out_h * out_w * channels);
    Guarded<int64_t> bias(channels);
    random_.fill(x, INT16_MIN, INT16_MAX);
    random_.fill(padding, -3, 3);
    random_.fill(w, -128, 127);
    const bool has_upper = k.kh * k.kw <= kMaxDepthwiseInt16Digits && random_.coin();
    Guarded<int16_t> upper(w.size());
    random_.fill(upper, -256, 254);
    random_.fill(bias, -1000000, 1000000);
    IntStages s;
    make_stages(random_, channels, false, 1, Round::kHalfUp, &s);
    DepthwiseInt16Args args{};
    args.shape = {{k.h, k.w, k.h ? out_h : 0, out_w, k.kh, k.kw, k.stride, k.stride, k.dilation,
                   k.dilation, k.pad, k.pad},
                  k.c,
                  k.multiplier};
    args.input = x.data();
    args.padding = padding.data();
    args.weights = w.data();
    args.upper_weights = has_upper ? upper.data() : nullptr;
    args.combine.bias = bias.data();
    args.combine.requant = s.requant;
    args.output = y.data();
    args.row_end = out_h;
    GetParam().fn(args);
    for (size_t i = 0; i < out_h * out_w; ++i) {
      for (size_t o = 0; o < channels; ++o) {
        int64_t acc = bias[o];
        for (size_t t = 0; t < k.kh * k.kw; ++t) {
          const size_t iy = i / out_w * k.stride + t / k.kw * k.dilation - k.pad;
          const size_t ix = i % out_w * k.stride + t % k.kw * k.dilation - k.pad;
          const size_t c = o / k.multiplier;
          const int v = iy < k.h && ix < k.w ? x[(iy * k.w + ix) * k.c + c] : padding[c];
          const size_t at = t * channels + o;
          acc += v * (w[at] + (has_upper ? 256 * int64_t{upper[at]} : 0));
        }
        ASSERT_EQ(y[i * channels + o], s.apply(acc, o)) << "pixel " << i << " channel " << o;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DepthwiseInt16Test,
                         ::testing::ValuesIn(testing::all_rows(depthwise_int16_kernels)),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::depthwise_int16_test
