// SPDX-License-Identifier: Apache-2.0
// The two files of an MRT/CVM model while they are made: a graph of integer operators, each of one
// output, and the integers of its parameters. The meaning of the operators: import/cvm.
#ifndef QRT_CONVERTER_QUANTIZE_CVM_SYMBOL_H_
#define QRT_CONVERTER_QUANTIZE_CVM_SYMBOL_H_

#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Values lie within +-(2^(precision-1) - 1).
struct CvmEntry {
  Dims shape;
  int precision = 0;
};

class CvmSymbol {
 public:
  using Attributes = std::map<std::string, std::string>;

  // Each adds an entry and returns its number. The input has the one name that a CVM runtime feeds.
  int add_input(const Dims& shape, int precision);
  int add_parameter(const Dims& shape, int precision, const std::vector<int32_t>& values);
  // Adds an operator. `precision`: as the runtime infers it.
  int add(const std::string& function, const std::string& name, const std::vector<int>& inputs,
          const Dims& shape, int precision, const Attributes& attributes = {});

  const CvmEntry& entry(int i) const { return entries_[static_cast<size_t>(i)]; }

  std::string symbol(const std::vector<int>& heads) const;  // JSON text
  std::string params() const;

 private:
  struct Node {
    std::string name, function;  // no function: a variable
    std::vector<int> inputs;
    Attributes attributes;
  };
  struct Parameter {
    std::string name;
    Dims shape;
    bool is_byte;
    std::vector<int32_t> values;
  };
  int add_node(Node node, const Dims& shape, int precision);

  std::vector<Node> nodes_;
  std::vector<CvmEntry> entries_;
  std::vector<Parameter> parameters_;
};

// "(1, 2)", as attributes write it.
std::string cvm_tuple(const std::vector<int64_t>& values);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_CVM_SYMBOL_H_
