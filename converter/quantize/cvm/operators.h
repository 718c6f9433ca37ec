// SPDX-License-Identifier: Apache-2.0
// The CVM operators for each operator of a float model. One file per group; cvm_writer.cc has the table.
#ifndef QRT_CONVERTER_QUANTIZE_CVM_OPERATORS_H_
#define QRT_CONVERTER_QUANTIZE_CVM_OPERATORS_H_

#include "converter/quantize/cvm/values.h"

namespace qrt::quantize {

// Each sets the node's first output. kUnsupported, without the node's name, where CVM cannot.
using CvmOperator = Status (*)(const Node& node, CvmValues* values);

// layers.cc
Status cvm_conv(const Node& node, CvmValues* values);
Status cvm_dense(const Node& node, CvmValues* values);
// windows.cc
Status cvm_max_pool(const Node& node, CvmValues* values);
Status cvm_average_pool(const Node& node, CvmValues* values);
Status cvm_mean(const Node& node, CvmValues* values);  // over an image, or over axes
Status cvm_resize(const Node& node, CvmValues* values);
// elementwise.cc
Status cvm_limit(const Node& node, CvmValues* values);
Status cvm_function(const Node& node, CvmValues* values);
Status cvm_pair(const Node& node, CvmValues* values);
// moves.cc
Status cvm_reshape(const Node& node, CvmValues* values);
Status cvm_transpose(const Node& node, CvmValues* values);
Status cvm_slice(const Node& node, CvmValues* values);
Status cvm_concat(const Node& node, CvmValues* values);
Status cvm_depth_to_space(const Node& node, CvmValues* values);

// --- what several of them need

// The pads of a window: before and behind, rows first. auto_pad is refused unless it is VALID.
struct CvmWindow {
  std::vector<int64_t> kernel, stride, dilation, before, behind;
};
Status read_cvm_window(const Node& node, const Dims& kernel, const Dims& input, CvmWindow* window);
// Adds a convolution whose pads may differ on both sides: zeros are joined, or results dropped.
// Bytes with a zero point are padded with that, joined on both sides.
Status add_cvm_conv(const CvmNumber& x, int weights, int bias, int precision, int64_t groups,
                    const CvmWindow& window, CvmNumbers* numbers, CvmNumber* y);
// begin <= index < end of one axis.
CvmNumber cvm_slice_along(const CvmNumber& x, size_t axis, int64_t begin, int64_t end,
                          CvmNumbers* numbers);
// Joins parts of one step and precision along `axis`.
CvmNumber cvm_joined(const std::vector<CvmNumber>& parts, size_t axis, CvmNumbers* numbers);
// Returns a number that data movement may move: a coded value's own integers, else 16 bits.
Status cvm_movable(const std::string& x, CvmValues* values, CvmNumber* y);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_CVM_OPERATORS_H_
