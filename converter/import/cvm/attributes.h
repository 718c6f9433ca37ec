// SPDX-License-Identifier: Apache-2.0
// The values of an operator's attributes: text in the file, typed here. Every error names the
// attribute, what stands there and what is accepted.
#ifndef QRT_CONVERTER_IMPORT_CVM_ATTRIBUTES_H_
#define QRT_CONVERTER_IMPORT_CVM_ATTRIBUTES_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "converter/import/cvm/model.h"

namespace qrt::convert::from_cvm {

class Attributes {
 public:
  explicit Attributes(const AttributeMap& values) : values_(values) {}

  // Checks that every attribute is one of these, or has a name of the form __x__.
  Status check_names(std::initializer_list<const char*> known) const;
  bool has(const char* name) const { return values_.count(name) != 0; }

  // Read an attribute. A missing one leaves *value as it is; the required_ forms fail instead.
  Status integer(const char* name, int64_t lo, int64_t hi, int64_t* value) const;
  Status required_integer(const char* name, int64_t lo, int64_t hi, int64_t* value) const;
  Status boolean(const char* name, bool* value) const;
  // "None" leaves *value empty.
  Status optional_integer(const char* name, std::optional<int64_t>* value) const;
  // lo <= every value <= hi.
  Status tuple(const char* name, int64_t lo, int64_t hi, std::vector<int64_t>* values) const;
  Status required(const char* name) const;
  // One of these words.
  Status word(const char* name, std::initializer_list<const char*> accepted) const;

 private:
  const AttributeMap& values_;
};

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_ATTRIBUTES_H_
