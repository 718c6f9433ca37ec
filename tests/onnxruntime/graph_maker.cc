// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxruntime/graph_maker.h"

#include <algorithm>

namespace qrt::random_onnx {
namespace {

const std::vector<int64_t> kOpsets = {10, 11, 12, 13, 13, 13, 14, 15, 16, 17, 17,
                                      18, 18, 19, 20, 21, 21, 22, 23, 24, 25};

}  // namespace

GraphMaker::GraphMaker(uint64_t seed, const GraphOptions& options)
    : dice_(seed), opset_(dice_.pick(kOpsets)), b_(opset_), options_(options) {
  b_.model.set_ir_version(opset_ > 22 ? 11 : opset_ > 18 ? 10 : 8);
  symbolic_ = dice_.one_in(4);
  const int64_t t = dice_.integer(0, 99);
  main_type_ = t < 62 ? kUint8 : t < 92 ? kInt8 : t < 96 ? kUint16 : kInt16;
  if (dice_.one_in(30)) tiny_ = std::ldexp(1.0, static_cast<int>(dice_.integer(-45, 20)));
}

bool GraphMaker::has_symbolic_batch() const {
  const auto& inputs = b_.model.graph().input();
  return std::any_of(inputs.begin(), inputs.end(), [](const onnx::ValueInfoProto& info) {
    const auto& dims = info.type().tensor_type().shape().dim();
    return std::any_of(dims.begin(), dims.end(), [](const auto& d) { return !d.has_dim_value(); });
  });
}

// --- tensors

int GraphMaker::activation_type() {
  return dice_.one_in(40) ? static_cast<int>(dice_.pick<int>({kUint8, kInt8})) : main_type_;
}

Quant GraphMaker::random_quant(double amplitude, bool is_positive) {
  Quant q;
  q.type = activation_type();
  const int64_t codes = int64_t{q.hi()} - q.lo();
  const int64_t middle = q.lo() + (codes + 1) / 2;
  const int64_t how = dice_.integer(0, 9);
  q.zero_point = static_cast<int>(is_positive && how < 7 ? q.lo()
                                  : how < 4              ? middle
                                  : how < 5              ? q.lo()
                                  : how < 6              ? q.hi()
                                                         : dice_.integer(q.lo(), q.hi()));
  const int64_t farther = std::max<int64_t>(q.zero_point - q.lo(), q.hi() - q.zero_point);
  double scale = amplitude / static_cast<double>(farther) * dice_.real(0.4, 1.6);
  if (dice_.one_in(8)) scale = std::exp2(std::round(std::log2(scale)));
  q.scale = static_cast<float>(scale);
  return q;
}

Quant GraphMaker::quant_like(const Quant& other, double amplitude) {
  Quant q = random_quant(amplitude);
  q.type = other.type;
  q.zero_point = std::min(std::max(q.zero_point, q.lo()), q.hi());
  return q;
}

std::string GraphMaker::zero_point(const Quant& q) {
  return typed_constant(q.type, {}, {q.zero_point});
}

// Adds a QuantizeLinear or DequantizeLinear. The ONNX domain has them for 16 bits from opset 21 on.
// A zero point of 0 may be left out.
std::string GraphMaker::pair_node(const std::string& op, const std::string& x, const Quant& q) {
  const bool needs_other_domain = q.is_int16() && opset_ < 21;
  const std::string domain =
      needs_other_domain || (opset_ < 21 && dice_.one_in(40)) ? "com.microsoft" : "";
  const Dims shape = dice_.one_in(80) ? Dims{1} : Dims{};
  Names inputs = {x, b_.constant<float>(shape, {q.scale})};
  // A DequantizeLinear of any type may lack a zero point of 0, but ONNX Runtime's optimiser then
  // copies it as a pair of uint8.
  const bool is_told = q.zero_point == 0 && q.type == kUint8;
  if (!is_told || !dice_.one_in(8)) inputs.push_back(typed_constant(q.type, shape, {q.zero_point}));
  std::vector<Attr> attributes;
  if (opset_ >= 13 && dice_.one_in(40)) attributes.push_back(Attr("axis", dice_.integer(-1, 1)));
  return b_.node(op, inputs, attributes, domain);
}

std::string GraphMaker::quantise_node(const std::string& x, const Quant& q) {
  return pair_node("QuantizeLinear", x, q);
}

std::string GraphMaker::dequantise_node(const std::string& x, const Quant& q) {
  return pair_node("DequantizeLinear", x, q);
}

size_t GraphMaker::add_live(const std::string& name, const Dims& dims, const Quant& q,
                            bool has_batch, double amplitude) {
  Live x;
  x.name = name, x.dims = dims, x.quant = q, x.has_batch = has_batch, x.amplitude = amplitude;
  live_.push_back(std::move(x));
  return live_.size() - 1;
}

size_t GraphMaker::input_of_rank(int rank) {
  Dims dims = {dice_.one_in(4) ? dice_.integer(2, 3) : 1};
  for (int i = 1; i < rank; ++i)
    dims.push_back(i == 1 ? dice_.integer(1, dice_.one_in(6) ? 33 : 9)
                          : dice_.integer(1, rank > 4 ? 7 : 12));
  const bool has_batch = symbolic_ && rank > 1;
  if (has_batch) dims[0] = 1;
  Dims declared = dims;
  if (has_batch) declared[0] = -1;
  const double amplitude = tiny_ * std::exp2(dice_.real(-3, 4));
  const Quant q = random_quant(amplitude);
  if (dice_.one_in(4)) {  // an integer edge
    std::string x;
    switch (q.type) {
      case kInt8: x = b_.input<int8_t>(declared); break;
      case kUint16: x = b_.input<uint16_t>(declared); break;
      case kInt16: x = b_.input<int16_t>(declared); break;
      default: x = b_.input<uint8_t>(declared);
    }
    return add_live(x, dims, q, has_batch, amplitude);
  }
  const std::string x = b_.input(declared);
  amplitudes_[x] = amplitude;
  return add_live(quantise_node(x, q), dims, q, has_batch, amplitude);
}

size_t GraphMaker::pick(const std::vector<int>& ranks) {
  const auto fits = [&](const Live& x) {
    return std::count(ranks.begin(), ranks.end(), static_cast<int>(x.dims.size())) > 0 &&
           elements(x.dims) < 20000;
  };
  if (!dice_.one_in(12))
    for (size_t i = live_.size(); i-- > 0;)
      if (fits(live_[i]) && !dice_.one_in(4)) return i;
  return input_of_rank(dice_.pick(ranks));
}

// Operators that ONNX Runtime takes out before it looks for pairs.
std::string GraphMaker::without_effect(std::string x, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  switch (dice_.integer(0, 9)) {
    case 0: return b_.node("Identity", {x});
    case 1:
      return opset_ < 12 ? b_.node("Dropout", {x}, {Attr("ratio", 0.3f)}) : b_.node("Dropout", {x});
    case 2: return b_.node("Mul", {x, b_.scalar(1.0f)});
    case 3: return b_.node("Div", {x, b_.scalar(1.0f)});
    case 4: return b_.node("Add", {x, b_.scalar(0.0f)});
    case 5: return b_.node("Sub", {x, b_.scalar(0.0f)});
    case 6: return b_.node("Cast", {x}, {Attr("to", 1)});
    case 7: {
      if (symbolic_) return x;
      return b_.node("Expand", {x, integers64(dims)});
    }
    case 8: {
      if (rank < 3) return x;
      Dims perm(dims.size()), back(dims.size());
      for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
      std::swap(perm[1], perm.back());
      if (rank > 3 && dice_.coin()) std::swap(perm[1], perm[2]);
      for (size_t i = 0; i < perm.size(); ++i)
        back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
      return b_.node("Transpose", {b_.node("Transpose", {x}, {Attr("perm", perm)})},
                     {Attr("perm", back)});
    }
    default: {
      if (rank < 1) return x;
      return b_.node("Reshape", {x, integers64(Dims(dims.size(), 0))});
    }
  }
}

std::string GraphMaker::read(size_t i) {
  live_[i].is_read = true;
  const Quant q = live_[i].quant;
  if (!live_[i].real.empty() && dice_.coin()) return live_[i].real;
  std::string x = dequantise_node(live_[i].name, q);
  if (dice_.one_in(40)) x = without_effect(x, live_[i].dims);
  if (dice_.one_in(15)) {  // a second pair in a row, of the same or of other parameters
    Quant other = q;
    if (!dice_.one_in(4)) other = random_quant(live_[i].amplitude);
    other.type = dice_.one_in(8) ? other.type : q.type;
    other.zero_point = std::min(std::max(other.zero_point, other.lo()), other.hi());
    if (dice_.one_in(4)) other.zero_point = q.type == other.type ? q.zero_point : other.zero_point;
    if (dice_.one_in(3)) x = without_effect(x, live_[i].dims);
    const std::string stored = quantise_node(x, other);
    x = dequantise_node(stored, other);
    if (dice_.one_in(6)) {  // the second QuantizeLinear read once more
      if (dice_.coin())
        b_.output(dequantise_node(stored, other));
      else
        add_live(stored, live_[i].dims, other, live_[i].has_batch, live_[i].amplitude);
    }
    if (dice_.one_in(4)) x = without_effect(x, live_[i].dims);
  }
  if (dice_.coin()) live_[i].real = x;
  return x;
}

size_t GraphMaker::quantise(const std::string& real, const Dims& dims, double amplitude,
                            bool has_batch, const Quant* like) {
  const Quant q = like ? *like : random_quant(amplitude);
  return add_live(quantise_node(real, q), dims, q, has_batch, amplitude);
}

bool GraphMaker::finish(std::string y, Dims dims, double amplitude, bool has_batch) {
  bool is_positive = false;
  if (dice_.one_in(3)) {
    switch (dice_.integer(0, 11)) {
      case 0:
      case 1:
      case 2:
      case 3: y = b_.node("Relu", {y}), is_positive = true; break;
      case 4:
      case 5: {
        const float most = static_cast<float>(amplitude * dice_.real(0.2, 1.2)),
                    least = dice_.coin() ? 0.0f : -most * 0.5f;
        y = opset_ < 11 ? b_.node("Clip", {y}, {Attr("min", least), Attr("max", most)})
                        : b_.node("Clip", {y, b_.scalar(least), b_.scalar(most)});
        is_positive = least >= 0;
        break;
      }
      case 6: y = b_.node("LeakyRelu", {y}, {Attr("alpha", 0.1f)}); break;
      case 7:
        y = b_.node("Sigmoid", {y}), is_positive = true;
        amplitude = 1;
        break;
      case 8: y = b_.node("Mul", {y, b_.node("Sigmoid", {y})}); break;
      case 9: {
        if (dims.size() < 2) break;
        y = b_.node("Flatten", {y}, {Attr("axis", 1)});
        dims = {dims[0], elements(dims) / dims[0]};
        break;
      }
      case 10: {
        Dims perm;
        for (size_t i = 0; i < dims.size(); ++i) perm.push_back(static_cast<int64_t>(i));
        if (perm.size() > 2) std::swap(perm[1], perm.back());
        const Dims was = dims;
        for (size_t i = 0; i < dims.size(); ++i) dims[i] = was[static_cast<size_t>(perm[i])];
        y = b_.node("Transpose", {y}, {Attr("perm", perm)});
        break;
      }
      default: y = without_effect(y, dims);
    }
  }
  if (dice_.one_in(25)) {  // a float output
    b_.output(y);
    return true;
  }
  const Quant q = random_quant(amplitude, is_positive);
  const size_t made = quantise(y, dims, amplitude, has_batch, &q);
  if (dice_.one_in(40)) {  // also read as it is
    if (dice_.coin())
      b_.output(y);
    else
      quantise(y, dims, amplitude, has_batch);
  }
  (void)made;
  return true;
}

void GraphMaker::finish_outputs() {
  if (live_.empty() && b_.graph().output_size() == 0) input_of_rank(2);
  for (size_t i = 0; i < live_.size(); ++i) {
    const Live& x = live_[i];
    if (x.is_read && !dice_.one_in(15)) continue;
    bool is_input = false;
    for (const auto& info : b_.graph().input()) is_input = is_input || info.name() == x.name;
    if (dice_.one_in(3) && !is_input)
      b_.output(x.name);
    else
      b_.output(dequantise_node(x.name, x.quant));
  }
}

}  // namespace qrt::random_onnx
