// SPDX-License-Identifier: Apache-2.0
// Names that are given once.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_NAMES_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qrt::quantize {

class Names {
 public:
  void insert(const std::string& name) { taken_.insert(name); }
  // Returns `wish` or, where that is taken, the first free name of wish_`first`, wish_`first + 1` ...
  std::string take(const std::string& wish, int first) {
    if (taken_.insert(wish).second) return wish;
    for (int& number = next_.emplace(wish, first).first->second;; ++number)
      if (std::string name = wish + "_" + std::to_string(number); taken_.insert(name).second)
        return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  // Name asked for -> next number to try; smaller ones are taken.
  std::unordered_map<std::string, int> next_;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_NAMES_H_
