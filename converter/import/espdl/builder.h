// SPDX-License-Identifier: Apache-2.0
// Adds operators to the graph for handlers: those of every source format (common/graph_builder.h),
// with ESP-DL's formats and its rounding.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_BUILDER_H_
#define QRT_CONVERTER_IMPORT_ESPDL_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/import/espdl/format.h"

namespace qrt::convert::from_espdl {

// A tensor on its way through the graph: the graph's value, whose shape is that of the runtime's tensor.
struct Activation {
  Format format;
  ValueId value = kNoValue;
};

class Builder : public GraphBuilder {
 public:
  Builder(Graph* graph, Target target) : GraphBuilder(graph), target_(target) {}

  using GraphBuilder::new_value;
  ValueId new_value(const std::string& name, const Format& format, const Shape& shape);
  // A constant of the file.
  ValueId constant(const Tensor& tensor, const Format& format);
  ValueId float_constant(float value);

  // Add a reshape or gather; they return the value itself where its shape, or a map, changes nothing.
  ValueId reshaped(const SourceNode& node, ValueId x, const Shape& shape) {
    return shape_of(x) == shape ? x : reshape(node, x, shape);
  }
  ValueId gathered(const SourceNode& node, ValueId x, const IndexMaps& maps, int64_t fill) {
    return maps.is_identity() ? x : gather(node, x, maps, fill);
  }
  // Adds f(q) for every integer of x, in the output's format: one table, whatever the two types.
  ValueId table(const SourceNode& node, const Activation& x, const std::vector<int16_t>& values,
                const Format& out);
  // Adds q * 2^(e_in - e_out), rounded as the target does.
  ValueId rescale(const SourceNode& node, const Activation& x, const Format& out);
  // Adds the floats of x's integers: q * 2^exponent.
  ValueId to_float(const SourceNode& node, const Activation& x);
  // Adds the integers of floats divided by `divisor`, in the format `out`, rounded as the target
  // does.
  ValueId from_float(const SourceNode& node, ValueId x, float divisor, const Format& out);
  ValueId float_function(const SourceNode& node, fb::FloatFunction function,
                         std::vector<ValueId> inputs, const Shape& shape);
  // Makes the requantisation y = limits(v / 2^shift), with one shift or one for each channel.
  std::unique_ptr<fb::RequantT> requant(const std::vector<int>& shifts, int most_left,
                                        const Format& out, Limits limits) const;
  std::unique_ptr<fb::RequantT> requant(const std::vector<int>& shifts, int most_left,
                                        const Format& out) const {
    return requant(shifts, most_left, out, out.limits());
  }

 private:
  Target target_;
};

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_BUILDER_H_
