// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/run_integers.h"

#include <algorithm>
#include <numeric>

namespace qrt::convert::from_onnx {

Status RunIntegers::check_count(int64_t n) {
  if (n <= kMostCounted) return Status();
  return error(Code::kUnsupported, "it counts %lld places, at most %lld", static_cast<long long>(n),
               static_cast<long long>(kMostCounted));
}

ValueId RunIntegers::constant(int64_t v) {
  return importer_.graph().add_constant("", DType::kInt64, {}, std::vector<int64_t>{v});
}

ValueId RunIntegers::binary(fb::IntegerFunction function, ValueId a, ValueId b) {
  GraphBuilder& builder = importer_.builder();
  Shape shape;
  broadcast(builder.shape_of(a), builder.shape_of(b), &shape);
  const ValueId y = builder.new_value(
      "", function >= fb::IntegerFunction::EQUAL ? DType::kUInt8 : builder.type_of(a), shape);
  builder.add<fb::IntegerOptionsT>(node_, {a, b}, y).function = function;
  return y;
}

ValueId RunIntegers::least(ValueId a, ValueId b) {
  return importer_.builder().min_max(node_, a, b, false);
}
ValueId RunIntegers::greatest(ValueId a, ValueId b) {
  return importer_.builder().min_max(node_, a, b, true);
}

ValueId RunIntegers::cast(ValueId x, DType to) {
  GraphBuilder& builder = importer_.builder();
  if (builder.type_of(x) == to) return x;
  const ValueId y = builder.new_value("", to, builder.shape_of(x));
  builder.add<fb::CastOptionsT>(node_, {x}, y);
  return y;
}

ValueId RunIntegers::reshaped(ValueId x, const Shape& shape) {
  return importer_.builder().reshape(node_, x, shape);
}

ValueId RunIntegers::unless(ValueId is_bad, ValueId indices) {
  constexpr int64_t kNoIndex = int64_t{1} << 40;
  const ValueId bad = to_int64(is_bad);
  return add(multiply(indices, subtract(constant(1), bad)), multiply(bad, constant(kNoIndex)));
}

ValueId RunIntegers::one() {
  if (importer_.run_one() != kNoValue) return importer_.run_one();
  GraphBuilder& builder = importer_.builder();
  const std::vector<ValueId>& inputs = importer_.graph().inputs;
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](ValueId id) {
    const DType type = builder.type_of(id);
    return type == DType::kFloat32 || type == DType::kUInt8 || type == DType::kInt8 ||
           type == DType::kInt16 || type == DType::kInt32 || type == DType::kInt64;
  });
  if (found == inputs.end()) return importer_.run_one() = reshaped(constant(1), {1});
  IndexMaps maps(builder.shape_of(*found));
  for (int d = 0; d < maps.from().rank(); ++d) maps.keep(d, {0});
  const bool is_scalar = maps.from().rank() == 0;
  ValueId x = reshaped(is_scalar ? *found : builder.gather(node_, *found, maps, 0), {1});
  if (builder.type_of(x) == DType::kFloat32) {
    const ValueId truth = builder.new_value("", DType::kUInt8, {1});
    auto& o = builder.add<fb::CastOptionsT>(node_, {x}, truth);
    o.is_float = o.is_truth = true;
    x = truth;
  }
  return importer_.run_one() = to_int64(binary(fb::IntegerFunction::EQUAL, x, x));
}

ValueId RunIntegers::ones(int64_t n) {
  importer_.tensors().charge(static_cast<uint64_t>(n) * sizeof(int64_t));
  IndexMaps maps({1});
  maps.keep(0, Indices(static_cast<size_t>(n), 0));
  return importer_.builder().gather(node_, one(), maps, 0);
}

ValueId RunIntegers::number(int64_t v) {
  // A number beyond kMostCounted becomes a constant. If the number depends on an open dimension,
  // imports at different sizes get different constants, and the dimension is fixed.
  if (!importer_.has_open_sizes() || v == 0 || v > kMostCounted || v < -kMostCounted)
    return constant(v);
  if (v < 0) return subtract(constant(0), number(-v));
  // v is the last of the indices 0 to v. There is at least one index, also at sizes at which v is
  // 0.
  IndexMaps maps({v + 1});
  maps.keep(0, {static_cast<int32_t>(v)});
  const ValueId last = importer_.builder().gather(node_, indices(v + 1), maps, 0);
  return reshaped(last, Shape());
}

ValueId RunIntegers::numbers(const Constant& c) {
  constexpr int64_t kFew = 64;
  if (c.elements() > kFew && (c.type == kInt32 || c.type == kInt64))
    return importer_.graph().add_constant_bytes("",
                                                c.type == kInt32 ? DType::kInt32 : DType::kInt64,
                                                c.shape, c.data.data(), c.data.size());
  std::vector<ValueId> parts;
  for (int64_t i = 0; i < c.elements(); ++i) parts.push_back(reshaped(number(c.integer(i)), {1}));
  const ValueId all = parts.size() == 1 ? parts[0] : importer_.builder().concat(node_, parts, 0);
  return cast(reshaped(all, c.shape), c.type == kInt32 ? DType::kInt32 : DType::kInt64);
}

ValueId RunIntegers::indices(int64_t n) {
  if (importer_.has_open_sizes()) {
    GraphBuilder& builder = importer_.builder();
    const ValueId y = builder.new_value("", DType::kInt64, {n});
    builder.add<fb::CumSumOptionsT>(node_, {ones(n)}, y).exclusive = true;
    return y;
  }
  importer_.tensors().charge(static_cast<uint64_t>(n) * sizeof(int64_t));
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return importer_.graph().add_constant("", DType::kInt64, {n}, all);
}

}  // namespace qrt::convert::from_onnx
