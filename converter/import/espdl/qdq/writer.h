// SPDX-License-Identifier: Apache-2.0
// Writes an ESP-DL model down, tensor by tensor and operator by operator, as Espressif's exporter would.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_QDQ_WRITER_H_
#define QRT_CONVERTER_IMPORT_ESPDL_QDQ_WRITER_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "converter/import/espdl/format.h"
#include "espdl_generated.h"

namespace qrt::convert::from_qdq {

using from_espdl::DataType;
using from_espdl::Format;

// Constant values with one exponent, or one for each index of the last dimension.
struct Numbers {
  DataType type = DataType::INT8;
  std::vector<int64_t> dims;
  std::vector<int64_t> values;
  std::vector<int64_t> exponents;
};

class Writer {
 public:
  // `most_bytes`: constants beyond it are left out, see fits().
  explicit Writer(const std::string& name, uint64_t most_bytes);

  // Returns a name like `stem` that no tensor has yet.
  std::string fresh(const std::string& stem);

  void add_input(const std::string& name, const Format& format, const std::vector<int64_t>& dims);
  void add_output(const std::string& name, const Format& format);
  // Adds an operator with one output, a tensor of this format.
  espdl::NodeT& add_node(const std::string& label, const std::string& op,
                         std::vector<std::string> inputs, const std::string& output,
                         const Format& format);
  // Adds another output of the operator.
  void add_result(espdl::NodeT* node, const std::string& name, const Format& format);
  // Each adds a constant and returns its name.
  std::string add_constant(const std::string& stem, const Numbers& numbers);
  std::string add_floats(const std::string& stem, const std::vector<float>& values);
  std::string add_integers(const std::string& stem, const std::vector<int64_t>& values) {
    return add_constant(stem,
                        {DataType::INT64, {static_cast<int64_t>(values.size())}, values, {0}});
  }

  // Returns whether the constants' bytes stay below the limit: a small file may name one constant many times.
  bool fits() const { return bytes_ <= most_bytes_; }
  // The whole file.
  std::vector<uint8_t> file() const;

 private:
  void declare(const std::string& name, const Format& format, const std::vector<int64_t>& dims,
               std::vector<std::unique_ptr<espdl::ValueInfoT>>* infos);

  espdl::ModelT model_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_;  // number of a stem that is tried next
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
};

// --- attributes
void set(espdl::NodeT* node, const std::string& name, int64_t value);
void set(espdl::NodeT* node, const std::string& name, float value);
void set(espdl::NodeT* node, const std::string& name, const std::string& text);
void set(espdl::NodeT* node, const std::string& name, std::vector<int64_t> values);

}  // namespace qrt::convert::from_qdq

#endif  // QRT_CONVERTER_IMPORT_ESPDL_QDQ_WRITER_H_
