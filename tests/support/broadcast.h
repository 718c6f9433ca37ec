// SPDX-License-Identifier: Apache-2.0
// Models of one elementwise operator with two inputs, against a loop over the output's index.
#ifndef QRT_TESTS_SUPPORT_BROADCAST_H_
#define QRT_TESTS_SUPPORT_BROADCAST_H_

#include <utility>
#include <vector>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::testing {

// Shapes that broadcast together; a batch of -1 only where both can have it.
inline std::vector<std::pair<Shape, Shape>> broadcast_pairs() {
  return {
      {{-1, 5, 7}, {1}},
      {{1}, {-1, 5, 7}},
      {{-1, 5, 7}, {}},
      {{-1, 6, 5, 19}, {19}},
      {{-1, 6, 5, 19}, {-1, 1, 1, 19}},
      {{-1, 6, 5, 19}, {-1, 6, 5, 1}},
      {{-1, 1, 5, 19}, {-1, 6, 1, 19}},
      {{-1, 6, 1, 70}, {-1, 1, 5, 1}},
      {{-1, 6, 5, 1}, {1, 1, 1, 9}},
      {{-1, 2, 3, 4, 5, 6}, {1, 2, 1, 4, 1, 6}},
      {{-1, 1, 3, 1, 5, 1}, {2, 1, 4, 1, 6}},
      {{-1, 1, 1}, {1, 1}},
      {{-1, 130}, {-1, 1}},
      // Runs that are joined: a few, all of a loop, more than fit.
      {{-1, 20, 9, 33}, {-1, 1, 1, 33}},
      {{7}, {-1, 400, 7}},
      {{-1, 3, 512}, {512}},
      {{-1, 1, 100}, {-1, 25, 100}},
      // One operand has a single element for each run of the other.
      {{-1, 90, 3}, {-1, 90, 1}},
      {{1, 7, 20, 1}, {-1, 7, 20, 64}},
      {{-1, 5, 65}, {5, 1}},
      {{-1, 12, 511}, {-1, 12, 1}},
      // Enough elements for what takes time to prepare.
      {{-1, 20, 30, 24}, {-1, 1, 1, 24}},
      {{-1, 1, 1, 200}, {-1, 5, 12, 200}},
      {{-1, 9, 1000}, {1000}},
      {{-1, 70, 130}, {-1, 70, 1}},
      {{-1, 9, 1000}, {-1, 9, 1000}},
  };
}

// Expects f(a, b) at every index of the output.
template <class Options, class F>
void check_broadcast(const Options& options, const Shape& a, const Shape& b, const F& f) {
  SCOPED_TRACE(a.to_string() + " and " + b.to_string());
  Random random;
  SCOPED_TRACE(random.trace());
  const int rank = std::max(a.rank(), b.rank());
  const auto aligned = [&](const Shape& s, int i) {
    const int j = i - (rank - s.rank());
    return j < 0 ? int64_t{1} : s[j];
  };
  Shape y;
  for (int i = 0; i < rank; ++i) y.push_back(aligned(a, i) == 1 ? aligned(b, i) : aligned(a, i));

  ModelBuilder m;
  const uint32_t inputs[2] = {m.input(a), m.input(b)};
  const uint32_t output = m.output(y);
  m.op(Options(options), {inputs[0], inputs[1]}, {output});

  for (const int64_t batch : {1, 3}) {
    const auto concrete = [&](Shape s) {
      for (int i = 0; i < s.rank(); ++i)
        if (s[i] == -1) s[i] = batch;
      return s;
    };
    const Shape shapes[3] = {concrete(a), concrete(b), concrete(y)};
    Bytes data[2], expected;
    for (int k = 0; k < 2; ++k) {
      data[k].resize(static_cast<size_t>(shapes[k].elements()));
      random.fill(data[k], 0, 255);
    }
    for (int64_t e = 0; e < shapes[2].elements(); ++e) {
      size_t at[2] = {0, 0}, step[2] = {1, 1};
      int64_t rest = e;
      for (int i = rank; i-- > 0;) {
        const int64_t index = rest % shapes[2][i];
        rest /= shapes[2][i];
        for (int k = 0; k < 2; ++k) {
          const int64_t d = aligned(shapes[k], i);
          if (d != 1) at[k] += static_cast<size_t>(index) * step[k];
          step[k] *= static_cast<size_t>(d);
        }
      }
      expected.push_back(f(data[0][at[0]], data[1][at[1]]));
    }
    expect_outputs(m, static_cast<size_t>(batch), {data[0], data[1]}, {expected});
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_BROADCAST_H_
