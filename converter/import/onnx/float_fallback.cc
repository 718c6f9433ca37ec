// Float islands (--allow-float): operators between DequantizeLinear and QuantizeLinear that have no
// integer form run in float, as one Float operator for each function. The functions are our own
// (kernels/float_fallback/float_fallback.h): the same bytes everywhere, but not ONNX Runtime's.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/importer.h"
#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

struct Form {
  const char* op;
  F function;
};

constexpr Form kUnary[] = {{"Exp", F::EXP},        {"Log", F::LOG},   {"Sqrt", F::SQRT},
                           {"Erf", F::ERF},        {"Gelu", F::GELU}, {"Tanh", F::TANH},
                           {"Sigmoid", F::SIGMOID}};
constexpr Form kBinary[] = {{"Add", F::ADD}, {"Sub", F::SUB},     {"Mul", F::MUL},
                            {"Div", F::DIV}, {"Min", F::MINIMUM}, {"Max", F::MAXIMUM}};
constexpr Form kReduce[] = {{"ReduceSum", F::REDUCE_SUM},
                            {"ReduceMean", F::REDUCE_MEAN},
                            {"ReduceMax", F::REDUCE_MAX},
                            {"ReduceMin", F::REDUCE_MIN}};
constexpr const char* kOther[] = {"Softmax",
                                  "LogSoftmax",
                                  "LayerNormalization",
                                  "InstanceNormalization",
                                  "BatchNormalization",
                                  "Relu",
                                  "Pow",
                                  "MatMul",
                                  "Gemm",
                                  "Conv"};

template <size_t n>
const Form* find(const Form (&forms)[n], const std::string& op) {
  for (const Form& form : forms)
    if (op == form.op) return &form;
  return nullptr;
}

// What an island adds to the graph for one node.
class Island {
 public:
  Island(Importer& importer, const NodeView& node) : importer_(importer), node_(node) {}

  // Input i as a float value; false where it is none that an island can read.
  bool read(int i, ValueId* x) {
    const Tensor& t = importer_.input(node_, i);
    if (!node_.has_input(i)) return false;
    if (t.is_value() && t.type == kFloat) {
      *x = t.value;
      return true;
    }
    if (t.is_constant()) {
      std::vector<float> real;
      if (!importer_.constant_floats(t, &real) || real.empty()) return false;
      *x = constant(t.shape, real);
      return true;
    }
    if (t.is_pending()) return importer_.make_producer_float(node_.input(i), x);
    std::vector<float> entries;
    if (!t.is_table() || (t.type != kUint8 && t.type != kInt8) || !importer_.entries(t, &entries) ||
        entries.size() != 256)
      return false;
    *x = add(F::TABLE, {t.value, constant({256}, entries)}, t.shape);
    return true;
  }

  ValueId constant(const Shape& shape, const std::vector<float>& values) {
    return importer_.graph().add_constant("", DType::kFloat32, shape, values);
  }

  ValueId add(F function, std::vector<ValueId> inputs, const Shape& shape, float epsilon = 0) {
    const ValueId y = importer_.new_value("", DType::kFloat32, shape);
    Node n = make_node<fb::FloatOptionsT>(node_.name(), node_.op(), std::move(inputs), {y});
    auto& o = options<fb::FloatOptionsT>(n);
    o.function = function;
    o.epsilon = float_bits(epsilon);
    importer_.graph().nodes.push_back(std::move(n));
    return y;
  }

  Status binary(F function, ValueId a, ValueId b, ValueId* y) {
    const Shape sa = importer_.shape_of(a), sb = importer_.shape_of(b);
    std::vector<int64_t> dims(static_cast<size_t>(std::max(sa.rank(), sb.rank())), 1);
    for (const Shape* s : {&sa, &sb})
      for (int i = 0; i < s->rank(); ++i) {
        int64_t& d = dims[dims.size() - static_cast<size_t>(s->rank() - i)];
        QRT_MODEL_CHECK(d == 1 || (*s)[i] == 1 || d == (*s)[i], "shapes %s and %s do not broadcast",
                        sa.to_string().c_str(), sb.to_string().c_str());
        d = std::max(d, (*s)[i]);
      }
    Shape shape;
    QRT_TRY(make_shape(dims, &shape));
    *y = add(function, {a, b}, shape);
    return Status();
  }

  // `function` over rows made of the marked dimensions, which come out as they were, or as 1.
  Status rows(F function, const std::vector<bool>& marked, float epsilon, ValueId x, ValueId* y) {
    const Shape shape = importer_.shape_of(x);
    std::vector<int> order, back(marked.size());
    std::vector<int64_t> kept, reduced;
    int64_t n = 1;
    for (const bool last : {false, true})
      for (size_t i = 0; i < marked.size(); ++i)
        if (marked[i] == last) order.push_back(static_cast<int>(i));
    for (size_t i = 0; i < order.size(); ++i)
      back[static_cast<size_t>(order[i])] = static_cast<int>(i);
    for (int i = 0; i < shape.rank(); ++i) {
      const bool in_row = marked[static_cast<size_t>(i)];
      if (in_row)
        n *= shape[i];
      else
        kept.push_back(shape[i]);
      reduced.push_back(in_row ? 1 : shape[i]);
    }
    const bool sorted = std::is_sorted(order.begin(), order.end());
    if (!sorted) x = importer_.transpose(node_, x, order);
    const Shape permuted = importer_.shape_of(x);
    kept.push_back(n);
    Shape flat;
    QRT_TRY(make_shape(kept, &flat));
    if (flat != permuted) x = importer_.reshape(node_, x, flat);
    if (function >= F::REDUCE_SUM) {
      Shape one = flat, result;
      one[one.rank() - 1] = 1;
      QRT_TRY(make_shape(reduced, &result));
      *y = add(function, {x}, one);
      if (one != result) *y = importer_.reshape(node_, *y, result);
      return Status();
    }
    *y = add(function, {x}, flat, epsilon);
    if (flat != permuted) *y = importer_.reshape(node_, *y, permuted);
    if (!sorted) *y = importer_.transpose(node_, *y, back);
    return Status();
  }

  // y = x * scale + bias of one value per channel, dimension 1.
  Status per_channel(const std::vector<float>& scale, const std::vector<float>& bias, ValueId x,
                     ValueId* y) {
    const Shape shape = importer_.shape_of(x);
    Shape channels;
    for (int i = 1; i < shape.rank(); ++i) channels.push_back(i == 1 ? shape[1] : 1);
    ValueId scaled;
    QRT_TRY(binary(F::MUL, x, constant(channels, scale), &scaled));
    return binary(F::ADD, scaled, constant(channels, bias), y);
  }

  // Input i: constants, one for each of n channels.
  bool channel_constants(int i, int64_t n, std::vector<float>* values) const {
    const Tensor& t = importer_.input(node_, i);
    return node_.has_input(i) && t.is_constant() && importer_.constant_floats(t, values) &&
           static_cast<int64_t>(values->size()) == n;
  }

 private:
  Importer& importer_;
  const NodeView& node_;
};

bool other_outputs_are_read(const Importer& importer, const NodeView& node) {
  for (int i = 1; i < node.output_count(); ++i)
    if (node.has_output(i) && importer.uses(node.output(i)) > 0) return true;
  return false;
}

// Of an operator over rows. False: an axis is not known or outside the shape.
bool mark_rows(Importer& importer, const NodeView& node, const Shape& shape,
               std::vector<bool>* marked) {
  const int rank = shape.rank();
  marked->assign(static_cast<size_t>(rank), false);
  std::vector<int64_t> axes;
  if (node.op().rfind("Reduce", 0) == 0) {
    axes = node.integers("axes");
    if (node.has_input(1)) {
      const Tensor& given = importer.input(node, 1);
      if (!given.is_plain_constant() || !given.constant->is_integer()) return false;
      for (int64_t i = 0; i < given.constant->elements(); ++i)
        axes.push_back(given.constant->integer(i));
    }
    if (axes.empty()) {
      if (node.integer("noop_with_empty_axes", 0) != 0) return false;
      for (int i = 0; i < rank; ++i) axes.push_back(i);
    }
  } else if (node.op() == "InstanceNormalization") {
    for (int i = 2; i < rank; ++i) axes.push_back(i);
  } else {
    const bool softmax = node.op().find("Softmax") != std::string::npos;
    const bool from_axis_on = !softmax || importer.opset(node) < 13;
    int64_t axis = node.integer("axis", softmax && from_axis_on ? 1 : -1);
    if (axis < -rank || axis >= rank) return false;
    axis = axis < 0 ? axis + rank : axis;
    for (int64_t i = axis; i < (from_axis_on ? rank : axis + 1); ++i) axes.push_back(i);
  }
  for (int64_t a : axes) {
    if (a < -rank || a >= rank) return false;
    (*marked)[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return !axes.empty();
}

Status normalize_batch(Island* island, const NodeView& node, const Shape& shape, ValueId x,
                       ValueId* y) {
  std::vector<float> scale, bias, mean, variance;
  const int64_t n = shape.rank() > 1 ? shape[1] : 0;
  if (n == 0 || !island->channel_constants(1, n, &scale) ||
      !island->channel_constants(2, n, &bias) || !island->channel_constants(3, n, &mean) ||
      !island->channel_constants(4, n, &variance))
    return Status();
  const float epsilon = node.real("epsilon", 1e-5f);
  for (size_t c = 0; c < scale.size(); ++c) {
    scale[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    bias[c] = bias[c] - mean[c] * scale[c];
  }
  return island->per_channel(scale, bias, x, y);
}

// x^2 and x^0.5, the powers that normalisations are exported with.
Status power(Importer& importer, Island* island, const NodeView& node, const Shape& shape,
             ValueId x, ValueId* y) {
  const Tensor& exponent = importer.input(node, 1);
  std::vector<float> values;
  if (!exponent.is_constant() || !importer.constant_floats(exponent, &values) || values.size() != 1)
    return Status();
  if (values[0] == 2.0f) return island->binary(F::MUL, x, x, y);
  if (values[0] == 0.5f) *y = island->add(F::SQRT, {x}, shape);
  return Status();
}

// a [..., k] times b [k, n]; *y stays kNoValue for other shapes.
void matmul(Importer& importer, Island* island, ValueId a, ValueId b, ValueId* y) {
  Shape sa = importer.shape_of(a);
  const Shape sb = importer.shape_of(b);
  if (sa.rank() < 1 || sb.rank() != 2 || sa[sa.rank() - 1] != sb[0]) return;
  sa[sa.rank() - 1] = sb[1];
  *y = island->add(F::MATMUL, {a, b}, sa);
}

// alpha * a * b + beta * c, either side transposed.
Status gemm(Importer& importer, Island* island, const NodeView& node, ValueId a, ValueId b,
            ValueId* made) {
  if (importer.shape_of(a).rank() != 2 || importer.shape_of(b).rank() != 2) return Status();
  const auto scaled = [&](const char* name, ValueId* x) {
    const float factor = node.real(name, 1.0f);
    return factor == 1.0f ? Status()
                          : island->binary(F::MUL, *x, island->constant({}, {factor}), x);
  };
  if (node.integer("transA", 0) != 0) a = importer.transpose(node, a, {1, 0});
  if (node.integer("transB", 0) != 0) b = importer.transpose(node, b, {1, 0});
  ValueId y = kNoValue, c;
  matmul(importer, island, a, b, &y);
  if (y == kNoValue) return Status();
  QRT_TRY(scaled("alpha", &y));
  if (node.has_input(2)) {
    if (!island->read(2, &c)) return Status();
    QRT_TRY(scaled("beta", &c));
    QRT_TRY(island->binary(F::ADD, y, c, &y));
  }
  *made = y;
  return Status();
}

// Of the rows of an image what each output position reads: [n, oh, ow, taps * c].
Status gather_windows(Importer& importer, const NodeView& node, const Window& window, ValueId x,
                      ValueId* y) {
  const Shape shape = importer.shape_of(x);
  Shape rows;
  QRT_TRY(make_shape({shape[0], window.output[0], window.output[1],
                      window.kernel[0] * window.kernel[1] * shape[3]},
                     &rows));
  IndexMaps maps(shape);
  for (int d = 0; d < 2; ++d) {
    QRT_TRY(check_index_count(window.output[d] * window.kernel[d]));
    Indices indices;
    for (int64_t o = 0; o < window.output[d]; ++o)
      for (int64_t k = 0; k < window.kernel[d]; ++k) {
        const int64_t at = o * window.stride[d] + k * window.dilation[d] - window.before[d];
        indices.push_back(at >= 0 && at < shape[d + 1] ? static_cast<int32_t>(at) : -1);
      }
    maps.set(d + 1, std::move(indices));
  }
  *y = importer.gather(node, x, maps, 0);
  *y = importer.reshape(
      node, *y,
      {shape[0], window.output[0], window.kernel[0], window.output[1], window.kernel[1], shape[3]});
  *y = importer.transpose(node, *y, {0, 1, 3, 2, 4, 5});
  *y = importer.reshape(node, *y, rows);
  return Status();
}

// A product of the windows and the weights, summed by rows, columns and channels of the kernel.
// *made stays kNoValue for groups.
Status convolve(Importer& importer, Island* island, const NodeView& node, ValueId x, ValueId w,
                ValueId* made) {
  const Shape sx = importer.shape_of(x), sw = importer.shape_of(w);
  const bool fits = (sx.rank() == 3 || sx.rank() == 4) && sw.rank() == sx.rank() &&
                    sw[1] == sx[1] && node.integer("group", 1) == 1;
  const std::vector<int64_t> kernel(fits ? sw.begin() + 2 : sw.end(), sw.end());
  if (!fits || (node.has("kernel_shape") && node.integers("kernel_shape") != kernel))
    return Status();
  Image image;
  bool known;
  QRT_TRY(read_image(importer, node, sx, false, &image, &known));
  Window window;
  QRT_TRY(read_window(node, image, kernel, false, &window));
  ValueId y = kNoValue, bias;
  QRT_TRY(gather_windows(importer, node, window, image_to_nhwc(importer, node, image, x), &x));
  if (sw.rank() == 3) w = importer.reshape(node, w, {sw[0], sw[1], 1, sw[2]});
  w = importer.transpose(node, w, {2, 3, 1, 0});
  w = importer.reshape(node, w, {importer.shape_of(x)[3], sw[0]});
  matmul(importer, island, x, w, &y);
  if (node.has_input(2)) {
    if (!island->read(2, &bias)) return Status();
    QRT_TRY(island->binary(F::ADD, y, bias, &y));
  }
  *made = image_from_nhwc(importer, node, image, y);
  return Status();
}

bool has_float_form(const NodeView& node) {
  const std::string& op = node.op();
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  if (!standard) return node.domain() == "com.microsoft" && op == "Gelu";
  if (op == "Gelu") return node.text("approximate", "none") == "none";
  return find(kUnary, op) || find(kBinary, op) || find(kReduce, op) ||
         std::any_of(std::begin(kOther), std::end(kOther), [&](const char* o) { return op == o; });
}

}  // namespace

// *made stays kNoValue where the node is not what an island can compute.
Status Importer::make_float(const NodeView& node, ValueId* made) {
  Island island(*this, node);
  const std::string& op = node.op();
  ValueId x, b;
  if (!island.read(0, &x) || other_outputs_are_read(*this, node)) return Status();
  const Shape shape = shape_of(x);
  if (const Form* form = find(kUnary, op)) {
    *made = island.add(form->function, {x}, shape);
    return Status();
  }
  if (const Form* form = find(kBinary, op)) {
    if (node.input_count() != 2 || !island.read(1, &b)) return Status();
    return island.binary(form->function, x, b, made);
  }
  if (op == "Relu") return island.binary(F::MAXIMUM, x, island.constant({}, {0.0f}), made);
  if (op == "MatMul" || op == "Gemm" || op == "Conv") {
    if (!island.read(1, &b)) return Status();
    if (op == "Conv") return convolve(*this, &island, node, x, b, made);
    if (op == "Gemm") return gemm(*this, &island, node, x, b, made);
    matmul(*this, &island, x, b, made);
    return Status();
  }
  if (op == "Pow") return power(*this, &island, node, shape, x, made);
  if (op == "BatchNormalization") return normalize_batch(&island, node, shape, x, made);

  std::vector<bool> marked;
  if (!mark_rows(*this, node, shape, &marked)) return Status();
  if (const Form* form = find(kReduce, op)) {
    ValueId y;
    QRT_TRY(island.rows(form->function, marked, 0, x, &y));
    if (node.integer("keepdims", 1) == 0) {
      Shape kept;
      for (int i = 0; i < shape.rank(); ++i)
        if (!marked[static_cast<size_t>(i)]) kept.push_back(shape[i]);
      y = reshape(node, y, kept);
    }
    *made = y;
    return Status();
  }
  if (op == "Softmax") return island.rows(F::SOFTMAX, marked, 0, x, made);
  if (op == "LogSoftmax") return island.rows(F::LOG_SOFTMAX, marked, 0, x, made);
  const float epsilon = node.real("epsilon", 1e-5f);
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) return Status();
  ValueId y;
  if (op == "InstanceNormalization") {
    std::vector<float> scale, bias;
    if (shape.rank() < 3 || !island.channel_constants(1, shape[1], &scale) ||
        !island.channel_constants(2, shape[1], &bias))
      return Status();
    QRT_TRY(island.rows(F::NORMALIZE, marked, epsilon, x, &y));
    return island.per_channel(scale, bias, y, made);
  }
  // LayerNormalization
  if (!island.read(1, &b)) return Status();
  QRT_TRY(island.rows(F::NORMALIZE, marked, epsilon, x, &y));
  QRT_TRY(island.binary(F::MUL, y, b, &y));
  if (node.has_input(2)) {
    if (!island.read(2, &b)) return Status();
    QRT_TRY(island.binary(F::ADD, y, b, &y));
  }
  *made = y;
  return Status();
}

void Importer::set_float(const NodeView& node, ValueId y) {
  outcomes_[static_cast<size_t>(node.index())] = NodeOutcome();
  became(node, "Float", "F");
  std::string depends;
  for (int i = 0; i < node.input_count() && depends.empty(); ++i)
    if (node.has_input(i)) depends = origin(node.input(i));
  if (depends.empty())
    origins_.erase(node.output(0));
  else
    origins_[node.output(0)] = depends;
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = kFloat;
  t.value = y;
  t.shape = shape_of(y);
  set_output(node, 0, std::move(t));
}

bool Importer::make_producer_float(const std::string& tensor, ValueId* y) {
  const int at = model_.producer(tensor);
  if (at < 0) return false;
  const NodeView& maker = *nodes_[static_cast<size_t>(at)];
  const Tensor& t = tensors_[tensor];
  const bool waits = t.is_pending() && t.pending->node == &maker && t.pending->followers.empty() &&
                     maker.output(0) == tensor;
  const bool refused = t.kind == Tensor::Kind::kRefused &&
                       !outcomes_[static_cast<size_t>(at)].rule.empty() &&
                       maker.output(0) == tensor;
  if (!allow_float_ || !has_float_form(maker) || !(waits || refused)) return false;
  ValueId made = kNoValue;
  if (!make_float(maker, &made).ok() || made == kNoValue) return false;
  set_float(maker, made);
  *y = made;
  return true;
}

Status Importer::retry_in_float(const NodeView& node) {
  NodeOutcome& outcome = outcomes_[static_cast<size_t>(node.index())];
  ValueId y = kNoValue;
  // What waited for this QuantizeLinear has no integer form after all.
  const bool failed = !outcome.rule.empty() || !outcome.not_assessed.empty();
  if (failed && node.op() == "QuantizeLinear" && make_producer_float(node.input(0), &y)) {
    outcome = NodeOutcome();
    origins_.erase(node.output(0));
    return assess(node);
  }
  if (outcome.rule.empty() || !has_float_form(node)) return Status();
  if (!allow_float_) {
    outcome.remedy += "; or let it run in float: --allow-float";
    return Status();
  }
  QRT_TRY(make_float(node, &y));
  if (y == kNoValue) return Status();
  set_float(node, y);
  return charge_derived();
}

}  // namespace qrt::convert::from_onnx
