// SPDX-License-Identifier: Apache-2.0
// Einsum of one or two tensors: transpositions around a product of matrices side by side, in float.
#include <algorithm>
#include <map>

#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/float_fallback/products.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// The labels of operands and result, a letter for each dimension.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Parses the equation of an Einsum. Returns false where it has an ellipsis, or a label twice in one tensor.
bool parse_equation(std::string text, Equation* e) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  for (size_t at = 0, end; at <= left.size(); at = end + 1) {
    end = std::min(left.find(',', at), left.size());
    e->operands.push_back(left.substr(at, end - at));
  }
  std::map<char, int> uses;
  for (const std::string& labels : e->operands)
    for (const char c : labels) ++uses[c];
  if (arrow != std::string::npos) {
    e->result = text.substr(arrow + 2);
  } else {
    for (const auto& [label, count] : uses)
      if (count == 1) e->result += label;
  }
  const auto is_plain = [](std::string labels) {
    std::sort(labels.begin(), labels.end());
    return std::all_of(labels.begin(), labels.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }) &&
           std::adjacent_find(labels.begin(), labels.end()) == labels.end();
  };
  return is_plain(e->result) && std::all_of(e->operands.begin(), e->operands.end(), is_plain);
}

bool has_label(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }

// Transposes x, of dimensions `from`, to the order `to`.
ValueId ordered(FloatGraph* f, ValueId x, const std::string& from, const std::string& to) {
  if (from == to) return x;
  std::vector<int> perm;
  for (const char c : to) perm.push_back(static_cast<int>(from.find(c)));
  return f->builder().transpose(f->node(), x, perm);
}

}  // namespace

Status import_einsum(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  Equation e;
  if (!parse_equation(node.text("equation", ""), &e) || e.operands.size() > 2 ||
      e.result.size() > static_cast<size_t>(kMaxTensorRank))
    return refuse_form(importer, node,
                       "its equation '" + node.text("equation", "") +
                           "' is none of one or two tensors with a letter for each dimension");
  QRT_MODEL_CHECK(static_cast<int>(e.operands.size()) == node.input_count(),
                  "%d inputs for %zu operands", node.input_count(), e.operands.size());
  FloatGraph f(importer, node);
  std::map<char, int64_t> sizes;
  std::vector<ValueId> x(e.operands.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!f.read(input, &x[i])) return importer.refuse_float(node, input);
    const Shape s = f.shape_of(x[i]);
    QRT_MODEL_CHECK(static_cast<size_t>(s.rank()) == e.operands[i].size(),
                    "input %zu has %d dimensions, its labels are '%s'", i, s.rank(),
                    e.operands[i].c_str());
    for (int d = 0; d < s.rank(); ++d) {
      const auto [known, is_new] = sizes.emplace(e.operands[i][static_cast<size_t>(d)], s[d]);
      if (!is_new && known->second != s[d])
        return refuse_form(importer, node, std::string("it broadcasts dimension ") + known->first);
    }
  }
  for (const char c : e.result)
    QRT_MODEL_CHECK(sizes.count(c) != 0, "its result has a dimension %c of no input", c);
  const std::string a = e.operands[0], b = x.size() > 1 ? e.operands[1] : "";
  // Dimensions of all three tensors; of a and the result; of b and the result; and those that are summed.
  std::string side_by_side, rows, columns, summed;
  for (const char c : a)
    (has_label(e.result, c) ? has_label(b, c) ? side_by_side : rows : summed) += c;
  for (const char c : b)
    if (!has_label(a, c) && has_label(e.result, c)) columns += c;
  const bool sums_alone =
      std::any_of(summed.begin(), summed.end(), [&](char c) { return !has_label(b, c); }) ||
      side_by_side.size() + summed.size() + columns.size() != b.size();
  if (sums_alone)
    return refuse_form(importer, node, "it sums along a dimension that only one tensor has");
  ValueId y = ordered(&f, x[0], a, side_by_side + rows + summed);
  std::string made = rows;
  if (x.size() > 1) {
    const auto product = [&](const std::string& labels) {
      int64_t n = 1;
      for (const char c : labels) n *= sizes[c];
      return n;
    };
    const auto shaped = [&](ValueId v, const std::string& first, const std::string& second) {
      Shape shape;
      if (!side_by_side.empty()) shape.push_back(product(side_by_side));
      shape.push_back(product(first));
      shape.push_back(product(second));
      return f.builder().reshape(node, v, shape);
    };
    const ValueId left = shaped(y, rows, summed);
    const ValueId right =
        shaped(ordered(&f, x[1], b, side_by_side + summed + columns), summed, columns);
    y = kNoValue;
    float_matmul(&f, left, right, &y);
    made = side_by_side + rows + columns;
    Shape shape;
    for (const char c : made) shape.push_back(sizes[c]);
    y = f.builder().reshape(node, y, shape);
  }
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, ordered(&f, y, made, e.result));
  return Status();
}

}  // namespace qrt::convert::from_onnx
