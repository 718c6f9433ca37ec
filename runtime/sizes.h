// SPDX-License-Identifier: Apache-2.0
// Open dimensions: the sizes that a model's symbols may take, and the rules by which fields of an operator's
// options follow from them.
#ifndef QRT_RUNTIME_SIZES_H_
#define QRT_RUNTIME_SIZES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "qrt_model_generated.h"
#include "runtime/memory_budget.h"
#include "runtime/plan_memory.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// Limits on symbols and rules: generous for real models; they bound the work that a crafted file can cause.
constexpr uint32_t kMaxSymbols = 64;
constexpr uint32_t kMaxSizeSteps = 64;
constexpr int64_t kMaxSizeNumber = int64_t{1} << 40;
// Entries of the maps and tables of one operator.
constexpr uint64_t kMaxMapEntries = uint64_t{1} << 22;

// Sizes of a model's symbols, by their number in the file. Empty: the values that the file names.
class SymbolSizes {
 public:
  SymbolSizes() = default;
  SymbolSizes(std::initializer_list<int64_t> sizes) {
    for (const int64_t size : sizes) push_back(size);
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return sizes_[i]; }
  int64_t& operator[](size_t i) { return sizes_[i]; }
  // REQUIRES: size() < kMaxSymbols.
  void push_back(int64_t size) { sizes_[size_++] = size; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + size_; }

  friend bool operator==(const SymbolSizes& a, const SymbolSizes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator!=(const SymbolSizes& a, const SymbolSizes& b) { return !(a == b); }

 private:
  std::array<int64_t, kMaxSymbols> sizes_{};
  uint32_t size_ = 0;
};

// Returns the number of a model's symbols.
uint32_t symbol_count(const fb::Model& model);
// Returns the values that the file names, one for each symbol.
SymbolSizes default_sizes(const fb::Model& model);
// Checks a size. Fails with kOutOfRange, naming the bounds, where the symbol cannot have it.
Status check_size(const fb::Symbol& symbol, int64_t size);

// Evaluates an expression. `inputs` are the shapes of the operator's inputs, of which a tensor's expression
// has none. kInvalidModel where it is malformed or divides by less than 1, kOutOfMemory where it leaves -2^40 to 2^40.
Status evaluate(const fb::Size& size, const SymbolSizes& symbols,
                const ScratchVector<Shape>& inputs, int64_t* value);

// Returns the expression as people write it, with the names of the model's symbols: "seq", "(w + 1) / 2".
// REQUIRES: evaluate() succeeded without inputs.
std::string to_string(const fb::Size& size, const fb::Model& model);

// Returns the number of the symbol that the expression is, or -1 where it is anything else.
int64_t symbol_of(const fb::Size& size);

// An operator's fields that follow from sizes, evaluated. Immutable once made.
class SizedFields {
 public:
  // Evaluates all rules of the operator. kInvalidModel where one is malformed, or gives a number that no such
  // field can have; kOutOfMemory for one that is too large, as for memory. Makes at most `most_entries` entries of maps and
  // tables. `memory` pays for all, before it is made, unless it is null.
  static Status make(const fb::Operator& op, const SymbolSizes& symbols,
                     const ScratchVector<Shape>& inputs, std::shared_ptr<const SizedFields>* fields,
                     uint64_t most_entries = kMaxMapEntries, MemoryBudget* memory = nullptr);

  // Returns the number that a rule gives for a field, or else `stored`.
  int64_t number(fb::SizeField field, uint32_t index, int64_t stored) const;
  // Returns the indices of a Gather's axis of that number, or null where no rule gives them.
  const PlanVector<int32_t>* map(uint32_t index) const;

  // The table of one axis of a ResizeLinear; as fb::ResizeAxis.
  struct Table {
    PlanVector<int32_t> low, high, low_weight, high_weight;
  };
  // Returns the table of h, w or d (0, 1, 2), or null where no rule gives it.
  const Table* table(uint32_t index) const;

  // Returns the float32 bits of the scale that a MEAN rule gives, or else `stored`.
  uint32_t scale(uint32_t stored) const;

  size_t bytes() const;

 private:
  class Maker;

  struct Number {
    fb::SizeField field;
    uint32_t index;
    int64_t value;
  };
  struct Map {
    uint32_t index;
    PlanVector<int32_t> entries;
  };
  struct IndexedTable {
    uint32_t index;
    Table table;
  };
  PlanVector<Number> numbers_;
  PlanVector<Map> maps_;
  PlanVector<IndexedTable> tables_;
  uint32_t scale_ = 0;
  bool has_scale_ = false;
};

// Checks an operator's size rules: at sizes for which they gave `fields`, they must give exactly
// what stands in its options, else kInvalidModel. REQUIRES: make() gave the fields for the operator.
Status check_fields(const fb::Operator& op, const SizedFields& fields);

// Returns how many entries of maps and tables stand in the operator's options.
uint64_t stored_entries(const fb::Operator& op);

}  // namespace qrt

#endif  // QRT_RUNTIME_SIZES_H_
