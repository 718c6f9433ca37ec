// SPDX-License-Identifier: Apache-2.0
// EMBEDDING_LOOKUP: rows of a table at indices that a run computes, as they are or as floats, with one
// scale for the table or one for each row. An index outside, at which the reference fails, means the
// first or the last row.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/linear.h"

namespace qrt::convert::from_tflite {
namespace {

ValueId take_rows(Importer& importer, const Op& op, ValueId table, ValueId lookup) {
  GraphBuilder& builder = importer.builder();
  Shape shape = builder.shape_of(table);
  shape[0] = builder.shape_of(lookup)[0];
  const ValueId y = builder.new_value("", builder.type_of(table), shape);
  importer.graph().values[y].quantization = importer.graph().values[table].quantization;
  builder.add<fb::TakeOptionsT>(op, {table, lookup}, y);
  return y;
}

// Returns whether the reference reads a table of this form to float; refuses the operator if not.
bool check_table(Importer& importer, const Op& op, const Tensor& table) {
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, importer.quoted_input(op, 1) + " " + rule, table.name, remedy);
    return false;
  };
  // Rows of 4 and 2 bits begin with a byte.
  const int64_t row = table.shape.elements() / table.shape[0];
  const bool fits = table.type == TensorType::INT8 ||
                    (table.type == TensorType::INT4 && row % 2 == 0) ||
                    (table.type == TensorType::INT2 && row % 4 == 0);
  if (!fits || !table.is_constant)
    return no(std::string("is ") + type_name(table.type) + " of rows of " + std::to_string(row),
              "make it a constant of int8, or of int4 or int2 with rows of whole bytes");
  if (table.scale.empty()) return no("has no scale", "store the table with a scale, as int8");
  if (table.scale.size() > 1 &&
      (table.axis != 0 || static_cast<int64_t>(table.scale.size()) != table.shape[0]))
    return no("is not quantised per row", "quantise the table as a whole or by its dimension 0");
  if (std::any_of(table.zero_point.begin(), table.zero_point.end(),
                  [](int64_t z) { return z != 0; }))
    return no("has a zero point other than 0, which the reference refuses",
              "quantise the table symmetrically");
  return true;
}

ValueId stored_table(Importer& importer, const Tensor& table) {
  std::vector<int32_t> stored(static_cast<size_t>(table.shape.elements()));
  for (size_t i = 0; i < stored.size(); ++i) stored[i] = element(table, i) + 128;
  return importer.builder().stored_constant(table.name, DType::kUInt8, table.shape, stored);
}

Status look_up_floats(Importer& importer, const Op& op) {
  const Tensor &table = importer.input(op, 1), &y = importer.output(op);
  if (!check_table(importer, op, table)) return Status();
  const ValueId lookup = importer.value(op, 0);
  const ValueId rows = take_rows(importer, op, stored_table(importer, table), lookup);
  if (table.scale.size() == 1) {
    importer.set_real(op, dequantized(rows, table.scale[0], 128));
    importer.became(op, "Take, Dequantize", "edge");
    return Status();
  }
  Graph& graph = importer.graph();
  const int64_t n = importer.input(op, 0).shape[0];
  const ValueId scales = graph.add_constant("", DType::kFloat32, {table.shape[0]}, table.scale);
  const ValueId zeros =
      graph.add_constant("", DType::kUInt8, {n}, std::vector<uint8_t>(static_cast<size_t>(n), 128));
  const ValueId scale = take_rows(importer, op, scales, lookup);
  const ValueId made = importer.builder().new_value(y.name, DType::kFloat32, y.shape);
  importer.builder().add<fb::DequantizeOptionsT>(op, {rows, scale, zeros}, made).axis = 0;
  importer.set_output(op, made);
  importer.became(op, "Take, Dequantize", "edge");
  return Status();
}

}  // namespace

Status import_embedding_lookup(Importer& importer, const Op& op) {
  const Tensor &lookup = importer.input(op, 0), &table = importer.input(op, 1),
               &y = importer.output(op);
  if (lookup.type != TensorType::INT32)
    return importer.refuse(op, importer.quoted_input(op, 0) + " is " + type_name(lookup.type),
                           lookup.name, "look up with indices of int32");
  Shape shape = table.shape;
  QRT_MODEL_CHECK(lookup.shape.rank() == 1 && shape.rank() >= 2 && shape.elements() > 0,
                  "it looks up %s in %s", lookup.shape.to_string().c_str(),
                  shape.to_string().c_str());
  shape[0] = lookup.shape[0];
  QRT_TRY(check_index_count(shape[0]));
  QRT_TRY(check_output_shape(importer, op, shape));
  if (y.type == TensorType::FLOAT32 && table.type != y.type) return look_up_floats(importer, op);
  if (y.type != table.type)
    return importer.refuse(
        op,
        std::string("the table is ") + type_name(table.type) + ", the output " + type_name(y.type),
        y.name, "give both one type, or the output float32");
  Moving rows(importer, op, 1);
  if (!rows.is_good()) return Status();
  const ValueId taken = take_rows(importer, op, rows.value(), importer.value(op, 0));
  importer.graph().values[taken].name = y.name;
  return importer.finish_copy(op, taken, "Take");
}

}  // namespace qrt::convert::from_tflite
