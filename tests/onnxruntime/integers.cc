// SPDX-License-Identifier: Apache-2.0
// Integers without quantisation.
#include <algorithm>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {
namespace {

struct Operator {
  const char* name;
  int since, inputs;
  bool truth;  // its result is bool
  bool of_truth, of_integers;
};

const std::vector<Operator> kOperators = {
    {"Add", 14, 2, false, false, true},        {"Sub", 14, 2, false, false, true},
    {"Mul", 14, 2, false, false, true},        {"Div", 14, 2, false, false, true},
    {"Mod", 13, 2, false, false, true},        {"BitShift", 11, 2, false, false, true},
    {"Min", 13, 3, false, false, true},        {"Max", 13, 3, false, false, true},
    {"Clip", 13, 1, false, false, true},       {"Abs", 13, 1, false, false, true},
    {"Neg", 13, 1, false, false, true},        {"Sign", 13, 1, false, false, true},
    {"Relu", 14, 1, false, false, true},       {"Equal", 13, 2, true, true, true},
    {"Less", 13, 2, true, false, true},        {"LessOrEqual", 16, 2, true, false, true},
    {"Greater", 13, 2, true, false, true},     {"GreaterOrEqual", 16, 2, true, false, true},
    {"BitwiseAnd", 18, 2, false, false, true}, {"BitwiseOr", 18, 2, false, false, true},
    {"BitwiseXor", 18, 2, false, false, true}, {"BitwiseNot", 18, 1, false, false, true},
    {"And", 7, 2, true, true, false},          {"Or", 7, 2, true, true, false},
    {"Xor", 7, 2, true, true, false},          {"Not", 1, 1, true, true, false},
    {"Where", 16, 3, false, true, true},       {"ArgMax", 13, 1, false, false, true},
    {"TopK", 11, 1, false, false, true}};

}  // namespace

std::string GraphMaker::typed_input(int type, const Dims& dims) {
  const std::string name = "in" + std::to_string(b_.graph().input_size());
  OnnxBuilder::declare(b_.graph().add_input(), name, type, dims);
  return name;
}

std::string GraphMaker::typed_constant(int type, const Dims& dims, const std::vector<int64_t>& v) {
  switch (type) {
    case kInt8: return b_.constant(dims, std::vector<int8_t>(v.begin(), v.end()));
    case kUint16: return b_.constant(dims, std::vector<uint16_t>(v.begin(), v.end()));
    case kInt16: return b_.constant(dims, std::vector<int16_t>(v.begin(), v.end()));
    case kInt32: return b_.constant(dims, std::vector<int32_t>(v.begin(), v.end()));
    case kInt64: return b_.constant(dims, v);
    case kUint8: return b_.constant(dims, std::vector<uint8_t>(v.begin(), v.end()));
    default: return packed(type, dims, v);
  }
}

// Adds one to three integer operators in a row, on inputs, constants and existing tensors.
bool GraphMaker::integer_math() {
  const int type = dice_.pick<int>({kUint8, kInt8, kUint16, kInt16, kInt32, kInt32, kInt64, kBool});
  const Dims dims = {symbolic_ ? 1 : dice_.integer(1, 3), dice_.integer(1, 6), dice_.integer(1, 3)};
  const auto declared = [&](Dims d) {
    if (symbolic_ && d.size() == dims.size()) d[0] = -1;
    return d;
  };
  const auto limits = [&](const std::string& op) -> std::pair<int64_t, int64_t> {
    // ONNX Runtime ends when an operator divides by 0.
    if (op == "Div" || op == "Mod") return {1, 100};
    if (op == "BitShift") return {0, 7};
    if (type == kInt8) return {-128, 127};
    if (type == kInt16) return {-32768, 32767};
    if (type == kUint8 || type == kUint16) return {0, type == kUint8 ? 255 : 65535};
    return {-100000, 100000};
  };
  const auto operand = [&](const std::string& op) {
    Dims d = dims;
    for (size_t i = 1; i < d.size(); ++i)
      if (dice_.one_in(4)) d[i] = 1;
    if (dice_.one_in(4)) d.erase(d.begin());
    const auto [lo, hi] = limits(op);
    if (type == kBool || !dice_.one_in(3)) {
      const std::string x = typed_input(type, declared(d));
      limits_[x] = {lo, hi};
      return x;
    }
    if (d.size() == dims.size()) d[0] = 1;
    if (dice_.coin()) d = {};
    std::vector<int64_t> v(static_cast<size_t>(elements(d)));
    for (int64_t& e : v) e = dice_.integer(lo, hi);
    return typed_constant(type, d, v);
  };
  std::string x = typed_input(type, declared(dims));
  limits_[x] = limits("");
  const int64_t most = dice_.integer(1, 3);
  for (int64_t made = 0, tried = 0; made < most && tried < 20; ++tried) {
    const Operator op = dice_.pick(kOperators);
    if (opset_ < op.since || !(type == kBool ? op.of_truth : op.of_integers)) continue;
    const std::string name = op.name;
    if (type == kBool && op.since > 7 && name != "Equal") continue;
    // ONNX Runtime has the sign of an int64's lower half; Min and Max compare by it what products make beyond 32 bits.
    if (type == kInt64 && (name == "Sign" || (made > 0 && (name == "Min" || name == "Max"))))
      continue;
    ++made;
    std::vector<Attr> attributes;
    if (name == "BitShift")
      attributes.push_back(Attr("direction", dice_.coin() ? "LEFT" : "RIGHT"));
    if (name == "Mod" && dice_.coin()) attributes.push_back(Attr("fmod", 1));
    Names inputs = {x};
    if (name == "Where") {
      const std::string condition = typed_input(kBool, declared(dims)), other = operand(name);
      inputs = dice_.coin() ? Names{condition, x, other} : Names{condition, other, x};
    } else if (name == "Clip") {
      if (type == kBool) continue;
      const auto [lo, hi] = limits(name);
      const int64_t least = dice_.integer(lo, hi), greatest = dice_.integer(least, hi);
      inputs.push_back(dice_.one_in(4) ? "" : typed_constant(type, {}, {least}));
      if (!dice_.one_in(4)) inputs.push_back(typed_constant(type, {}, {greatest}));
      if (inputs.back().empty()) inputs.pop_back();
    } else if (name == "ArgMax" || name == "TopK") {
      const int64_t axis = dice_.integer(-2, -1);
      if (name == "ArgMax") {
        b_.output(b_.node(dice_.coin() ? "ArgMax" : "ArgMin", {x}, {Attr("axis", axis)}));
        return true;
      }
      const int64_t n = dims[static_cast<size_t>(axis + 3)];
      const std::string v = b_.node("TopK", {x, integers64({dice_.integer(1, n)})},
                                    {Attr("axis", axis), Attr("largest", dice_.integer(0, 1))});
      b_.graph().mutable_node(b_.graph().node_size() - 1)->add_output(v + "_indices");
      b_.output(v), b_.output(v + "_indices");
      return true;
    } else {
      const int64_t n = op.inputs == 3 ? dice_.integer(1, 3) : op.inputs;
      for (int64_t i = 1; i < n; ++i) inputs.push_back(operand(name));
      const bool divides = name == "Div" || name == "Mod" || name == "BitShift";
      if (n > 1 && !divides && dice_.coin()) std::swap(inputs[0], inputs.back());
    }
    x = b_.node(name, inputs, attributes);
    if (op.truth && type != kBool) break;
  }
  b_.output(x);
  return true;
}

}  // namespace qrt::random_onnx
