// The range that ONNX Runtime leaves of several Q/DQ pairs in a row.
#ifndef QRT_CONVERTER_IMPORT_ONNX_MERGED_PAIRS_H_
#define QRT_CONVERTER_IMPORT_ONNX_MERGED_PAIRS_H_

#include <vector>

#include "converter/import/common/quant.h"

namespace qrt::convert::from_onnx {

// The pair that stands for both; false where their ranges have nothing in common, or with a scale of
// 0 nothing but that.
bool intersect(const Quant& a, const Quant& b, Quant* result);

// Equal for ONNX Runtime, which then leaves both as they are.
bool almost_equal(const Quant& a, const Quant& b);

// Scales and zero points are rounded at each step, so that the order counts: ONNX Runtime goes
// through a row again and again, each time making one of every two. Pairs between which it has to
// take out Transposes first meet after the others.
class MergedPairs {
 public:
  explicit MergedPairs(const Quant& first) : together_({{1, first}}) {}

  // One more at the end. *result: of all. False, and no change: some have nothing in common.
  bool add(const Quant& quant, bool meets_late, Quant* result);

 private:
  struct Block {
    size_t count;  // a power of two
    Quant quant;
  };
  static bool push(const Quant& quant, std::vector<Block>* blocks);
  static bool join(const std::vector<Block>& blocks, Quant* result);

  std::vector<Block> before_, together_;  // blocks before the last late meeting and since
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_MERGED_PAIRS_H_
