// SPDX-License-Identifier: Apache-2.0
// Adds the Float operators of one operator of a source to the graph, one for each function. The functions are qrt's own,
// kernels/float_fallback/float_fallback.h: the same bytes everywhere.
#ifndef QRT_CONVERTER_IMPORT_COMMON_FLOAT_BUILDER_H_
#define QRT_CONVERTER_IMPORT_COMMON_FLOAT_BUILDER_H_

#include <utility>
#include <vector>

#include "converter/import/common/graph_builder.h"

namespace qrt::convert {

class FloatBuilder {
 public:
  FloatBuilder(GraphBuilder* builder, SourceNode source)
      : builder_(*builder), source_(std::move(source)) {}

  GraphBuilder& builder() const { return builder_; }
  const SourceNode& source() const { return source_; }
  Shape shape_of(ValueId x) const { return builder_.shape_of(x); }

  ValueId zeros(int64_t n);
  ValueId constant(const Shape& shape, const std::vector<float>& values);
  ValueId add(fb::FloatFunction function, std::vector<ValueId> inputs, const Shape& shape,
              float epsilon = 0);
  // Reshapes v to `from`, transposes it by `order` and reshapes it to `to`; a constant at once.
  ValueId arrange(ValueId v, const Shape& from, const std::vector<int>& order, const Shape& to);
  // Makes a x b + c with one of the ORT_GEMM functions; `block` is ORT_GEMM's.
  ValueId gemm(fb::FloatFunction function, ValueId a, ValueId b, ValueId c, const Shape& shape,
               int64_t block);
  // Applies `function` to two operands, broadcast to one shape.
  Status binary(fb::FloatFunction function, ValueId a, ValueId b, ValueId* y);
  // Adds elements of x along `axis` times weights: those of each output in turn, as many of each, without what has the index -1.
  Status weighted_sum(int axis, int64_t outputs, const Indices& indices,
                      const std::vector<float>& weights, ValueId x, ValueId* y);
  // Computes `function` over rows made of the marked dimensions, which keep their size, or become 1.
  Status rows(fb::FloatFunction function, const std::vector<bool>& marked, float epsilon, ValueId x,
              ValueId* y);

 private:
  GraphBuilder& builder_;
  const SourceNode source_;
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_FLOAT_BUILDER_H_
