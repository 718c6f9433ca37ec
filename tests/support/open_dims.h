// SPDX-License-Identifier: Apache-2.0
// Names for the open dimensions of an ONNX model, all of which OnnxBuilder calls "N".
#ifndef QRT_TESTS_SUPPORT_OPEN_DIMS_H_
#define QRT_TESTS_SUPPORT_OPEN_DIMS_H_

#include <string>

#include "tests/support/onnx_builder.h"

namespace qrt::testing {

// Calls the open dimensions of the graph's inputs "d0", "d1" ... by their axes.
inline void number_open_dims(onnx::GraphProto* graph) {
  for (onnx::ValueInfoProto& info : *graph->mutable_input()) {
    auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int d = 0; d < shape->dim_size(); ++d)
      if (!shape->dim(d).dim_param().empty())
        shape->mutable_dim(d)->set_dim_param("d" + std::to_string(d));
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_OPEN_DIMS_H_
