// Element types as the order family names them.
#ifndef QRT_RUNTIME_OPS_ELEMENTS_H_
#define QRT_RUNTIME_OPS_ELEMENTS_H_

#include "kernels/order/order.h"
#include "runtime/op.h"

namespace qrt {

// Input i is of an integer type; *element is its name.
Status check_element(const InferContext& context, size_t i, const char* what, Element* element);

// Two inputs of one integer type: its name, and the shape that they broadcast to.
Status infer_elements(const InferContext& context, Element* element, Shape* shape);

// The type of an output that holds indices, as the file declares it: INT32 or INT64.
Status declared_index_dtype(const InferContext& context, size_t output, DType* dtype);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_ELEMENTS_H_
