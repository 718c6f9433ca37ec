// SPDX-License-Identifier: Apache-2.0
// The straight line, or the two, that a table of 256 bytes was made from.
#ifndef QRT_RUNTIME_OPS_LINE_FIT_H_
#define QRT_RUNTIME_OPS_LINE_FIT_H_

#include <cstdint>
#include <functional>

namespace qrt {

// Describes a table before rounding to nearest and limiting to lo..hi, its least and greatest entry:
// by one line, or by the greater of two lines, or with `lesser` the lesser, which meet at x = kink.
struct TableLines {
  double slope[2], intercept[2];
  bool two, lesser;
  int kink;
  uint8_t lo, hi;
};

// Finds lines for which gives() is true. Returns false where there are none. In real numbers the
// lines that gives() is asked about give the table, except for values halfway between two bytes.
// Tables of one layer are alike: the lines in *lines, those of another table or kNoLines, are tried
// first. Where two lines meet is searched where nothing else fits, which takes many times as long,
// and only while *searches, which counts down, is not 0.
constexpr TableLines kNoLines = {{}, {}, false, false, 128, 0, 255};
bool fit_lines(const uint8_t table[256], const std::function<bool(const TableLines&)>& gives,
               int* searches, TableLines* lines);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_LINE_FIT_H_
