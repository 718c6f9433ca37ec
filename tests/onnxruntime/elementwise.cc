// SPDX-License-Identifier: Apache-2.0
// Operators on elements: of one tensor, of two, with constants; softmaxes and orders.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

// Returns another tensor that broadcasts with this one: of its shape, most likely.
size_t GraphMaker::partner(size_t x) {
  const Dims dims = live_[x].dims;
  const bool has_batch = live_[x].has_batch;
  for (size_t i = live_.size(); i-- > 0;) {
    if (i == x || live_[i].has_batch != has_batch) continue;
    const Dims& other = live_[i].dims;
    bool fits = other.size() == dims.size();
    for (size_t d = 0; fits && d < dims.size(); ++d)
      fits = other[d] == dims[d] || other[d] == 1 || dims[d] == 1;
    if (fits && !dice_.one_in(4)) return i;
  }
  if (dice_.one_in(8)) return x;
  Dims other = dims, declared;
  if (dice_.one_in(4))
    for (size_t d = has_batch ? 1 : 0; d < dims.size(); ++d) other[d] = dice_.coin() ? 1 : other[d];
  declared = other;
  if (has_batch) declared[0] = -1;
  const double amplitude = live_[x].amplitude * dice_.real(0.3, 3);
  const Quant q = random_quant(amplitude);
  const std::string in = b_.input(declared);
  amplitudes_[in] = amplitude;
  return add_live(quantise_node(in, q), other, q, has_batch, amplitude);
}

Dims GraphMaker::broadcast(const Dims& a, const Dims& b) {
  Dims out = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& d = out[out.size() - shorter.size() + i];
    d = std::max(d, shorter[i]);
  }
  return out;
}

double GraphMaker::amplitude_of(const std::string& op, double a, double b) {
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b * 8;
  if (op == "PRelu") return a * std::max(1.0, b);
  return a + b;
}

bool GraphMaker::binary() {
  const size_t x = pick({0, 1, 2, 2, 3, 3, 4, 4, 4, 5});
  const size_t y = partner(x);
  const std::string op = dice_.pick<std::string>({"Add", "Add", "Add", "Add", "Mul", "Mul", "Mul",
                                                  "Sub", "Sub", "Div", "Min", "Max", "PRelu"});
  const Dims dims = broadcast(live_[x].dims, live_[y].dims);
  if (op == "PRelu" && dims != live_[x].dims) return false;
  const double amplitude = amplitude_of(op, live_[x].amplitude, live_[y].amplitude);
  const std::string a = read(x), b = read(y);
  Names inputs = {a, b};
  if (op[0] == 'M' && op != "Mul") {  // of one tensor or of three
    if (dice_.one_in(6)) inputs.push_back(dice_.coin() ? a : floats({}, amplitude));
    if (dice_.one_in(12) && dims == live_[x].dims) inputs = {a};
  }
  return finish(b_.node(op, inputs), dims, amplitude, live_[x].has_batch);
}

// Adds a Where, by a comparison with another tensor or a number.
bool GraphMaker::select() {
  if (opset_ < 16) return false;
  const size_t x = pick({1, 2, 3, 4, 4});
  const std::string op =
      dice_.pick<std::string>({"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"});
  const double amplitude = live_[x].amplitude;
  const bool has_batch = live_[x].has_batch;
  Dims dims = live_[x].dims;
  const std::string number = b_.scalar(static_cast<float>(dice_.real(-amplitude, amplitude)));
  if (dice_.coin()) {
    const std::string r = read(x), truth = b_.node(op, {r, number});
    const std::string other = b_.scalar(static_cast<float>(dice_.real(-amplitude, amplitude)));
    return finish(b_.node("Where", {truth, dice_.coin() ? r : read(x), other}), dims, amplitude,
                  has_batch);
  }
  const size_t y = partner(x);
  dims = broadcast(dims, live_[y].dims);
  const double most = std::max(amplitude, live_[y].amplitude);
  const std::string a = read(x), b = read(y), truth = b_.node(op, {a, b});
  return finish(b_.node("Where", {truth, dice_.coin() ? a : number, b}), dims, most, has_batch);
}

// Returns a constant that broadcasts with these dimensions; what_changes: along how many axes.
Dims GraphMaker::constant_dims(const Dims& dims, bool has_batch) {
  const int64_t how = dice_.integer(0, 9);
  if (how < 3) return dice_.coin() ? Dims{} : Dims{1};
  Dims shape(dims.size(), 1);
  if (how < 7 && dims.size() > 1) {  // one axis, most likely the channels
    const size_t axis =
        dims.size() > 2 && dice_.coin()
            ? 1
            : static_cast<size_t>(dice_.integer(1, static_cast<int64_t>(dims.size()) - 1));
    shape[axis] = dims[axis];
    if (dice_.coin()) shape.erase(shape.begin(), shape.begin() + static_cast<int64_t>(axis));
    return shape;
  }
  for (size_t i = has_batch ? 1 : 0; i < dims.size(); ++i)
    shape[i] = how < 9 ? dims[i] : dice_.coin() ? dims[i] : 1;
  return shape;
}

bool GraphMaker::binary_constant() {
  const size_t x = pick({1, 2, 3, 4, 4});
  const Dims dims = live_[x].dims;
  const std::string op = dice_.pick<std::string>(
      {"Add", "Add", "Mul", "Mul", "Sub", "Div", "Min", "Max", "PRelu", "Pow"});
  const Dims shape = constant_dims(dims, live_[x].has_batch);
  double other = op == "Mul" || op == "Div" || op == "PRelu" ? std::exp2(dice_.real(-2, 2))
                                                             : live_[x].amplitude;
  std::string c;
  if (op == "Pow") {
    const float e = dice_.pick<float>({0.5f, 1.0f, 2.0f, 2.0f, 3.0f});
    return finish(b_.node("Pow", {read(x), b_.scalar(e)}), dims, std::pow(live_[x].amplitude, e),
                  live_[x].has_batch);
  }
  c = dice_.coin() ? quantised_constant(shape, other) : floats(shape, other);
  const double amplitude = amplitude_of(op, live_[x].amplitude, other);
  const bool swapped = op != "PRelu" && dice_.one_in(4);
  const std::string r = read(x);
  return finish(b_.node(op, swapped ? Names{c, r} : Names{r, c}), broadcast(dims, shape), amplitude,
                live_[x].has_batch);
}

bool GraphMaker::where() {
  const size_t x = pick({2, 3, 4});
  const Dims dims = live_[x].dims;
  std::string condition;
  if (dice_.coin() || live_[x].has_batch) {
    Dims declared = dims;
    if (live_[x].has_batch) declared[0] = -1;
    for (size_t d = 1; d < declared.size(); ++d)
      if (dice_.one_in(6)) declared[d] = 1;
    condition = typed_input(kBool, declared);
  } else {
    const Dims shape = dice_.coin() ? dims : constant_dims(dims, false);
    std::vector<int64_t> v(static_cast<size_t>(elements(shape)));
    for (int64_t& e : v) e = dice_.integer(0, 1);
    condition = typed_constant(kBool, shape, v);
  }
  const std::string r = read(x);
  std::string other;
  if (dice_.coin()) {
    const size_t y = partner(x);
    if (live_[y].dims != dims) return false;
    other = read(y);
  } else {
    other =
        dice_.coin() ? floats({}, live_[x].amplitude) : quantised_constant({}, live_[x].amplitude);
  }
  return finish(
      b_.node("Where", dice_.coin() ? Names{condition, r, other} : Names{condition, other, r}),
      dims, live_[x].amplitude, live_[x].has_batch);
}

bool GraphMaker::unary() {
  struct Kind {
    const char* op;
    int since;
    std::vector<Attr> attributes;
    double amplitude;  // 0: the input's
    const char* domain = "";
  };
  static const std::vector<Kind> kinds = {
      {"Sigmoid", 1, {}, 1},
      {"Sigmoid", 1, {}, 1},
      {"Tanh", 1, {}, 1},
      {"HardSigmoid", 1, {}, 1},
      {"HardSigmoid", 1, {Attr("alpha", 0.1666667f), Attr("beta", 0.5f)}, 1},
      {"HardSwish", 14, {}, 0},
      {"Elu", 1, {}, 0},
      {"Elu", 1, {Attr("alpha", 0.7f)}, 0},
      {"Selu", 1, {}, 0},
      {"Celu", 12, {}, 0},
      {"LeakyRelu", 1, {Attr("alpha", 0.2f)}, 0},
      {"LeakyRelu", 1, {}, 0},
      {"ThresholdedRelu", 10, {Attr("alpha", 0.5f)}, 0},
      {"Shrink", 9, {Attr("lambd", 0.3f), Attr("bias", 0.1f)}, 0},
      {"Gelu", 20, {}, 0},
      {"Gelu", 20, {Attr("approximate", "tanh")}, 0},
      {"Gelu", 1, {}, 0, "com.microsoft"},
      {"QuickGelu", 1, {}, 0, "com.microsoft"},
      {"Mish", 18, {}, 0},
      {"Swish", 24, {}, 0},
      {"Swish", 24, {Attr("alpha", 1.5f)}, 0},
      {"Softplus", 1, {}, 0},
      {"Softsign", 1, {}, 1},
      {"Erf", 9, {}, 1},
      {"Exp", 1, {}, 8},
      {"Log", 1, {}, 4},
      {"Sqrt", 1, {}, 0},
      {"Reciprocal", 1, {}, 8},
      {"Abs", 1, {}, 0},
      {"Neg", 1, {}, 0},
      {"Sign", 9, {}, 1},
      {"Floor", 1, {}, 0},
      {"Ceil", 1, {}, 0},
      {"Round", 11, {}, 0}};
  const Kind k = dice_.pick(kinds);
  const std::string domain = k.domain;
  if (domain.empty() && opset_ < k.since) return false;
  const size_t x = pick({0, 1, 2, 3, 4});
  const double amplitude = k.amplitude > 0 ? k.amplitude : live_[x].amplitude;
  const std::string r = read(x);
  return finish(b_.node(k.op, {r}, k.attributes, domain), live_[x].dims, amplitude,
                live_[x].has_batch);
}

bool GraphMaker::relu_or_clip() {
  const size_t x = pick({1, 2, 3, 4});
  const double a = live_[x].amplitude;
  const std::string r = read(x);
  std::string y;
  if (dice_.coin()) {
    y = b_.node("Relu", {r});
  } else {
    const float lo = static_cast<float>(dice_.coin() ? 0 : -a * dice_.real(0.1, 1.2)),
                hi = static_cast<float>(a * dice_.real(0.1, 1.5));
    y = opset_ < 11 ? b_.node("Clip", {r}, {Attr("min", lo), Attr("max", hi)})
                    : b_.node("Clip", {r, dice_.one_in(5) ? "" : b_.scalar(lo), b_.scalar(hi)});
  }
  return finish(y, live_[x].dims, a, live_[x].has_batch);
}

bool GraphMaker::softmax() {
  const size_t x = pick({2, 3, 4});
  const int64_t rank = static_cast<int64_t>(live_[x].dims.size());
  const int64_t axis = dice_.one_in(3) ? axis_as_written(axis_of(live_[x]), live_[x].dims.size())
                       : dice_.coin()  ? -1
                                       : rank - 1;
  const std::string op = dice_.one_in(6) ? "LogSoftmax" : "Softmax";
  const std::string r = read(x);
  const std::string y = dice_.one_in(8) ? b_.node(op, {r}) : b_.node(op, {r}, {Attr("axis", axis)});
  Quant q = random_quant(op == "Softmax" ? 1 : 8);
  if (op == "Softmax" && dice_.coin())
    q.scale = q.is_int16() ? 1.0f / 65536 : 1.0f / 256, q.zero_point = q.lo();
  quantise(y, live_[x].dims, 1, live_[x].has_batch, &q);
  return true;
}

bool GraphMaker::arg_max() {
  const size_t x = pick({2, 3, 4});
  std::vector<Attr> attributes = {
      Attr("axis", axis_as_written(axis_of(live_[x]), live_[x].dims.size())),
      Attr("keepdims", dice_.integer(0, 1))};
  if (opset_ >= 12 && dice_.one_in(4)) attributes.push_back(Attr("select_last_index", 1));
  live_[x].is_read = true;
  const bool integers = opset_ >= 13 && !live_[x].quant.is_int16() && dice_.coin();
  const std::string r = integers ? live_[x].name : read(x);
  b_.output(b_.node(dice_.coin() ? "ArgMax" : "ArgMin", {r}, attributes));
  return true;
}

bool GraphMaker::top_k() {
  const size_t x = pick({1, 2, 3, 4});
  if (opset_ < 11) return false;
  const Live in = live_[x];
  const int64_t axis = axis_of(in), n = in.dims[static_cast<size_t>(axis)];
  const int64_t k = dice_.integer(1, n);
  const bool integers = dice_.one_in(3) && !in.quant.is_int16();
  live_[x].is_read = true;
  // The order of results that are not sorted is undefined.
  const std::string v = b_.node(
      "TopK", {integers ? in.name : read(x), integers64({k})},
      {Attr("axis", axis_as_written(axis, in.dims.size())), Attr("largest", dice_.integer(0, 1))});
  auto* node = b_.graph().mutable_node(b_.graph().node_size() - 1);
  node->add_output(v + "_indices");
  b_.output(v + "_indices");
  Dims dims = in.dims;
  dims[static_cast<size_t>(axis)] = k;
  if (integers)
    add_live(v, dims, in.quant, in.has_batch, in.amplitude);
  else
    quantise(v, dims, in.amplitude, in.has_batch, &in.quant);
  return true;
}

// Adds a pair that changes scale and zero point.
bool GraphMaker::requantise() {
  const size_t x = pick({0, 1, 2, 3, 4, 5});
  quantise(read(x), live_[x].dims, live_[x].amplitude, live_[x].has_batch);
  return true;
}

bool GraphMaker::batch_norm() {
  const size_t x = pick({2, 3, 4, 4, 5});
  const Dims dims = live_[x].dims;
  const int64_t c = dims[1];
  std::vector<float> scale, bias, mean, variance;
  const double a = live_[x].amplitude;
  for (int64_t i = 0; i < c; ++i) {
    scale.push_back(static_cast<float>(dice_.real(-1, 2))),
        bias.push_back(static_cast<float>(dice_.real(-a, a)));
    mean.push_back(static_cast<float>(dice_.real(-a, a))),
        variance.push_back(static_cast<float>(dice_.real(0.1, 4)));
  }
  const std::string r = read(x);
  return finish(b_.node("BatchNormalization", {r, b_.constant({c}, scale), b_.constant({c}, bias),
                                               b_.constant({c}, mean), b_.constant({c}, variance)}),
                dims, 2 * a, live_[x].has_batch);
}

bool GraphMaker::instance_norm() {
  const size_t x = pick({3, 4});
  const int64_t c = live_[x].dims[1];
  const std::string r = read(x);
  return finish(b_.node("InstanceNormalization", {r, floats({c}, 1), floats({c}, 1)}),
                live_[x].dims, 2, live_[x].has_batch);
}

// --- QOperator forms

bool GraphMaker::qlinear_binary() {
  const size_t x = pick({1, 2, 3, 4, 4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  Live b;
  if (dice_.one_in(4)) {
    b.quant = quant_like(a.quant, a.amplitude), b.amplitude = a.amplitude;
    b.dims = constant_dims(a.dims, a.has_batch), b.name = codes(b.dims, b.quant);
  } else {
    const size_t y = partner(x);
    live_[y].is_read = true;
    b = live_[y];
    if (a.quant.type != b.quant.type) return false;
  }
  const std::string op = dice_.coin() ? "QLinearAdd" : "QLinearMul";
  const double amplitude =
      op == "QLinearAdd" ? a.amplitude + b.amplitude : a.amplitude * b.amplitude;
  const Quant q = quant_like(a.quant, amplitude);
  live_[x].is_read = true;
  const bool swapped = dice_.coin();
  const Live &left = swapped ? b : a, &right = swapped ? a : b;
  add_live(b_.node(op,
                   {left.name, b_.scalar(left.quant.scale), zero_point(left.quant), right.name,
                    b_.scalar(right.quant.scale), zero_point(right.quant), b_.scalar(q.scale),
                    zero_point(q)},
                   {}, "com.microsoft"),
           broadcast(a.dims, b.dims), q, a.has_batch, amplitude);
  return true;
}

bool GraphMaker::qlinear_where() {
  const size_t x = pick({1, 2, 3, 4});
  const size_t y = partner(x);
  const Live a = live_[x], b = live_[y];
  if (a.quant.is_int16() || a.quant.type != b.quant.type) return false;
  Dims declared = a.dims;
  if (a.has_batch) declared[0] = -1;
  for (size_t d = 1; d < declared.size(); ++d)
    if (dice_.one_in(4)) declared[d] = 1;
  const Quant q = quant_like(a.quant, std::max(a.amplitude, b.amplitude));
  live_[x].is_read = live_[y].is_read = true;
  add_live(b_.node("QLinearWhere",
                   {typed_input(kBool, declared), a.name, b_.scalar(a.quant.scale),
                    zero_point(a.quant), b.name, b_.scalar(b.quant.scale), zero_point(b.quant),
                    b_.scalar(q.scale), zero_point(q)},
                   {}, "com.microsoft"),
           broadcast(a.dims, b.dims), q, a.has_batch, std::max(a.amplitude, b.amplitude));
  return true;
}

// Returns the name of a zero point, which may be left out where it is 0.
std::string GraphMaker::zero_or_none(const Quant& q) {
  return q.zero_point == 0 && dice_.coin() ? "" : zero_point(q);
}

bool GraphMaker::qlinear_unary() {
  const size_t x = pick({1, 2, 3, 4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  const bool sigmoid = dice_.coin();
  const double amplitude = sigmoid ? 1 : a.amplitude;
  const Quant q = quant_like(a.quant, amplitude);
  live_[x].is_read = true;
  std::vector<Attr> attributes;
  if (!sigmoid) attributes.push_back(Attr("alpha", 0.1f));
  add_live(b_.node(sigmoid ? "QLinearSigmoid" : "QLinearLeakyRelu",
                   {a.name, b_.scalar(a.quant.scale), zero_or_none(a.quant), b_.scalar(q.scale),
                    zero_point(q)},
                   attributes, "com.microsoft"),
           a.dims, q, a.has_batch, amplitude);
  return true;
}

bool GraphMaker::qlinear_softmax() {
  const size_t x = pick({2, 3, 4});
  const Live a = live_[x];
  if (a.quant.is_int16()) return false;
  Quant q;
  q.type = a.quant.type, q.scale = 1.0f / 256, q.zero_point = q.lo();
  live_[x].is_read = true;
  add_live(b_.node("QLinearSoftmax",
                   {a.name, b_.scalar(a.quant.scale), zero_point(a.quant), b_.scalar(q.scale),
                    zero_point(q)},
                   {Attr("axis", dice_.coin() ? -1 : axis_as_written(axis_of(a), a.dims.size())),
                    Attr("opset", opset_)},
                   "com.microsoft"),
           a.dims, q, a.has_batch, 1);
  return true;
}

}  // namespace qrt::random_onnx
