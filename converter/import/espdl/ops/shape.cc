// SPDX-License-Identifier: Apache-2.0
// Operators that change a tensor's dimensions or their order.
#include <algorithm>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

bool read_one(Importer& importer, const Node& node, Activation* x, Format* out) {
  if (!importer.read(node, 0, x) || !importer.read_format(node, 0, out)) return false;
  if (x->format.type == out->type) return true;
  (void)importer.refuse(
      node, std::string("it makes ") + type_name(out->type) + " of " + type_name(x->format.type),
      importer.output(node).name, "quantise input and output to one type");
  return false;
}

Status finish_shape(Importer& importer, const Node& node, const Activation& x, const Format& out,
                    const Shape& to) {
  const Shape& from = importer.builder().shape_of(x.value);
  QRT_MODEL_CHECK(from.elements() == to.elements(), "shape %s cannot become %s",
                  from.to_string().c_str(), to.to_string().c_str());
  importer.finish(node, importer.builder().reshaped(node, x.value, to), out);
  importer.became(node, "Reshape", "I0");
  return Status();
}

// Reads axes from an attribute or from input 1. Returns false where the operator was refused.
bool read_axes(Importer& importer, const Node& node, std::vector<int64_t>* axes) {
  *axes = node.integers("axes");
  return !node.has_input(1) || importer.read_integers(node, 1, axes);
}

}  // namespace

Status import_identity(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!read_one(importer, node, &x, &out)) return Status();
  importer.finish(node, x.value, out);
  return Status();
}

Status import_transpose(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!read_one(importer, node, &x, &out)) return Status();
  const int rank = importer.builder().shape_of(x.value).rank();
  std::vector<int64_t> given = node.integers("perm");
  if (given.empty())
    for (int d = rank; d-- > 0;) given.push_back(d);
  QRT_MODEL_CHECK(given.size() == static_cast<size_t>(rank),
                  "%zu indices permute %d dimensions, expected one for each", given.size(), rank);
  std::vector<bool> used(static_cast<size_t>(rank));
  std::vector<int> perm;
  for (const int64_t p : given) {
    int d;
    QRT_TRY(place_axis(p, rank, &d));
    QRT_MODEL_CHECK(!used[static_cast<size_t>(d)],
                    "its indices are not a permutation of %d dimensions", rank);
    used[static_cast<size_t>(d)] = true;
    perm.push_back(d);
  }
  importer.finish(node, importer.builder().transpose(node, x.value, perm), out);
  importer.became(node, "Transpose", "I0");
  return Status();
}

Status import_reshape(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int64_t> given;
  if (!read_one(importer, node, &x, &out) || !importer.read_integers(node, 1, &given))
    return Status();
  const Shape from = importer.builder().shape_of(x.value);
  if (given.size() > static_cast<size_t>(kMaxTensorRank))
    return error(Code::kUnsupported, "%zu dimensions, the limit is 6", given.size());
  Shape to;
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < given.size(); ++i) {
    int64_t d = given[i];
    if (d == 0 && node.integer("allowzero", 0) == 0) {
      QRT_MODEL_CHECK(static_cast<int>(i) < from.rank(), "dimension %zu is kept of %d", i,
                      from.rank());
      d = from[static_cast<int>(i)];
    }
    QRT_MODEL_CHECK(d > 0 || (d == -1 && open < 0),
                    "a dimension is %lld, expected 1 or more, or -1 for one of them",
                    static_cast<long long>(given[i]));
    if (d < 0) open = static_cast<int>(i);
    to.push_back(d < 0 ? 1 : d);
    QRT_MODEL_CHECK(to.elements() > 0, "a shape of too many elements");
    known = to.elements();
  }
  if (open >= 0) {
    QRT_MODEL_CHECK(from.elements() % known == 0, "shape %s cannot become %lld elements and more",
                    from.to_string().c_str(), static_cast<long long>(known));
    to[open] = from.elements() / known;
  }
  return finish_shape(importer, node, x, out, to);
}

Status import_flatten(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!read_one(importer, node, &x, &out)) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += from.rank();
  QRT_MODEL_CHECK(axis >= 0 && axis <= from.rank(), "axis %lld of %d dimensions",
                  static_cast<long long>(axis), from.rank());
  Shape to{1, 1};
  for (int d = 0; d < from.rank(); ++d) to[d < axis ? 0 : 1] *= from[d];
  return finish_shape(importer, node, x, out, to);
}

Status import_squeeze(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int64_t> axes;
  if (!read_one(importer, node, &x, &out) || !read_axes(importer, node, &axes)) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  std::vector<bool> gone(static_cast<size_t>(from.rank()));
  for (int d = 0; axes.empty() && d < from.rank(); ++d) gone[static_cast<size_t>(d)] = from[d] == 1;
  for (const int64_t axis : axes) {
    int d;
    QRT_TRY(place_axis(axis, from.rank(), &d));
    QRT_MODEL_CHECK(from[d] == 1, "dimension %d of %s is not 1", d, from.to_string().c_str());
    gone[static_cast<size_t>(d)] = true;
  }
  Shape to;
  for (int d = 0; d < from.rank(); ++d)
    if (!gone[static_cast<size_t>(d)]) to.push_back(from[d]);
  return finish_shape(importer, node, x, out, to);
}

Status import_unsqueeze(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int64_t> axes;
  if (!read_one(importer, node, &x, &out) || !read_axes(importer, node, &axes)) return Status();
  const Shape from = importer.builder().shape_of(x.value);
  const size_t negative =
      static_cast<size_t>(std::count_if(axes.begin(), axes.end(), [](int64_t a) { return a < 0; }));
  if (negative > 0 && negative < axes.size())
    return importer.refuse(node,
                           "its axes have both signs, which the runtime does not do as ONNX does",
                           importer.output(node).name, "write all axes as positive numbers");
  if (axes.size() > static_cast<size_t>(kMaxTensorRank - from.rank()))
    return error(Code::kUnsupported, "its result has more than 6 dimensions");
  const int rank = from.rank() + static_cast<int>(axes.size());
  std::vector<bool> is_new(static_cast<size_t>(rank));
  for (const int64_t axis : axes) {
    int d;
    QRT_TRY(place_axis(axis, rank, &d));
    QRT_MODEL_CHECK(!is_new[static_cast<size_t>(d)], "axis %d stands twice", d);
    is_new[static_cast<size_t>(d)] = true;
  }
  Shape to;
  int next = 0;
  for (int d = 0; d < rank; ++d) to.push_back(is_new[static_cast<size_t>(d)] ? 1 : from[next++]);
  return finish_shape(importer, node, x, out, to);
}

namespace {

// Reads DepthToSpace or SpaceToDepth, blocks of k x k pixels against channels: channel = c * k * k + i * k + j
// (mode CRD), or (i * k + j) * C + c, as ONNX has it else.
Status read_blocks(Importer& importer, const Node& node, Activation* x, Format* out, int64_t* k,
                   bool* known) {
  *known = false;
  if (!read_one(importer, node, x, out)) return Status();
  *k = node.integer("blocksize", 0);
  const Shape& from = importer.builder().shape_of(x->value);
  QRT_MODEL_CHECK(
      from.rank() == 4 && *k >= 1 && *k <= 65535,
      "blocks of %lld on an input of shape %s, expected blocks of 1 to 65535 on [n, h, w, c]",
      static_cast<long long>(*k), from.to_string().c_str());
  *known = true;
  return Status();
}

Status finish_blocks(Importer& importer, const Node& node, ValueId parts,
                     const std::vector<int>& perm, const Shape& to, const Format& out) {
  importer.finish(
      node, importer.builder().reshaped(node, importer.builder().transpose(node, parts, perm), to),
      out);
  importer.became(node, "Transpose", "I0");
  return Status();
}

}  // namespace

Status import_depth_to_space(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  int64_t k;
  bool known;
  QRT_TRY(read_blocks(importer, node, &x, &out, &k, &known));
  if (!known) return Status();
  const Shape s = importer.builder().shape_of(x.value);
  QRT_MODEL_CHECK(s[3] % (k * k) == 0, "%lld channels in blocks of %lld, expected a multiple",
                  static_cast<long long>(s[3]), static_cast<long long>(k * k));
  const int64_t c = s[3] / (k * k);
  if (node.text("mode", "DCR") != "CRD") {
    if (c != k && !importer.is_plain())
      return importer.refuse(node,
                             "its mode is DCR, which the runtime computes wrongly for other "
                             "channels than the blocks' size",
                             importer.output(node).name, "build it in mode CRD");
    const ValueId parts = importer.builder().reshaped(node, x.value, {s[0], s[1], s[2], k, k, c});
    return finish_blocks(importer, node, parts, {0, 1, 3, 2, 4, 5}, {s[0], s[1] * k, s[2] * k, c},
                         out);
  }
  const ValueId parts = importer.builder().reshaped(node, x.value, {s[0], s[1], s[2], c, k, k});
  return finish_blocks(importer, node, parts, {0, 1, 4, 2, 5, 3}, {s[0], s[1] * k, s[2] * k, c},
                       out);
}

Status import_space_to_depth(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  int64_t k;
  bool known;
  QRT_TRY(read_blocks(importer, node, &x, &out, &k, &known));
  if (!known) return Status();
  const Shape s = importer.builder().shape_of(x.value);
  QRT_MODEL_CHECK(s[1] % k == 0 && s[2] % k == 0,
                  "an image of shape %s in blocks of %lld, expected multiples",
                  s.to_string().c_str(), static_cast<long long>(k));
  const ValueId parts =
      importer.builder().reshaped(node, x.value, {s[0], s[1] / k, k, s[2] / k, k, s[3]});
  const std::vector<int> channel_first = {0, 1, 3, 5, 2, 4}, channel_last = {0, 1, 3, 2, 4, 5};
  return finish_blocks(importer, node, parts, importer.is_plain() ? channel_last : channel_first,
                       {s[0], s[1] / k, s[2] / k, s[3] * k * k}, out);
}

}  // namespace qrt::convert::from_espdl
