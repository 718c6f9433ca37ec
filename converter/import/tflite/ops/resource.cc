// SPDX-License-Identifier: Apache-2.0
// CALL_ONCE, VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE: variables of streaming models.
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Returns the variable of input 0, which has the type and shape of `t` as all that it is assigned
// and read as. Null: it was refused.
Resource* read_resource(Importer& importer, const Op& op, const Tensor& t, Quant* quant) {
  Resource* r = importer.resource(op, 0);
  if (!r || !importer.read_quant(op, t, quant)) return nullptr;
  if (!r->has_type) {
    r->type = t.type;
    r->shape = t.shape;
    r->has_type = true;
  }
  if (r->type == t.type && r->shape == t.shape) return r;
  (void)importer.refuse(op,
                        "tensor '" + t.name + "' is " + type_name(t.type) + " " +
                            t.shape.to_string() + ", the variable '" + r->name + "' " +
                            type_name(r->type) + " " + r->shape.to_string(),
                        t.name, "give the variable one type and shape");
  return nullptr;
}

}  // namespace

Status import_call_once(Importer& importer, const Op& op) { return importer.call_once(op); }

Status import_var_handle(Importer& importer, const Op& op) {
  QRT_MODEL_CHECK(importer.output(op).type == TensorType::RESOURCE,
                  "its output is %s, expected resource", type_name(importer.output(op).type));
  importer.set_resource(op, resource_name(op));
  importer.became(op, "variable", "I0");
  return Status();
}

Status import_read_variable(Importer& importer, const Op& op) {
  Quant quant;
  const Tensor& y = importer.output(op);
  Resource* r = read_resource(importer, op, y, &quant);
  if (!r) return Status();
  if (r->current == kNoValue) {
    r->current = r->variable =
        importer.builder().new_value(r->name, quant.stored_type(), y.shape, &quant);
    if (!r->has_initial) r->initial = quant.stored_zero_point();
  }
  return importer.finish_copy(op, r->current, "variable");
}

Status import_assign_variable(Importer& importer, const Op& op) {
  Quant quant;
  Resource* r = read_resource(importer, op, importer.input(op, 1), &quant);
  if (!r) return Status();
  if (!r->has_initial) {
    r->initial = quant.stored_zero_point();
    r->has_initial = true;
  }
  r->current = importer.value(op, 1);
  importer.became(op, "variable", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
