// Evaluates the rules by which fields of an operator's options follow from the sizes of open dimensions.
#ifndef QRT_RUNTIME_SIZES_H_
#define QRT_RUNTIME_SIZES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// Sizes of a model's symbols, by their number in the file. Empty: the values that the file names.
using SymbolSizes = std::vector<int64_t>;

// Evaluates an expression. `inputs` are the shapes of the operator's inputs, of which a tensor's expression
// has none. kInvalidModel where it is malformed, divides by less than 1 or leaves -2^40 to 2^40.
Status evaluate(const fb::Size& size, const SymbolSizes& symbols, const std::vector<Shape>& inputs,
                int64_t* value);

// An operator's fields that follow from sizes, evaluated. Immutable once made.
class SizedFields {
 public:
  // Evaluates all rules of the operator. kInvalidModel where one is malformed, or gives a number that no such
  // field can have. Takes no more than kMaxMapEntries entries of maps and tables.
  static Status make(const fb::Operator& op, const SymbolSizes& symbols,
                     const std::vector<Shape>& inputs, std::shared_ptr<const SizedFields>* fields);

  // Returns the number that a rule gives for a field, or else `stored`.
  int64_t number(fb::SizeField field, uint32_t index, int64_t stored) const;
  // Returns the indices of a Gather's axis of that number, or null where no rule gives them.
  const std::vector<int32_t>* map(uint32_t index) const;

  // The table of one axis of a ResizeLinear; as fb::ResizeAxis.
  struct Table {
    std::vector<int32_t> low, high, low_weight, high_weight;
  };
  // Returns the table of h, w or d (0, 1, 2), or null where no rule gives it.
  const Table* table(uint32_t index) const;

  // Returns the float32 bits of the scale that a MEAN rule gives, or else `stored`.
  uint32_t scale(uint32_t stored) const;

  size_t bytes() const;

 private:
  std::map<std::pair<fb::SizeField, uint32_t>, int64_t> numbers_;
  std::map<uint32_t, std::vector<int32_t>> maps_;
  std::map<uint32_t, Table> tables_;
  uint32_t scale_ = 0;
  bool has_scale_ = false;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SIZES_H_
