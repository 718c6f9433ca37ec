// SPDX-License-Identifier: Apache-2.0
#include "runtime/sizes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/built.h"
#include "runtime/resize_tables.h"
#include "runtime/text.h"

namespace qrt {
namespace {

using ll = long long;

template <class T>
uint32_t length(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? v->size() : 0;
}

float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// REQUIRES: b >= 1.
int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool takes_two(fb::SizeFunction function) { return function > fb::SizeFunction::DIMENSION; }

// Applies a function of two numbers within +-2^40, whose product fits 81 bits.
Status apply(fb::SizeFunction function, int64_t a, int64_t b, int64_t* value) {
  switch (function) {
    case fb::SizeFunction::ADD: *value = a + b; return {};
    case fb::SizeFunction::SUBTRACT: *value = a - b; return {};
    case fb::SizeFunction::MULTIPLY:
      QRT_SIZE_CHECK(!__builtin_mul_overflow(a, b, value), "a size leaves -2^40 to 2^40");
      return {};
    case fb::SizeFunction::DIVIDE:
      QRT_MODEL_CHECK(b >= 1, "a size is divided by %lld, expected at least 1", ll{b});
      *value = floor_divide(a, b);
      return {};
    case fb::SizeFunction::MINIMUM: *value = std::min(a, b); return {};
    case fb::SizeFunction::MAXIMUM: *value = std::max(a, b); return {};
    default: break;
  }
  return error(Code::kInvalidModel, "a size has the function %d, expected 0 to %d",
               static_cast<int>(function), static_cast<int>(fb::SizeFunction::MAX));
}

// Reads what a step pushes that takes nothing from the stack.
Status read(fb::SizeFunction function, int32_t value, const SymbolSizes& symbols,
            const ScratchVector<Shape>& inputs, int64_t* result) {
  constexpr int32_t kDimensions = 8;
  if (function == fb::SizeFunction::CONSTANT) {
    *result = value;
  } else if (function == fb::SizeFunction::SYMBOL) {
    QRT_MODEL_CHECK(value >= 0 && static_cast<size_t>(value) < symbols.size(),
                    "a size names symbol %d, but there are %zu", value, symbols.size());
    *result = symbols[static_cast<size_t>(value)];
  } else {
    const size_t input = static_cast<size_t>(value / kDimensions);
    QRT_MODEL_CHECK(value >= 0 && input < inputs.size(),
                    "a size names a dimension of input %d, but there are %zu inputs",
                    value / kDimensions, inputs.size());
    QRT_MODEL_CHECK(value % kDimensions < inputs[input].rank(),
                    "a size names dimension %d of input %zu, which has %d", value % kDimensions,
                    input, inputs[input].rank());
    *result = inputs[input][value % kDimensions];
  }
  return {};
}

}  // namespace

uint32_t symbol_count(const fb::Model& model) { return length(model.symbols()); }

SymbolSizes default_sizes(const fb::Model& model) {
  SymbolSizes sizes;
  for (uint32_t i = 0; i < symbol_count(model); ++i)
    sizes.push_back(model.symbols()->Get(i)->value());
  return sizes;
}

Status check_size(const fb::Symbol& s, int64_t size) {
  if (size >= s.least() && size <= s.most() && (size - s.least()) % s.step() == 0) return {};
  const std::string name = escaped(s.name()->string_view(), 100);
  if (size < s.least() || size > s.most())
    return error(Code::kOutOfRange, "the size of '%s' is %lld, expected %u to %u", name.c_str(),
                 ll{size}, s.least(), s.most());
  return error(Code::kOutOfRange, "the size of '%s' is %lld, expected %u to %u in steps of %u",
               name.c_str(), ll{size}, s.least(), s.most(), s.step());
}

Status evaluate(const fb::Size& size, const SymbolSizes& symbols,
                const ScratchVector<Shape>& inputs, int64_t* value) {
  if (!built::kOpenDims) return {};
  const uint32_t steps = length(size.functions());
  QRT_MODEL_CHECK(steps >= 1 && steps <= kMaxSizeSteps, "a size has %u steps, expected 1 to %u",
                  steps, kMaxSizeSteps);
  QRT_MODEL_CHECK(length(size.values()) == steps, "a size has %u functions and %u values", steps,
                  length(size.values()));
  int64_t stack[kMaxSizeSteps];
  size_t depth = 0;
  for (uint32_t i = 0; i < steps; ++i) {
    const fb::SizeFunction function = size.functions()->Get(i);
    int64_t result = 0;
    if (takes_two(function)) {
      QRT_MODEL_CHECK(depth >= 2, "step %u of a size takes two numbers where there are %zu", i,
                      depth);
      depth -= 2;
      QRT_TRY(apply(function, stack[depth], stack[depth + 1], &result));
    } else {
      QRT_TRY(read(function, size.values()->Get(i), symbols, inputs, &result));
    }
    QRT_SIZE_CHECK(result >= -kMaxSizeNumber && result <= kMaxSizeNumber,
                   "a size leaves -2^40 to 2^40");
    stack[depth++] = result;
  }
  QRT_MODEL_CHECK(depth == 1, "a size leaves %zu numbers, expected one", depth);
  *value = stack[0];
  return {};
}

int64_t symbol_of(const fb::Size& size) {
  const bool is_symbol = length(size.functions()) == 1 && length(size.values()) == 1 &&
                         size.functions()->Get(0) == fb::SizeFunction::SYMBOL;
  return is_symbol ? size.values()->Get(0) : -1;
}

std::string to_string(const fb::Size& size, const fb::Model& model) {
  if (!built::kOpenDims) return "";
  struct Term {
    std::string text;
    int binding;  // 0: a sum, 1: a product, 2: binds strongest
  };
  std::vector<Term> stack;
  const auto within = [](const Term& term, int binding) {
    return term.binding >= binding ? term.text : "(" + term.text + ")";
  };
  for (uint32_t i = 0; i < size.functions()->size(); ++i) {
    const int32_t value = size.values()->Get(i);
    const fb::SizeFunction function = size.functions()->Get(i);
    if (function == fb::SizeFunction::SYMBOL) {
      const auto* symbol = model.symbols()->Get(static_cast<uint32_t>(value));
      stack.push_back({escaped(symbol->name()->string_view(), 100), 2});
      continue;
    }
    if (!takes_two(function)) {
      stack.push_back({std::to_string(value), 2});
      continue;
    }
    const Term b = std::move(stack.back());
    stack.pop_back();
    const Term a = std::move(stack.back());
    stack.pop_back();
    switch (function) {
      case fb::SizeFunction::ADD: stack.push_back({a.text + " + " + b.text, 0}); break;
      case fb::SizeFunction::SUBTRACT: stack.push_back({a.text + " - " + within(b, 1), 0}); break;
      case fb::SizeFunction::MULTIPLY:
        stack.push_back({within(a, 1) + " * " + within(b, 2), 1});
        break;
      case fb::SizeFunction::DIVIDE:
        stack.push_back({within(a, 1) + " / " + within(b, 2), 1});
        break;
      case fb::SizeFunction::MINIMUM:
        stack.push_back({"min(" + a.text + ", " + b.text + ")", 2});
        break;
      default: stack.push_back({"max(" + a.text + ", " + b.text + ")", 2}); break;
    }
  }
  return stack.back().text;
}

// Evaluates the rules of one operator.
class SizedFields::Maker {
 public:
  Maker(const fb::Operator& op, const SymbolSizes& symbols, const ScratchVector<Shape>& inputs,
        uint64_t most_entries, MemoryBudget* memory, SizedFields* fields)
      : op_(op),
        symbols_(symbols),
        inputs_(inputs),
        most_entries_(std::min(most_entries, kMaxMapEntries)),
        memory_(memory),
        fields_(*fields) {}

  Status run() {
    const fb::SizeRule* previous = nullptr;
    for (const fb::SizeRule* rule : *op_.sizes()) {
      const bool ascends =
          previous == nullptr || previous->field() < rule->field() ||
          (previous->field() == rule->field() && previous->index() < rule->index());
      Status status = ascends ? make_field(*rule)
                              : error(Code::kInvalidModel,
                                      "it does not stand in ascending order of field and index");
      if (!status.ok()) {
        const char* name = fb::EnumNameSizeField(rule->field());
        return std::move(status).at(std::string("the rule for ") +
                                    (name[0] != '\0' ? name : "an unknown field") + " " +
                                    std::to_string(rule->index()));
      }
      previous = rule;
    }
    return {};
  }

 private:
  Status make_field(const fb::SizeRule& rule) {
    switch (rule.field()) {
      case fb::SizeField::SHAPE: return make_shape(rule);
      case fb::SizeField::MAP: return make_map(rule);
      case fb::SizeField::RESIZE: return make_table(rule);
      case fb::SizeField::MEAN: return make_mean(rule);
      case fb::SizeField::PAD_TOP:
      case fb::SizeField::PAD_LEFT:
      case fb::SizeField::PAD_BOTTOM:
      case fb::SizeField::PAD_RIGHT:
      case fb::SizeField::KERNEL_H:
      case fb::SizeField::KERNEL_W: return make_window(rule);
      case fb::SizeField::TRIPS:
        if (op_.options_type() != fb::OpOptions::LoopEnd || rule.index() != 0)
          return no_such_field();
        return set_number(rule, 0, INT32_MAX);
    }
    return error(Code::kInvalidModel, "there is no field %d", static_cast<int>(rule.field()));
  }

  Status no_such_field() const {
    return error(Code::kInvalidModel, "this operator has no such field");
  }

  // `beyond`: the code for more than `most`.
  Status evaluate_size(const fb::Size* size, int64_t least, int64_t most, int64_t* value,
                       Code beyond = Code::kOutOfMemory) const {
    QRT_MODEL_CHECK(size != nullptr, "a size is missing");
    QRT_TRY(evaluate(*size, symbols_, inputs_, value));
    if (*value >= least && *value <= most) return {};
    return error(*value > most ? beyond : Code::kInvalidModel,
                 "it gives %lld, expected %lld to %lld", ll{*value}, ll{least}, ll{most});
  }

  Status set_number(const fb::SizeRule& rule, int64_t least, int64_t most,
                    Code beyond = Code::kOutOfMemory) {
    int64_t value;
    QRT_TRY(evaluate_size(rule.size(), least, most, &value, beyond));
    fields_.numbers_.push_back({rule.field(), rule.index(), value});
    return {};
  }

  Status make_shape(const fb::SizeRule& rule) {
    const auto* o = op_.options_as_Reshape();
    if (o == nullptr || rule.index() >= length(o->shape())) return no_such_field();
    return set_number(rule, -1, INT32_MAX);
  }

  Status make_window(const fb::SizeRule& rule) {
    const fb::OpOptions type = op_.options_type();
    const bool is_pool = type == fb::OpOptions::MaxPool2D || type == fb::OpOptions::AveragePool2D;
    const bool is_kernel =
        rule.field() == fb::SizeField::KERNEL_H || rule.field() == fb::SizeField::KERNEL_W;
    const bool has_field =
        is_pool ||
        (!is_kernel && (type == fb::OpOptions::Conv2D || type == fb::OpOptions::DepthwiseConv2D));
    if (!has_field || rule.index() != 0) return no_such_field();
    if (is_kernel) return set_number(rule, 0, INT32_MAX);
    return set_number(rule, 0, UINT16_MAX, Code::kInvalidModel);
  }

  // Counts entries of so many numbers before they are made.
  Status take(int64_t count, uint64_t numbers) {
    QRT_MODEL_CHECK(count >= 0, "it has %lld entries", ll{count});
    QRT_SIZE_CHECK(static_cast<uint64_t>(count) <= most_entries_,
                   "its maps and tables have more entries than the %llu that are allowed",
                   static_cast<unsigned long long>(most_entries_));
    most_entries_ -= static_cast<uint64_t>(count);
    if (memory_ == nullptr) return {};
    return memory_->take(static_cast<uint64_t>(count) * numbers * sizeof(int32_t));
  }

  // Reads the axis that a rule resizes.
  Status read_axis(const fb::SizeRule& rule, int dimension, ResizedAxis* axis) {
    QRT_MODEL_CHECK(inputs_.size() == 1 && dimension >= 0 && dimension < inputs_[0].rank(),
                    "there is no dimension %d to resize", dimension);
    // An axis whose indices are exact in float32.
    constexpr int64_t kLongestAxis = int64_t{1} << 22;
    axis->in = inputs_[0][dimension];
    QRT_MODEL_CHECK(axis->in >= 1, "it resizes an axis of %lld", ll{axis->in});
    QRT_SIZE_CHECK(axis->in <= kLongestAxis, "it resizes an axis of %lld, expected 1 to %lld",
                   ll{axis->in}, ll{kLongestAxis});
    QRT_TRY(evaluate_size(rule.size(), 1, kLongestAxis, &axis->out));
    QRT_TRY(take(axis->out, rule.field() == fb::SizeField::RESIZE ? 4 : 1));
    const fb::ResizeRule& r = *rule.resize();
    QRT_MODEL_CHECK(r.coordinates() <= fb::ResizeCoordinates::MAX,
                    "coordinates is %d, expected 0 to %d", static_cast<int>(r.coordinates()),
                    static_cast<int>(fb::ResizeCoordinates::MAX));
    QRT_MODEL_CHECK(r.rounding() <= fb::ResizeRounding::MAX, "rounding is %d, expected 0 to %d",
                    static_cast<int>(r.rounding()), static_cast<int>(fb::ResizeRounding::MAX));
    axis->scale = r.scale() != 0 ? float_of_bits(r.scale()) : resize_scale(axis->in, axis->out);
    QRT_MODEL_CHECK(std::isfinite(axis->scale) && axis->scale > 0,
                    "scale is %g, expected finite and above 0", static_cast<double>(axis->scale));
    return {};
  }

  Status make_map(const fb::SizeRule& rule) {
    const auto* o = op_.options_as_Gather();
    if (o == nullptr || rule.index() >= length(o->axes())) return no_such_field();
    PlanVector<int32_t> map;
    if (rule.resize() == nullptr) {
      const int axis = o->axes()->Get(rule.index())->axis();
      QRT_MODEL_CHECK(!inputs_.empty() && axis < inputs_[0].rank(), "it is of axis %d", axis);
      QRT_TRY(add_index_pieces(rule, inputs_[0][axis], &map));
    } else {
      ResizedAxis axis;
      QRT_TRY(read_axis(rule, o->axes()->Get(rule.index())->axis(), &axis));
      map.reserve(static_cast<size_t>(axis.out));
      for (int64_t i = 0; i < axis.out; ++i)
        map.push_back(nearest_index(rule.resize()->rounding(), axis,
                                    resize_coordinate(rule.resize()->coordinates(), axis, i)));
    }
    fields_.maps_.push_back({rule.index(), std::move(map)});
    return {};
  }

  // `size`: the length of the axis that the map reads.
  Status add_index_pieces(const fb::SizeRule& rule, int64_t size, PlanVector<int32_t>* map) {
    QRT_MODEL_CHECK(length(rule.pieces()) != 0, "it has neither pieces nor resize");
    for (const fb::IndexPiece* piece : *rule.pieces()) {
      int64_t count, begin = -1, rows = 1;
      QRT_TRY(evaluate_size(piece->count(), 0, kMaxSizeNumber, &count));
      if (piece->rows() != nullptr)
        QRT_TRY(evaluate_size(piece->rows(), 0, int64_t{kMaxMapEntries}, &rows));
      QRT_TRY(take(count * rows, 1));
      if (!piece->is_fill())
        QRT_TRY(evaluate_size(piece->begin(), -kMaxSizeNumber, kMaxSizeNumber, &begin));
      const int64_t step = piece->is_fill() ? 0 : piece->step();
      const int64_t row_step = piece->is_fill() ? 0 : piece->row_step();
      const int64_t divisor = piece->is_fill() ? 1 : piece->divisor();
      QRT_MODEL_CHECK(divisor >= 1, "divisor is %lld, expected at least 1", ll{divisor});
      map->reserve(map->size() + static_cast<size_t>(count * rows));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < count; ++i) {
          int64_t index = floor_divide(begin + r * row_step + i * step, divisor);
          if (piece->is_fill() || (piece->is_clipped() && (index < 0 || index >= size))) index = -1;
          QRT_MODEL_CHECK(index >= 0 || piece->is_fill() || piece->is_clipped(),
                          "it gives the index %lld", ll{index});
          QRT_MODEL_CHECK(index <= INT32_MAX, "it gives the index %lld", ll{index});
          map->push_back(static_cast<int32_t>(index));
        }
    }
    return {};
  }

  Status make_table(const fb::SizeRule& rule) {
    const auto* o = op_.options_as_ResizeLinear();
    const bool is_volume = o != nullptr && o->d() != nullptr;
    if (o == nullptr || rule.index() > 2 || (rule.index() == 2 && !is_volume))
      return no_such_field();
    QRT_MODEL_CHECK(rule.resize() != nullptr, "it has no resize");
    const int h = is_volume ? 2 : 1;
    const int dimensions[] = {h, h + 1, 1};
    ResizedAxis axis;
    QRT_TRY(read_axis(rule, dimensions[rule.index()], &axis));
    Table table;
    for (auto* v : {&table.low, &table.high, &table.low_weight, &table.high_weight})
      v->reserve(static_cast<size_t>(axis.out));
    for (int64_t i = 0; i < axis.out; ++i) {
      const LinearTap tap =
          linear_tap(o->kind(), axis, resize_coordinate(rule.resize()->coordinates(), axis, i));
      table.low.push_back(tap.low);
      table.high.push_back(tap.high);
      table.low_weight.push_back(tap.low_weight);
      table.high_weight.push_back(tap.high_weight);
    }
    fields_.tables_.push_back({rule.index(), std::move(table)});
    return {};
  }

  Status make_mean(const fb::SizeRule& rule) {
    const auto* o = op_.options_as_GlobalAveragePool2D();
    const bool has_scale = o != nullptr && o->requant() != nullptr &&
                           o->requant()->kind() == fb::RequantKind::F32 &&
                           length(o->requant()->scale()) == 1;
    if (!has_scale || rule.index() != 0) return no_such_field();
    const float numerator = float_of_bits(rule.numerator());
    const float denominator = float_of_bits(rule.denominator());
    for (const float number : {numerator, denominator})
      QRT_MODEL_CHECK(std::isnormal(number) && number > 0,
                      "numerator or denominator is %g, expected a normal number above 0",
                      static_cast<double>(number));
    int64_t count;
    QRT_TRY(evaluate_size(rule.size(), 1, kMaxSizeNumber, &count));
    const float divisor = denominator * static_cast<float>(count);
    const float scale = numerator / divisor;
    QRT_MODEL_CHECK(std::isnormal(scale), "it gives the scale %g, expected a normal number",
                    static_cast<double>(scale));
    fields_.scale_ = bits_of_float(scale);
    fields_.has_scale_ = true;
    return {};
  }

  const fb::Operator& op_;
  const SymbolSizes& symbols_;
  const ScratchVector<Shape>& inputs_;
  uint64_t most_entries_;
  MemoryBudget* const memory_;
  SizedFields& fields_;
};

Status SizedFields::make(const fb::Operator& op, const SymbolSizes& symbols,
                         const ScratchVector<Shape>& inputs,
                         std::shared_ptr<const SizedFields>* fields, uint64_t most_entries,
                         MemoryBudget* memory) {
  if (!built::kOpenDims) return {};  // verify() has refused the model
  auto made = make_planned<SizedFields>();
  const size_t before = memory != nullptr ? memory->taken() : 0;
  QRT_TRY(Maker(op, symbols, inputs, most_entries, memory, made.get()).run());
  if (memory != nullptr) {
    const size_t taken = memory->taken() - before, bytes = made->bytes();
    if (bytes > taken) QRT_TRY(memory->take(bytes - taken));
    if (taken > bytes) memory->give_back(taken - bytes);
  }
  *fields = std::move(made);
  return {};
}

int64_t SizedFields::number(fb::SizeField field, uint32_t index, int64_t stored) const {
  for (const Number& number : numbers_)
    if (number.field == field && number.index == index) return number.value;
  return stored;
}

const PlanVector<int32_t>* SizedFields::map(uint32_t index) const {
  for (const Map& map : maps_)
    if (map.index == index) return &map.entries;
  return nullptr;
}

const SizedFields::Table* SizedFields::table(uint32_t index) const {
  for (const IndexedTable& table : tables_)
    if (table.index == index) return &table.table;
  return nullptr;
}

uint32_t SizedFields::scale(uint32_t stored) const { return has_scale_ ? scale_ : stored; }

size_t SizedFields::bytes() const {
  size_t bytes = sizeof *this + numbers_.capacity() * sizeof(Number) +
                 maps_.capacity() * sizeof(Map) + tables_.capacity() * sizeof(IndexedTable);
  for (const Map& map : maps_) bytes += map.entries.capacity() * sizeof(int32_t);
  for (const IndexedTable& table : tables_)
    bytes += 4 * table.table.low.capacity() * sizeof(int32_t);
  return bytes;
}

namespace {

// Returns whether the numbers are those of the file.
bool are_equal(const PlanVector<int32_t>& made, const flatbuffers::Vector<int32_t>* stored) {
  return made.size() == length(stored) &&
         (made.empty() || memcmp(made.data(), stored->Data(), made.size() * sizeof(int32_t)) == 0);
}

template <class Options>
int64_t stored_pad(const Options& o, fb::SizeField field) {
  switch (field) {
    case fb::SizeField::PAD_TOP: return o.pad_top();
    case fb::SizeField::PAD_LEFT: return o.pad_left();
    case fb::SizeField::PAD_BOTTOM: return o.pad_bottom();
    default: return o.pad_right();
  }
}

template <class Options>
int64_t stored_window(const Options& o, fb::SizeField field) {
  if (field == fb::SizeField::KERNEL_H) return o.kernel_h();
  if (field == fb::SizeField::KERNEL_W) return o.kernel_w();
  return stored_pad(o, field);
}

// Returns the number that stands in the options. REQUIRES: the operator has the field.
int64_t stored_number(const fb::Operator& op, fb::SizeField field, uint32_t index) {
  switch (op.options_type()) {
    case fb::OpOptions::Reshape: return op.options_as_Reshape()->shape()->Get(index);
    case fb::OpOptions::Conv2D: return stored_pad(*op.options_as_Conv2D(), field);
    case fb::OpOptions::DepthwiseConv2D: return stored_pad(*op.options_as_DepthwiseConv2D(), field);
    case fb::OpOptions::MaxPool2D: return stored_window(*op.options_as_MaxPool2D(), field);
    case fb::OpOptions::LoopEnd: return op.options_as_LoopEnd()->trips();
    default: return stored_window(*op.options_as_AveragePool2D(), field);
  }
}

const fb::ResizeAxis* stored_axis(const fb::ResizeLinearOptions& o, uint32_t index) {
  return index == 0 ? o.h() : index == 1 ? o.w() : o.d();
}

bool reproduces(const fb::Operator& op, const fb::SizeRule& rule, const SizedFields& fields) {
  switch (rule.field()) {
    case fb::SizeField::MAP:
      return are_equal(*fields.map(rule.index()),
                       op.options_as_Gather()->axes()->Get(rule.index())->index());
    case fb::SizeField::RESIZE: {
      const fb::ResizeAxis* axis = stored_axis(*op.options_as_ResizeLinear(), rule.index());
      const SizedFields::Table& table = *fields.table(rule.index());
      return axis != nullptr && are_equal(table.low, axis->low()) &&
             are_equal(table.high, axis->high()) &&
             are_equal(table.low_weight, axis->low_weight()) &&
             are_equal(table.high_weight, axis->high_weight());
    }
    case fb::SizeField::MEAN:
      return fields.scale(0) == op.options_as_GlobalAveragePool2D()->requant()->scale()->Get(0);
    default: {
      const int64_t stored = stored_number(op, rule.field(), rule.index());
      return fields.number(rule.field(), rule.index(), stored) == stored;
    }
  }
}

}  // namespace

Status check_fields(const fb::Operator& op, const SizedFields& fields) {
  if (!built::kOpenDims) return {};
  for (const fb::SizeRule* rule : *op.sizes())
    QRT_MODEL_CHECK(reproduces(op, *rule, fields),
                    "the rule for %s %u does not give what stands in the options",
                    fb::EnumNameSizeField(rule->field()), rule->index());
  return {};
}

uint64_t stored_entries(const fb::Operator& op) {
  uint64_t entries = 0;
  if (const auto* gather = op.options_as_Gather(); gather != nullptr && gather->axes() != nullptr)
    for (const fb::GatherAxis* axis : *gather->axes()) entries += length(axis->index());
  if (const auto* resize = op.options_as_ResizeLinear())
    for (const fb::ResizeAxis* axis : {resize->h(), resize->w(), resize->d()})
      if (axis != nullptr) entries += length(axis->low());
  return entries;
}

}  // namespace qrt
