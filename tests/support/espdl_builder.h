// SPDX-License-Identifier: Apache-2.0
// Builds ESP-DL files for tests of the front end, and runs what it makes of them.
#ifndef QRT_TESTS_SUPPORT_ESPDL_BUILDER_H_
#define QRT_TESTS_SUPPORT_ESPDL_BUILDER_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "espdl_generated.h"
#include "tests/support/imported.h"

namespace qrt::testing {

using EspdlType = espdl::TensorDataType;

inline Imported import_espdl_bytes(const Bytes& file, const convert::EspdlOptions& options = {}) {
  return import_file(file.data(), file.size(), [&](const std::string& path, Imported* i) {
    return convert::import_espdl(path, options, &i->graph, &i->report);
  });
}

class EspdlBuilder {
 public:
  espdl::ModelT model;

  // No target: the file does not say for which chip it is.
  explicit EspdlBuilder(const std::string& target = "esp32p4") {
    model.graph = std::make_unique<espdl::GraphT>();
    if (target.empty()) return;
    auto entry = std::make_unique<espdl::StringStringEntryT>();
    entry->key = "target";
    entry->value = target;
    model.metadata_props.push_back(std::move(entry));
  }

  // Each gives back the name.
  std::string input(const std::string& name, EspdlType type, std::vector<int64_t> dims,
                    int exponent) {
    model.graph->input.push_back(info(name, type, dims, exponent));
    return name;
  }
  std::string value(const std::string& name, EspdlType type, std::vector<int64_t> dims,
                    int exponent) {
    model.graph->value_info.push_back(info(name, type, dims, exponent));
    return name;
  }
  std::string output(const std::string& name, EspdlType type, std::vector<int64_t> dims,
                     int exponent) {
    model.graph->output.push_back(info(name, type, dims, exponent));
    return name;
  }
  template <class T>
  std::string constant(const std::string& name, EspdlType type, std::vector<int64_t> dims,
                       const std::vector<T>& values, std::vector<int64_t> exponents = {0},
                       const std::string& layout = "UNK") {
    model.graph->initializer.push_back(
        tensor(name, type, std::move(dims), values, std::move(exponents)));
    model.graph->initializer.back()->doc_string = "layout ==> " + layout;
    return name;
  }
  template <class T>
  static std::unique_ptr<espdl::TensorT> tensor(const std::string& name, EspdlType type,
                                                std::vector<int64_t> dims,
                                                const std::vector<T>& values,
                                                std::vector<int64_t> exponents = {0}) {
    auto t = std::make_unique<espdl::TensorT>();
    t->name = name;
    t->data_type = type;
    t->dims = std::move(dims);
    t->exponents = std::move(exponents);
    t->raw_data = to_bytes(values);
    return t;
  }

  espdl::NodeT& op(const std::string& type, std::vector<std::string> inputs,
                   std::vector<std::string> outputs) {
    auto node = std::make_unique<espdl::NodeT>();
    node->op_type = type;
    node->name = type + std::to_string(model.graph->node.size());
    node->input = std::move(inputs);
    node->output = std::move(outputs);
    model.graph->node.push_back(std::move(node));
    return *model.graph->node.back();
  }

  // Returns the flatbuffer behind a header of 16 bytes, or of 12 with the mark EDL1.
  Bytes build(const std::string& mark = "EDL2", uint32_t mode = 0, size_t header = 0) const {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(espdl::Model::Pack(builder, &model));
    if (header == 0) header = mark == "EDL1" ? 12 : 16;
    Bytes file(header, 0);
    memcpy(file.data(), mark.data(), 4);
    memcpy(file.data() + 4, &mode, 4);
    const uint32_t size = builder.GetSize();
    memcpy(file.data() + 8, &size, 4);
    file.insert(file.end(), builder.GetBufferPointer(), builder.GetBufferPointer() + size);
    return file;
  }
  Imported import(const convert::EspdlOptions& options = {}) const {
    return import_espdl_bytes(build(), options);
  }
  std::vector<Bytes> run(const std::vector<Bytes>& inputs,
                         const convert::EspdlOptions& options = {}) const;

 private:
  static std::unique_ptr<espdl::ValueInfoT> info(const std::string& name, EspdlType type,
                                                 const std::vector<int64_t>& dims, int exponent) {
    auto v = std::make_unique<espdl::ValueInfoT>();
    v->name = name;
    v->exponents = {exponent};
    espdl::TensorTypeAndShapeT t;
    t.elem_type = type;
    t.shape = std::make_unique<espdl::TensorShapeT>();
    for (int64_t d : dims) {
      auto dimension = std::make_unique<espdl::DimensionT>();
      dimension->value = std::make_unique<espdl::DimensionValueT>();
      dimension->value->dim_type = espdl::DimensionValueType::VALUE;
      dimension->value->dim_value = d;
      t.shape->dim.push_back(std::move(dimension));
    }
    v->value_info_type = std::make_unique<espdl::TypeInfoT>();
    v->value_info_type->value.Set(std::move(t));
    return v;
  }
};

// --- attributes
inline espdl::AttributeT& attribute(espdl::NodeT& node, const std::string& name,
                                    espdl::AttributeType type) {
  auto a = std::make_unique<espdl::AttributeT>();
  a->name = name;
  a->attr_type = type;
  node.attribute.push_back(std::move(a));
  return *node.attribute.back();
}
inline void set(espdl::NodeT& node, const std::string& name, const char* text) {
  const std::string s = text;
  attribute(node, name, espdl::AttributeType::STRING).s.assign(s.begin(), s.end());
}
inline void set(espdl::NodeT& node, const std::string& name, int64_t value) {
  attribute(node, name, espdl::AttributeType::INT).i = std::make_unique<espdl::AttributeI>(value);
}
inline void set(espdl::NodeT& node, const std::string& name, float value) {
  attribute(node, name, espdl::AttributeType::FLOAT).f = std::make_unique<espdl::AttributeF>(value);
}
inline void set(espdl::NodeT& node, const std::string& name, std::vector<int64_t> values) {
  attribute(node, name, espdl::AttributeType::INTS).ints = std::move(values);
}

inline std::vector<Bytes> EspdlBuilder::run(const std::vector<Bytes>& inputs,
                                            const convert::EspdlOptions& options) const {
  return run_imported(model, import(options), inputs);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_ESPDL_BUILDER_H_
