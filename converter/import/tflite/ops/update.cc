// SPDX-License-Identifier: Apache-2.0
// DYNAMIC_UPDATE_SLICE: a tensor with a part replaced. The result's blocks are taken from the tensor
// and the update behind each other, at indices that are known or computed in a run. A block is what
// the dimensions hold that the update fills.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/formula.h"

namespace qrt::convert::from_tflite {
namespace {

using F = fb::FormulaFunction;
using Join = fb::FormulaPair;

struct Update {
  Shape x, part;
  int outer;  // dimensions in front of the blocks: up to the last one that the part does not fill
  int64_t blocks = 1, part_blocks = 1, block = 1;

  Update(const Shape& x_, const Shape& part_) : x(x_), part(part_), outer(x_.rank()) {
    while (outer > 0 && x[outer - 1] == part[outer - 1]) --outer;
    for (int d = 0; d < outer; ++d) blocks *= x[d], part_blocks *= part[d];
    for (int d = outer; d < x.rank(); ++d) block *= x[d];
  }
  // Blocks between two indices of dimension d of x, or of the part.
  int64_t stride(const Shape& of, int d) const {
    int64_t n = 1;
    for (int k = d + 1; k < outer; ++k) n *= of[k];
    return n;
  }
};

// Returns where the part begins, clamped to the range; empty where a run computes it.
std::vector<int32_t> clamped(const std::vector<int32_t>& begin, const Update& u) {
  std::vector<int32_t> result;
  for (size_t d = 0; d < begin.size(); ++d) {
    const int at = static_cast<int>(d);
    result.push_back(static_cast<int32_t>(std::clamp<int64_t>(begin[d], 0, u.x[at] - u.part[at])));
  }
  return result;
}

// Returns, for every block of the result, its place among the blocks of x and the part.
std::vector<int32_t> known_indices(const Update& u, const std::vector<int32_t>& begin) {
  std::vector<int32_t> places;
  for (int64_t i = 0; i < u.blocks; ++i) {
    int64_t at = u.blocks;
    bool inside = true;
    for (int d = 0; d < u.outer; ++d) {
      const int64_t k = i / u.stride(u.x, d) % u.x[d] - begin[static_cast<size_t>(d)];
      inside = inside && k >= 0 && k < u.part[d];
      at += k * u.stride(u.part, d);
    }
    places.push_back(static_cast<int32_t>(inside ? at : i));
  }
  return places;
}

// Returns element d of the beginnings, of shape {1}, within its range, as INT32.
ValueId beginning(Importer& importer, const Op& op, const Update& u, int d) {
  GraphBuilder& builder = importer.builder();
  const ValueId all = importer.value(op, 2);
  IndexMaps maps(builder.shape_of(all));
  maps.set(0, {d});
  const ValueId one = builder.gather(op, all, maps, 0);
  const auto most = static_cast<int32_t>(u.x[d] - u.part[d]);
  if (builder.type_of(all) == DType::kInt32) {
    const ValueId zero = importer.graph().add_constant("", DType::kInt32, {1}, std::vector{0});
    const ValueId limit = importer.graph().add_constant("", DType::kInt32, {1}, std::vector{most});
    return builder.min_max(op, builder.min_max(op, one, zero, true), limit, false);
  }
  // No operator narrows an int64: as many of 0, 1, ... most - 1 are below it as it is within its range.
  if (most == 0) return importer.graph().add_constant("", DType::kInt32, {1}, std::vector{0});
  std::vector<int64_t> steps(static_cast<size_t>(most));
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<int64_t>(i);
  const ValueId step = importer.graph().add_constant("", DType::kInt64, {most}, steps);
  const ValueId below = builder.new_value("", DType::kUInt8, {most});
  builder.add<fb::IntegerOptionsT>(op, {step, one}, below).function = fb::IntegerFunction::LESS;
  const ValueId sum = builder.new_value("", DType::kInt32, {1});
  builder.add<fb::ReduceOptionsT>(op, {below}, sum).axis = 0;
  return sum;
}

// Returns the indices of a part whose beginnings a run computes.
ValueId computed_indices(Importer& importer, const Op& op, const Update& u) {
  ValueId inside = kNoValue, at = kNoValue;
  for (int d = 0; d < u.outer; ++d) {
    std::vector<int32_t> index;
    for (int64_t i = 0; i < u.blocks; ++i)
      index.push_back(static_cast<int32_t>(i / u.stride(u.x, d) % u.x[d]));
    const ValueId indices = importer.graph().add_constant("", DType::kInt32, {u.blocks}, index);
    // k = index - beginning: inside where -1 < k and k < size.
    const ValueId k = formula(importer, op, {indices, 0, {}}, Join::SUBTRACT,
                              {beginning(importer, op, u, d), 0, {}}, {}, {});
    const auto size = static_cast<int32_t>(u.part[d]);
    const ValueId outside = importer.graph().add_constant("", DType::kInt32, {1}, std::vector{-1});
    const ValueId end = importer.graph().add_constant("", DType::kInt32, {1}, std::vector{size});
    const ValueId from = formula(importer, op, {k, 0, {}}, Join::GREATER, {outside, 0, {}}, {}, {});
    const ValueId to = formula(importer, op, {end, 0, {}}, Join::GREATER, {k, 0, {}}, {}, {});
    const ValueId both = formula(importer, op, {from, 0, {}}, Join::MULTIPLY, {to, 0, {}}, {}, {});
    const auto stride = static_cast<int32_t>(u.stride(u.part, d));
    const ValueId step = formula(importer, op, {k, 0, {{F::MULTIPLY, stride}}}, {});
    inside = d == 0 ? both
                    : formula(importer, op, {inside, 0, {}}, Join::MULTIPLY, {both, 0, {}}, {}, {});
    at = d == 0 ? step : formula(importer, op, {at, 0, {}}, Join::ADD, {step, 0, {}}, {}, {});
  }
  // i + inside * (blocks + at - i).
  std::vector<int32_t> own;
  for (int64_t i = 0; i < u.blocks; ++i) own.push_back(static_cast<int32_t>(i));
  const ValueId i = importer.graph().add_constant("", DType::kInt32, {u.blocks}, own);
  const auto blocks = static_cast<int32_t>(u.blocks);
  const ValueId way =
      formula(importer, op, {at, 0, {{F::ADD, blocks}}}, Join::SUBTRACT, {i, 0, {}}, {}, {});
  const ValueId taken =
      formula(importer, op, {inside, 0, {}}, Join::MULTIPLY, {way, 0, {}}, {}, {});
  return formula(importer, op, {taken, 0, {}}, Join::ADD, {i, 0, {}}, {}, {});
}

}  // namespace

Status import_dynamic_update_slice(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &part = importer.input(op, 1),
               &begin = importer.input(op, 2);
  if (part.type != x.type || (begin.type != TensorType::INT32 && begin.type != TensorType::INT64))
    return importer.refuse(op,
                           std::string("it puts ") + type_name(part.type) + " into " +
                               type_name(x.type) + " at indices of " + type_name(begin.type),
                           importer.output(op).name,
                           "give tensor and update one type, and indices of int32 or int64");
  QRT_TRY(check_output_shape(importer, op, x.shape));
  bool fits = part.shape.rank() == x.shape.rank() && begin.shape == Shape{x.shape.rank()};
  for (int d = 0; fits && d < x.shape.rank(); ++d) fits = part.shape[d] <= x.shape[d];
  QRT_MODEL_CHECK(fits, "an update of shape %s at %s indices does not fit into %s",
                  part.shape.to_string().c_str(), begin.shape.to_string().c_str(),
                  x.shape.to_string().c_str());
  Moving whole(importer, op, 0), update(importer, op, 1);
  if (!whole.is_good() || !update.is_good()) return Status();
  const Update u(x.shape, part.shape);
  // The indices of every dimension.
  QRT_TRY(check_index_count(u.blocks * (u.outer + 1)));
  GraphBuilder& builder = importer.builder();
  const ValueId from = whole.value(), to = update.value();
  ValueId y;
  if (u.outer == 0) {
    y = builder.reshape(op, to, x.shape);
  } else {
    const ValueId joined = builder.concat(op,
                                          {builder.reshape(op, from, {u.blocks, u.block}),
                                           builder.reshape(op, to, {u.part_blocks, u.block})},
                                          0);
    const bool is_known = begin.is_constant || importer.folded(op, 2);
    ValueId rows;
    if (is_known) {
      std::vector<int32_t> given;
      if (!importer.read_integers(op, 2, &given)) return Status();
      IndexMaps maps(builder.shape_of(joined));
      maps.set(0, known_indices(u, clamped(given, u)));
      rows = builder.gather(op, joined, maps, 0);
    } else {
      rows = builder.new_value("", builder.type_of(from), {u.blocks, u.block});
      builder.add<fb::TakeOptionsT>(op, {joined, computed_indices(importer, op, u)}, rows);
    }
    y = builder.reshape(op, rows, x.shape);
  }
  Value& made = importer.graph().values[y];
  made.name = importer.output(op).name;
  made.quantization = importer.graph().values[from].quantization;
  return importer.finish_copy(op, y, "Take");
}

}  // namespace qrt::convert::from_tflite
