// SPDX-License-Identifier: Apache-2.0
// Resource variables of a TFLite model: tensors that keep their content between runs, known by name
// (VAR_HANDLE). ASSIGN_VARIABLE and READ_VARIABLE change them in the file's order; a subgraph of
// CALL_ONCE gives them their first content.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_RESOURCES_H_
#define QRT_CONVERTER_IMPORT_TFLITE_RESOURCES_H_

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "converter/import/common/growth.h"
#include "converter/import/tflite/model.h"
#include "converter/ir.h"

namespace qrt::convert::from_tflite {

struct Resource {
  std::string name;
  // The type and shape with which it was first read or assigned, or of its first content.
  TensorType type = TensorType::FLOAT32;
  Shape shape;
  bool has_type = false;
  // The initial value of every element, stored; without a subgraph of CALL_ONCE the zero point of
  // the first tensor that is assigned, as in TFLite Micro, or of the type that it is read as.
  int32_t initial = 0;
  bool has_initial = false;
  ValueId variable = kNoValue;  // its content when a run begins; kNoValue: nothing reads that
  ValueId current = kNoValue;   // its content at the operator that is being imported
};

class Resources {
 public:
  // Pointers stay valid.
  Resource* find_or_add(const std::string& container, const std::string& name);
  std::deque<Resource>& all() { return all_; }
  // Takes the first content from a subgraph's constants; the second time it does nothing. *rule: why
  // it cannot be done; empty: it was done.
  Status initialise(const Model& model, int subgraph, const Graph& graph, Growth* growth,
                    std::string* rule);
  // Finds the first of these variables that subgraph `index` assigns. Null: it assigns none, or gives
  // them their first content.
  Status find_assigned(const Model& model, int index, const Resource** assigned) const;

 private:
  std::deque<Resource> all_;
  std::map<std::pair<std::string, std::string>, Resource*> by_name_;
  std::set<int> initialised_;
};

// Returns the container and name of a VAR_HANDLE.
std::pair<std::string, std::string> resource_name(const Op& op);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_RESOURCES_H_
