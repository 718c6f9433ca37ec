// SPDX-License-Identifier: Apache-2.0
// The facts of an operator, beside what it computes, that several folders need. Every operator
// states them once, in the row of its OpDef at the end of runtime/ops/<stem>.cc. No fact has a
// default: a row that leaves one out does not compile.
//
// The converter uses them, too: StoredForm of converter/ir.h makes an fb::Operator of its nodes.
#ifndef QRT_RUNTIME_TRAITS_H_
#define QRT_RUNTIME_TRAITS_H_

#include <cstddef>
#include <cstdint>

#include "qrt_model_generated.h"
#include "runtime/plan_memory.h"
#include "runtime/tensor.h"

namespace qrt {

// Arithmetic levels: 0 (I0: no float instruction needed between the edges), 1 (I1: IEEE-exact
// float32). The edges themselves, between floats and integers, are kEdgeLevel. Operators that were
// left in float on request are kFloatLevel (F).
constexpr int kEdgeLevel = -1, kFloatLevel = 2;

// The way in which the elements of an output come about.
enum class Arithmetic : uint8_t {
  kMoves,     // copies elements, makes none
  kSelects,   // compares elements; its output is some of them, or tells which
  kTable,     // looks them up
  kIntegers,  // whole numbers without quantisation
  kRequant,   // integer sums or products, then a requantisation (OpTraits::requant)
  kForms,     // one of several kinds of arithmetic, which an enum of its options names
  kEdge,      // floats to integers, or back
  kFloat,     // float to float
};

// The order of dimensions in which the operator takes tensors.
enum class LayoutRule : uint8_t {
  kAny,     // any order, if inputs, output and the axes in its options are permuted alike
  kImages,  // [n, h, w, c], or [n, d, h, w, c]
  kRows,    // works along the last axis
  kOwn,     // its options or operands say what each dimension is
};

// The rule that matches operands of different shapes.
enum class Broadcasting : uint8_t {
  kNone,
  kElements,    // inputs 0 and 1 as in numpy, element by element
  kMatrices,    // inputs 0 and 1 in all but their last two dimensions, as in numpy
  kByFunction,  // kElements for some functions of its options, kNone for others
};

// The inputs of an operator that are constants, and their form.
enum class ConstantRule : uint8_t {
  kOperands,  // any operand may be one: row-major, in the operator's layout
  kWeights,   // input 1, packed, and its bias as input 2
  kFixed,     // parameters in a form of their own, or none
};

// A ConstantRule, and what a file's options hold beside the inputs: a table, of which they name the buffer and
// which the converter's graph keeps as the input behind the operands; or values for each channel.
class Constants {
 public:
  constexpr Constants(ConstantRule rule) : rule_(rule) {}  // NOLINT(google-explicit-constructor)
  // Makes the fact that the field `table` of Options names a table.
  template <class Options>
  static constexpr Constants table() {
    Constants constants(ConstantRule::kFixed);
    constants.table_ = [](const fb::Operator& op) { return op.options_as<Options>()->table(); };
    return constants;
  }
  // Makes the fact that input 1 is weights, of which the field `weight_sum` of Options has each channel's sum.
  template <class Options>
  static constexpr Constants weights() {
    Constants constants(ConstantRule::kWeights);
    constants.channel_values_ = [](const fb::Operator& op) -> size_t {
      const auto* sums = op.options_as<Options>()->weight_sum();
      return sums != nullptr ? sums->size() : 0;
    };
    return constants;
  }
  // Makes the fact that the field `scale` of Options has values for each channel.
  template <class Options>
  static constexpr Constants scales() {
    Constants constants(ConstantRule::kFixed);
    constants.channel_values_ = [](const fb::Operator& op) -> size_t {
      const auto* scale = op.options_as<Options>()->scale();
      return scale != nullptr ? scale->size() : 0;
    };
    return constants;
  }
  constexpr bool are(ConstantRule rule) const { return table_ == nullptr && rule_ == rule; }
  constexpr bool are_a_table() const { return table_ != nullptr; }
  // Returns the buffer that the operator's table stands in; 0 where it has none.
  uint32_t table_of(const fb::Operator& op) const { return table_ != nullptr ? table_(op) : 0; }
  // Returns for how many channels the options have values, those of a requantisation (OpTraits::requant) left
  // aside; 0 where there are none.
  size_t channel_values(const fb::Operator& op) const {
    return channel_values_ != nullptr ? channel_values_(op) : 0;
  }

 private:
  ConstantRule rule_;
  uint32_t (*table_)(const fb::Operator& op) = nullptr;
  size_t (*channel_values_)(const fb::Operator& op) = nullptr;
};

// Operands as batch rules see them.
struct BatchOperands {
  struct Input {
    Shape shape;
    bool is_constant;
  };
  ScratchVector<Input> inputs;
  Shape output;  // the first
};

// Returns whether index i of dimension 0 of every output comes from the indices i of dimension 0 of
// the inputs that are not constants, and in the same way for every i: images are apart, a batch is
// so many runs of one image. REQUIRES: all these, and the outputs, have the batch as their
// dimension 0.
using ApartFn = bool (*)(const fb::Operator& op, const BatchOperands& operands);

// A field that has to be given.
template <class T>
class Required {
 public:
  constexpr Required(T value) : value_(value) {}   // NOLINT(google-explicit-constructor)
  constexpr operator T() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  T value_;
};

struct OpTraits {
  Required<Arithmetic> arithmetic;
  Required<int (*)(const fb::Operator& op)> level;
  Required<const fb::Requant* (*)(const fb::Operator& op)> requant;  // null: it has none
  Required<ApartFn> keeps_images_apart;
  Required<LayoutRule> layout;
  Required<Broadcasting> broadcasting;
  Constants constants;  // has to be given: it has no default
  // The operator accepts inputs without elements, where a size is 0. Its output then has no elements either, except that of a Concat,
  // of which other parts may have some.
  bool takes_empty = false;
};

// Returns the traits in the operator's OpDef. REQUIRES: find_op() of op.h knows the type.
const OpTraits& traits_of(fb::OpOptions type);

inline int arithmetic_level(const fb::Operator& op) {
  return traits_of(op.options_type()).level(op);
}

// The levels of operators, by what they compute. An operator with a rule of its own has the rule in its file.

inline int integer_level(const fb::Operator&) { return 0; }
inline int edge_level(const fb::Operator&) { return kEdgeLevel; }

inline const fb::Requant* no_requant(const fb::Operator&) { return nullptr; }
template <class Options>
const fb::Requant* requant_of(const fb::Operator& op) {
  return op.options_as<Options>()->requant();
}
// 1 with a requantisation in float32.
template <class Options>
int level_of_requant(const fb::Operator& op) {
  const fb::Requant* requant = requant_of<Options>(op);
  return requant != nullptr && requant->kind() == fb::RequantKind::F32 ? 1 : 0;
}

// Returns true: for operators whose images, states or elements along dimension 0 neither depend on
// each other nor on their position.
bool always_apart(const fb::Operator& op, const BatchOperands& operands);
// Returns false: for operators with statistics, or parameters, of the whole batch.
bool never_apart(const fb::Operator& op, const BatchOperands& operands);
// Works along the last axis, which is not dimension 0.
bool rows_apart(const fb::Operator& op, const BatchOperands& operands);
// Broadcasts inputs 0 and 1: what is no constant has the output's rank, and constants are the same
// for every index of dimension 0.
bool operands_apart(const fb::Operator& op, const BatchOperands& operands);
// Works along, or has parameters for each index of, the options' `axis`, which is not dimension 0.
template <class Options>
bool axis_apart(const fb::Operator& op, const BatchOperands&) {
  return op.options_as<Options>()->axis() != 0;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_TRAITS_H_
