// SPDX-License-Identifier: Apache-2.0
// The operators of ESP-DL's runtime that have a form here: one handler each, in ops/<group>.cc, and what handlers share.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_OPS_H_
#define QRT_CONVERTER_IMPORT_ESPDL_OPS_H_

#include "converter/import/common/window.h"
#include "converter/import/espdl/importer.h"

namespace qrt::convert::from_espdl {

struct Handler {
  Status (*handle)(Importer& importer, const Node& node);
  const char* op;
  int inputs;  // the first ones, which must be there
  // The specification has it, but no chip's runtime: of ESP-DL's own files it is refused.
  bool is_specified_only = false;
};

#define QRT_ESPDL_OP(handler, op, ...) Status handler(Importer& importer, const Node& node);
#include "converter/import/espdl/ops.inc"

// Returns the handler of an operator, or null.
const Handler* find_handler(const std::string& op);
// Returns why an operator is refused that the runtime has, but whose arithmetic is not specified; null for others.
const char* why_refused(const std::string& op);

// Finds the shape of two operands that broadcast as in numpy.
Status broadcast_shape(const Shape& a, const Shape& b, Shape* shape);
// Places an axis of `rank` dimensions, which may count from the end.
Status place_axis(int64_t axis, int rank, int* result);

// Reads the window of an operator over one or two axes [rows, columns] of these sizes; a single axis
// is the columns. Pads, strides and dilations are the node's attributes, the kernel is the caller's.
Status read_window(const Node& node, const std::vector<int64_t>& sizes,
                   const std::vector<int64_t>& kernel, Window* window);

// Reads [n, w, c] as [n, 1, w, c]; images of two axes as they are. Fails with kUnsupported for other ranks.
Status as_image(Importer& importer, const Node& node, ValueId* x);
// Returns an image back in `rank` dimensions.
ValueId from_image(Importer& importer, const Node& node, ValueId y, int rank);

// Sets an operand's zero point, in the field for its type.
inline void set_zero_point(const Format& format, uint8_t* field, int16_t* field_16) {
  if (format.is_int16())
    *field_16 = 0;
  else
    *field = static_cast<uint8_t>(format.offset());
}

// Reads the table that attribute `lut` names, one value for every integer of x. *has: there is one, and the runtime obeys it.
Status read_lut(Importer& importer, const Node& node, const Format& in, const Format& out,
                std::vector<int16_t>* values, bool* has);
// Ends the operator as a table.
Status finish_table(Importer& importer, const Node& node, const Activation& x,
                    const std::vector<int16_t>& values, const Format& out);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_OPS_H_
