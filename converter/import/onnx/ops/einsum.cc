// SPDX-License-Identifier: Apache-2.0
// Einsum: transpositions around products of matrices side by side, in float.
#include <algorithm>
#include <map>
#include <utility>

#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/float_fallback/products.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {
namespace {

// The labels of operands and result, a letter for each dimension, and a digit for each that an ellipsis stands for: 0 is the last one.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

constexpr const char* kEllipsis = "...";

// Puts digits for `count` dimensions in the place of the ellipsis, if there is one.
void expand_ellipsis(std::string* labels, int count) {
  const size_t at = labels->find(kEllipsis);
  if (at == std::string::npos) return;
  std::string digits;
  for (int d = count; d-- > 0;) digits += static_cast<char>('0' + d);
  labels->replace(at, 3, digits);
}

// Returns whether the labels are letters, each of them once, and at most one ellipsis.
bool is_plain(std::string labels) {
  expand_ellipsis(&labels, 0);
  std::sort(labels.begin(), labels.end());
  return std::all_of(labels.begin(), labels.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }) &&
         std::adjacent_find(labels.begin(), labels.end()) == labels.end();
}

// Parses the equation of an Einsum whose inputs have these ranks. Returns false where it has a label twice in one tensor, an
// ellipsis that the result leaves out or that stands for different numbers of dimensions, or other characters.
bool parse_equation(std::string text, const std::vector<int>& ranks, Equation* e) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  for (size_t at = 0, end; at <= left.size(); at = end + 1) {
    end = std::min(left.find(',', at), left.size());
    e->operands.push_back(left.substr(at, end - at));
  }
  if (!std::all_of(e->operands.begin(), e->operands.end(), is_plain)) return false;
  std::map<char, int> uses;
  int dimensions = -1;
  for (size_t i = 0; i < e->operands.size(); ++i) {
    std::string& labels = e->operands[i];
    const int here = i < ranks.size() ? ranks[i] - static_cast<int>(labels.size()) + 3 : 0;
    if (labels.find(kEllipsis) != std::string::npos) {
      if (here < 0 || (dimensions >= 0 && here != dimensions)) return false;
      dimensions = here;
      expand_ellipsis(&labels, here);
    }
    for (const char c : labels) ++uses[c];
  }
  if (arrow != std::string::npos) {
    e->result = text.substr(arrow + 2);
    const bool has_ellipsis = e->result.find(kEllipsis) != std::string::npos;
    if (!is_plain(e->result) || (dimensions > 0 && !has_ellipsis)) return false;
  } else {
    e->result = kEllipsis;
    for (const auto& [label, count] : uses)
      if (count == 1 && label >= 'A') e->result += label;
  }
  expand_ellipsis(&e->result, dimensions);
  return true;
}

bool has_label(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }

// Transposes x, of dimensions `from`, to the order `to`.
ValueId ordered(FloatGraph* f, ValueId x, const std::string& from, const std::string& to) {
  if (from == to) return x;
  std::vector<int> perm;
  for (const char c : to) perm.push_back(static_cast<int>(from.find(c)));
  return f->builder().transpose(f->node(), x, perm);
}

// A tensor and the labels of its dimensions.
struct Labelled {
  ValueId x = kNoValue;
  std::string labels;
};

// Multiplies and sums operands of one Einsum.
class Contraction {
 public:
  Contraction(FloatGraph* f, std::map<char, int64_t> sizes) : f_(f), sizes_(std::move(sizes)) {}

  // Sums t along the dimensions that are not kept.
  Status sum(const std::string& kept, Labelled* t) {
    std::vector<bool> marked;
    std::string left;
    for (const char c : t->labels) {
      marked.push_back(!has_label(kept, c));
      if (!marked.back()) left += c;
    }
    if (left == t->labels) return Status();
    QRT_TRY(f_->rows(fb::FloatFunction::REDUCE_SUM, marked, 0, t->x, &t->x));
    t->x = f_->builder().reshape(f_->node(), t->x, shape_of(left));
    t->labels = left;
    return Status();
  }

  // Multiplies two tensors and sums the products along the dimensions that are not kept, which are of both.
  Labelled multiply(const Labelled& a, const Labelled& b, const std::string& kept) {
    // Dimensions of both that are kept, of a and the result, of b and the result, and those that are summed.
    std::string side_by_side, rows, columns, summed;
    for (const char c : a.labels)
      (has_label(kept, c) ? has_label(b.labels, c) ? side_by_side : rows : summed) += c;
    for (const char c : b.labels)
      if (!has_label(a.labels, c)) columns += c;
    const ValueId left = matrices(a, side_by_side, rows, summed);
    const ValueId right = matrices(b, side_by_side, summed, columns);
    Labelled y;
    float_matmul(f_, left, right, &y.x);
    y.labels = side_by_side + rows + columns;
    y.x = f_->builder().reshape(f_->node(), y.x, shape_of(y.labels));
    return y;
  }

 private:
  Shape shape_of(const std::string& labels) const {
    Shape shape;
    for (const char c : labels) shape.push_back(sizes_.at(c));
    return shape;
  }
  // Makes a matrix, or matrices side by side, whose rows and columns have the dimensions of two groups.
  ValueId matrices(const Labelled& t, const std::string& side_by_side, const std::string& rows,
                   const std::string& columns) {
    Shape shape;
    if (!side_by_side.empty()) shape.push_back(shape_of(side_by_side).elements());
    shape.push_back(shape_of(rows).elements());
    shape.push_back(shape_of(columns).elements());
    const ValueId x = ordered(f_, t.x, t.labels, side_by_side + rows + columns);
    return f_->builder().reshape(f_->node(), x, shape);
  }

  FloatGraph* f_;
  std::map<char, int64_t> sizes_;
};

}  // namespace

Status import_einsum(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  FloatGraph f(importer, node);
  std::vector<Labelled> operands(static_cast<size_t>(node.input_count()));
  std::vector<int> ranks;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!f.read(input, &operands[i].x)) return importer.refuse_float(node, input);
    ranks.push_back(f.shape_of(operands[i].x).rank());
  }
  Equation e;
  if (!parse_equation(node.text("equation", ""), ranks, &e))
    return refuse_form(importer, node,
                       "its equation '" + node.text("equation", "") +
                           "' has a letter twice in one tensor, leaves its ellipsis out of the "
                           "result or gives it different ranks, or has other characters");
  QRT_MODEL_CHECK(e.operands.size() == operands.size() && !operands.empty(),
                  "%d inputs for %zu operands", node.input_count(), e.operands.size());
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].labels = e.operands[i];
    const Shape s = f.shape_of(operands[i].x);
    QRT_MODEL_CHECK(static_cast<size_t>(s.rank()) == e.operands[i].size(),
                    "input %zu has %d dimensions, its labels are '%s'", i, s.rank(),
                    e.operands[i].c_str());
    for (int d = 0; d < s.rank(); ++d) {
      const char label = e.operands[i][static_cast<size_t>(d)];
      const auto [known, is_new] = sizes.emplace(label, s[d]);
      if (!is_new && known->second != s[d])
        return refuse_form(importer, node,
                           label >= 'A' ? std::string("it broadcasts dimension ") + label
                                        : "it broadcasts a dimension of its ellipsis");
    }
  }
  for (const char c : e.result)
    QRT_MODEL_CHECK(sizes.count(c) != 0, "its result has a dimension %c of no input", c);
  if (e.result.size() > static_cast<size_t>(kMaxTensorRank))
    return refuse_form(importer, node,
                       "its result has " + std::to_string(e.result.size()) + " dimensions");
  // The first two are multiplied, then their product with the third, and so on; only what is needed later is kept.
  Contraction contraction(&f, std::move(sizes));
  Labelled y = operands[0];
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string needed = e.result;
    for (size_t later = i + 1; later < operands.size(); ++later)
      for (const char c : operands[later].labels)
        if (!has_label(needed, c)) needed += c;
    if (i > 0) {
      QRT_TRY(contraction.sum(y.labels + needed, &operands[i]));
      const std::string& other = operands[i].labels;
      const auto made = std::count_if(needed.begin(), needed.end(), [&](char c) {
        return has_label(y.labels, c) || has_label(other, c);
      });
      if (made > kMaxTensorRank)
        return refuse_form(importer, node,
                           "a product on its way has " + std::to_string(made) + " dimensions");
      y = contraction.multiply(y, operands[i], needed);
    }
    QRT_TRY(contraction.sum(needed, &y));
  }
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, ordered(&f, y.x, y.labels, e.result));
  return Status();
}

}  // namespace qrt::convert::from_onnx
