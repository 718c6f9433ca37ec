// Reductions. The greatest and the least of integers are integers: a pool over the whole of a
// reshaped tensor. Sums and means are computed by ONNX Runtime in float, in an order of its own.
#include "converter/import/onnx_ops.h"

namespace qrt::convert::from_onnx {
namespace {

// The reduced dimensions of x. *known: false where they are refused.
Status read_reduced(Importer& importer, const NodeView& node, const Shape& x,
                    std::vector<bool>* reduced, bool* known) {
  const int rank = x.rank();
  std::vector<int64_t> axes = node.integers("axes");
  if (node.has_input(1)) {
    const Tensor& t = importer.input(node, 1);
    *known = t.is_plain_constant() && t.constant->is_integer();
    if (!*known)
      return importer.refuse(node, "the axes '" + node.input(1) + "' are not constant",
                             node.input(1),
                             "simplify the model (constant folding) before conversion");
    axes.clear();
    for (int64_t i = 0; i < t.constant->elements(); ++i) axes.push_back(t.constant->integer(i));
  }
  *known = true;
  const bool all = axes.empty() && node.integer("noop_with_empty_axes", 0) == 0;
  reduced->assign(static_cast<size_t>(rank), all);
  for (int64_t a : axes) {
    QRT_MODEL_CHECK(a >= -rank && a < rank, "axis %lld is outside %d dimensions",
                    static_cast<long long>(a), rank);
    (*reduced)[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return Status();
}

// x [outer, n, 1, inner] after a permutation -> [outer, 1, 1, inner] -> y.
struct Reduction {
  int64_t outer = 1, n = 1, inner = 1;
  std::vector<int> perm;  // empty: nothing moves
  Shape y;
};

Reduction plan_reduction(const Shape& x, const std::vector<bool>& reduced, bool keep) {
  Reduction r;
  std::vector<int> among, behind;
  int runs = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const bool here = reduced[static_cast<size_t>(d)];
    if (here && (d == 0 || !reduced[static_cast<size_t>(d - 1)])) ++runs;
    (here ? r.n : runs == 0 ? r.outer : r.inner) *= x[d];
    (here ? among : runs == 0 ? r.perm : behind).push_back(d);
    if (!here || keep) r.y.push_back(here ? 1 : x[d]);
  }
  r.perm.insert(r.perm.end(), among.begin(), among.end());
  r.perm.insert(r.perm.end(), behind.begin(), behind.end());
  if (runs <= 1) r.perm.clear();
  return r;
}

// Tables that keep the order of the integers, and nothing per axis.
bool keeps_order(const Importer& importer, const Tensor& t) {
  if (t.is_value()) return t.type == kUint8 || t.type == kInt8;
  std::vector<float> real;
  if (!t.is_table() || t.table_axis >= 0 || !t.quant->per_tensor() || !importer.entries(t, &real))
    return false;
  for (size_t i = 1; i < real.size(); ++i)
    if (!(real[i - 1] <= real[i])) return false;
  return true;
}

}  // namespace

Status import_reduce_extreme(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!keeps_order(importer, x)) return importer.refuse_float(node, 0);
  std::vector<bool> reduced;
  bool known;
  QRT_TRY(read_reduced(importer, node, x.shape, &reduced, &known));
  if (!known) return Status();
  const Reduction r = plan_reduction(x.shape, reduced, node.integer("keepdims", 1) != 0);
  std::vector<uint8_t> complement(256);
  for (size_t i = 0; i < 256; ++i) complement[i] = static_cast<uint8_t>(255 - i);
  const bool least = node.op() == "ReduceMin";

  ValueId v = x.value;
  if (!r.perm.empty()) v = importer.transpose(node, v, r.perm);
  v = importer.reshape(node, v, {r.outer, r.n, 1, r.inner});
  // The least is the greatest of the complements.
  if (least) v = importer.new_lut(node, v, complement, false, "", nullptr);
  Node pool = make_node<fb::MaxPool2DOptionsT>(node.name(), node.op(), {v}, {});
  auto& o = options<fb::MaxPool2DOptionsT>(pool);
  o.kernel_h = o.kernel_w = 0;  // the whole image
  ValueId most = importer.new_value("", DType::kUInt8, {r.outer, 1, 1, r.inner});
  pool.outputs = {most};
  importer.graph().nodes.push_back(std::move(pool));
  if (least) most = importer.new_lut(node, most, complement, false, "", nullptr);
  importer.graph().values[most].quantization = importer.graph().values[x.value].quantization;
  Tensor y = x;
  y.shape = r.y;
  y.value = importer.reshape(node, most, r.y);
  importer.became(node, "MaxPool2D", "I0");
  importer.set_output(node, 0, std::move(y));
  return Status();
}

Status import_reduce_sum(Importer& importer, const NodeView& node) {
  return importer.refuse(node, "ONNX Runtime sums floats here, in an order of its own",
                         node.output(0),
                         "use GlobalAveragePool where an image is averaged as a whole");
}

}  // namespace qrt::convert::from_onnx
