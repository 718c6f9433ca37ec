// SPDX-License-Identifier: Apache-2.0
// The rules of ESP-DL's specification for a quantised model, checked on all operators of a result:
// powers of two, no zero points, ranges, one scale for a tensor, exponents of biases and of sums.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "runtime/tools/npy.h"
#include "tests/quantize/network.h"
#include "tests/support/command.h"

namespace qrt::espdl_rules_test {
namespace {

// A QDQ model, by the names of its tensors.
class Model {
 public:
  explicit Model(const std::string& bytes) {
    EXPECT_TRUE(proto_.ParseFromString(bytes));
    for (const auto& t : proto_.graph().initializer()) constants_[t.name()] = &t;
    for (const auto& n : proto_.graph().node())
      for (const std::string& y : n.output()) writers_[y] = &n;
  }
  const auto& nodes() const { return proto_.graph().node(); }
  const onnx::TensorProto* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }
  const onnx::NodeProto* writer(const std::string& name) const {
    const auto found = writers_.find(name);
    return found == writers_.end() ? nullptr : found->second;
  }
  std::vector<float> floats(const std::string& name) const {
    std::vector<float> values(constant(name)->raw_data().size() / sizeof(float));
    memcpy(values.data(), constant(name)->raw_data().data(), values.size() * sizeof(float));
    return values;
  }
  // Returns the scales behind a float tensor: those of the DequantizeLinear that makes it.
  std::vector<float> scales_of(const std::string& name) const {
    const onnx::NodeProto* dq = writer(name);
    EXPECT_TRUE(dq && dq->op_type() == "DequantizeLinear") << name;
    return dq ? floats(dq->input(1)) : std::vector<float>(1);
  }
  float scale_of(const std::string& name) const { return scales_of(name)[0]; }
  // Returns the scale of what a node's result is quantised to, behind a Relu or Clip.
  float scale_behind(std::string name) const {
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& n : nodes()) {
        if (n.input_size() == 0 || n.input(0) != name) continue;
        if (n.op_type() == "QuantizeLinear") return floats(n.input(1))[0];
        if (n.op_type() != "Relu" && n.op_type() != "Clip") continue;
        name = n.output(0);
        moved = true;
      }
    }
    ADD_FAILURE() << name << " is not quantised";
    return 0;
  }

 private:
  onnx::ModelProto proto_;
  std::map<std::string, const onnx::TensorProto*> constants_;
  std::map<std::string, const onnx::NodeProto*> writers_;
};

bool is_power_of_two(float x) {
  int exponent;
  return std::frexp(x, &exponent) == 0.5f;
}

class EspDlRules : public testing::CommandTest {
 protected:
  std::string quantised(const std::string& scheme, bool per_channel = false) {
    const std::string model = write("float.onnx", testing::small_network(&random_));
    const std::vector<float> x = testing::normal(&random_, 40 * 192, 1);
    EXPECT_TRUE(
        tool::write_npy(path("x.npy"), DType::kFloat32, {40, 3, 8, 8}, x.data(), x.size() * 4)
            .ok());
    std::vector<std::string> words = {model,           "--calibration", path("x.npy"),
                                      "--scheme",      scheme,          "-o",
                                      path("out.qrt"), "--onnx",        path("out.onnx")};
    if (per_channel) words.push_back("--per-channel");
    const testing::CommandResult r = run("qrt_quantize", words);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out.find("ONNX's arithmetic"), std::string::npos) << r.out;
    return read(path("out.onnx"));
  }
  std::mt19937 random_{11};
};

TEST_F(EspDlRules, HoldForEveryOperator) {
  for (const auto& [scheme, type, per_channel] :
       {std::tuple{"espdl-s8", onnx::TensorProto::INT8, false},
        {"espdl-s8", onnx::TensorProto::INT8, true},
        {"espdl-s16", onnx::TensorProto::INT16, false},
        {"espdl-s16", onnx::TensorProto::INT16, true}}) {
    const Model m(quantised(scheme, per_channel));
    int layers = 0, sums = 0, edges = 0, lists = 0;
    for (const auto& n : m.nodes()) {
      if (n.op_type() == "QuantizeLinear" || n.op_type() == "DequantizeLinear") {
        ++edges;
        for (const float s : m.floats(n.input(1)))
          EXPECT_TRUE(is_power_of_two(s)) << n.name() << " " << s;
        const bool is_constant = m.constant(n.input(0)) != nullptr;
        if (!per_channel || !is_constant) {
          EXPECT_EQ(m.floats(n.input(1)).size(), 1u) << n.name() << ": one scale for a tensor";
        }
        lists += m.floats(n.input(1)).size() > 1 ? 1 : 0;
        const onnx::TensorProto* zero = m.constant(n.input(2));
        ASSERT_NE(zero, nullptr) << n.name();
        EXPECT_EQ(zero->raw_data().find_first_not_of('\0'), std::string::npos)
            << n.name() << " has a zero point";
        EXPECT_TRUE(zero->data_type() == type || zero->data_type() == onnx::TensorProto::INT32)
            << n.name();
      }
      if (n.op_type() == "Conv" || n.op_type() == "Gemm") {
        ++layers;
        if (n.input_size() > 2) {
          std::vector<float> products = m.scales_of(n.input(1));
          for (float& s : products) s *= m.scale_of(n.input(0));
          EXPECT_EQ(m.scales_of(n.input(2)), products) << n.name();
        }
        EXPECT_GT(m.scale_behind(n.output(0)), 0) << n.name();
      }
      if (n.op_type() == "Add") {
        ++sums;
        EXPECT_EQ(m.scale_of(n.input(0)), m.scale_of(n.input(1))) << n.name();
        EXPECT_EQ(m.scale_of(n.input(0)), m.scale_behind(n.output(0))) << n.name();
      }
    }
    EXPECT_EQ(layers, 3) << scheme;
    EXPECT_EQ(sums, 1) << scheme;
    EXPECT_GT(edges, 10) << scheme;
    EXPECT_EQ(lists > 0, per_channel) << scheme;
  }
}

TEST_F(EspDlRules, TheFileNamesTheChipWhoseArithmeticItHas) {
  quantised("espdl-s8");
  EXPECT_NE(read(path("out.qrt")).find("espdl-p4"), std::string::npos);
}

}  // namespace
}  // namespace qrt::espdl_rules_test
