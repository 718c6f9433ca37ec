// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxruntime/sweep/cells.h"

#include <algorithm>

#include "converter/import/onnx/ops/handlers.h"

namespace qrt::sweep {
namespace {

std::string label(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : domain + "." + op;
}

uint64_t hash(const std::string& text) {
  uint64_t h = 14695981039346656037u;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return h;
}

std::vector<Row> make_rows() {
  std::vector<Row> all;
  for (const auto& part : {move_rows(), layer_rows(), window_rows(), elementwise_rows(),
                           integer_rows(), attention_rows()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Returns whether nothing that the form makes can be quantised.
bool makes_integers(const Form& form) {
  Graph g(0, form.opset);
  const std::vector<Value> outputs = form.make(g, g.floats(form.dims));
  return std::all_of(outputs.begin(), outputs.end(), [](const Value& v) { return v.is_integers; });
}

bool goes_with(const Form& form, const Producer& producer) {
  for (const std::string& name : form.leaves_out)
    if (name == producer.name || name == producer.group) return false;
  return form.opset >= producer.opset && producer.takes(form.dims);
}

constexpr int64_t kFirstQuantizeLinear = 10;

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> all = make_rows();
  return all;
}

std::vector<std::string> missing_rows() {
  std::vector<std::string> missing;
  for (const auto& entry : convert::from_onnx::known_ops()) {
    const bool found = std::any_of(rows().begin(), rows().end(), [&](const Row& row) {
      return row.op == entry.op && row.domain == entry.domain;
    });
    if (!found) missing.push_back(label(entry.domain, entry.op));
  }
  return missing;
}

std::string Cell::name() const {
  const std::string form_name = form->name.empty() ? "" : " (" + form->name + ")";
  return label(row->domain, row->op) + form_name + " of " + producer->name +
         (end == OutputUse::kQuantized ? ", quantized" : ", read");
}

std::vector<Cell> all_cells() {
  static const std::vector<Producer> all = all_producers();
  std::vector<Cell> cells;
  for (const Row& row : rows()) {
    for (const Form& form : row.forms) {
      const bool is_read_only = makes_integers(form);
      for (const Producer& producer : all) {
        if (!goes_with(form, producer)) continue;
        if (!is_read_only && form.opset >= kFirstQuantizeLinear)
          cells.push_back({&row, &form, &producer, OutputUse::kQuantized});
        cells.push_back({&row, &form, &producer, OutputUse::kRead});
      }
    }
  }
  return cells;
}

Graph make_graph(const Cell& cell, uint64_t seed) {
  Graph g(seed * 1000003 + hash(cell.row->op + cell.form->name + cell.producer->name),
          cell.form->opset);
  const Value x = cell.producer->make(g, cell.form->dims);
  for (const Value& y : cell.form->make(g, x)) {
    if (cell.end == OutputUse::kRead || y.is_integers) {
      g.output(y.name, y.unit);
      continue;
    }
    const auto codes = g.quantized(y);
    if (g.dice.coin()) {
      g.output(codes.name, 1);
    } else {
      const Value real = g.dequantized(codes);
      g.output(real.name, real.unit);
    }
  }
  return g;
}

}  // namespace qrt::sweep
