// ONNX Runtime's own results (onnxruntime_numbers.h) for what random graphs found to differ, or to
// be refused without need. A new test here: build, run tests/onnxruntime/numbers.mjs, build again.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/converter/onnxruntime_numbers.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing {
namespace {

// The same numbers on every machine, over the whole of T.
template <class T>
std::vector<T> codes(int64_t n, int step = 37) {
  std::vector<T> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(i * static_cast<size_t>(step) + 11);
  return v;
}
std::vector<float> reals(int64_t n, float amplitude) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = amplitude * (static_cast<float>(i * 29 % 64) / 32.0f - 1.0f);
  return v;
}
int64_t elements(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

class OnnxBits : public ::testing::Test {
 protected:
  OnnxBuilder b{13};

  // Floats from -2 to 2 behind a pair.
  std::string image(const Dims& dims, float scale = 1.0f / 64, uint8_t zero_point = 128) {
    return b.qdq<uint8_t>(real(dims), scale, zero_point);
  }
  std::string real(const Dims& dims, float amplitude = 2.0f) {
    Dims here = dims;
    for (int64_t& d : here) d = d < 0 ? 1 : d;
    inputs_.push_back(to_bytes(reals(elements(here), amplitude)));
    return b.input(dims);
  }
  std::string weights(const Dims& dims, float scale = 0.01f) {
    return b.dq<int8_t>(b.constant<int8_t>(dims, codes<int8_t>(elements(dims))), scale, 0);
  }
  std::string floats(const Dims& dims, float amplitude = 1.0f) {
    return b.constant<float>(dims, reals(elements(dims), amplitude));
  }
  std::string shape(const Dims& values) {
    return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
  }
  void stored(const std::string& x, float scale = 1.0f / 32, uint8_t zero_point = 128) {
    b.output(b.q<uint8_t>(x, scale, zero_point));
  }

  // Every output's numbers, 8-bit ones and floats.
  std::vector<float> results() {
    const std::vector<Bytes> outputs = b.run(inputs_);
    std::vector<float> all;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = b.graph().output(static_cast<int>(i)).name();
      bool is_stored = false;
      for (const auto& node : b.graph().node())
        is_stored = is_stored || (node.output(0) == name && is_integer(node.op_type()));
      const auto append = [&all](const auto& v) { all.insert(all.end(), v.begin(), v.end()); };
      if (is_stored)
        append(outputs[i]);
      else
        append(from_bytes<float>(outputs[i]));
    }
    return all;
  }
  void equals_onnxruntime() { EXPECT_EQ(results(), expected()); }
  const std::vector<float>& expected() const {
    static const std::vector<float> none;
    const auto found =
        onnxruntime_numbers().find(::testing::UnitTest::GetInstance()->current_test_info()->name());
    return found == onnxruntime_numbers().end() ? none : found->second;
  }

 private:
  static bool is_integer(const std::string& op) {
    return op == "QuantizeLinear" || op == "QLinearConv";
  }
  std::vector<Bytes> inputs_;
};

// --- SAME padding where the kernel is smaller than its stride

TEST_F(OnnxBits, SameOfConvBelowZero) {
  const std::string x = image({1, 2, 12, 12});
  for (const char* how : {"SAME_UPPER", "SAME_LOWER"})
    stored(
        b.node("Conv", {x, weights({3, 2, 1, 1})}, {{"strides", Dims{3, 4}}, {"auto_pad", how}}));
  stored(b.node("Conv", {x, weights({3, 2, 2, 1})},
                {{"strides", Dims{5, 5}}, {"auto_pad", "SAME_UPPER"}}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, SameOfPoolsBelowZero) {
  const std::string x = image({1, 2, 12, 11});
  for (const char* how : {"SAME_UPPER", "SAME_LOWER"})
    for (const char* op : {"MaxPool", "AveragePool"})
      stored(b.node(op, {x},
                    {{"kernel_shape", Dims{1, 2}}, {"strides", Dims{3, 5}}, {"auto_pad", how}}),
             1.0f / 64);
  equals_onnxruntime();
}

TEST_F(OnnxBits, SameOfMaxPoolLeavesDilationsOut) {
  const std::string x = image({1, 2, 6, 5});
  stored(
      b.node("MaxPool", {x},
             {{"kernel_shape", Dims{3, 2}}, {"dilations", Dims{2, 3}}, {"auto_pad", "SAME_UPPER"}}),
      1.0f / 64);
  equals_onnxruntime();
}

TEST_F(OnnxBits, SameOfConvTransposeDoesNotFillUp) {
  stored(b.node("ConvTranspose", {image({1, 1, 4, 4}), weights({1, 2, 1, 1})},
                {{"strides", Dims{2, 2}}, {"auto_pad", "SAME_UPPER"}}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, MaxPoolWindowInPadding) {  // dilation steps over the whole image
  stored(b.node("MaxPool", {image({1, 1, 4, 1})},
                {{"kernel_shape", Dims{1, 2}},
                 {"dilations", Dims{1, 3}},
                 {"pads", Dims{0, 1, 0, 1}},
                 {"strides", Dims{1, 1}}}),
         1.0f / 64);
  equals_onnxruntime();
}

// --- pairs in a row

TEST_F(OnnxBits, PairsMergeBehindWhatChangesNothing) {
  const std::vector<std::function<std::string(std::string)>> nothing = {
      [&](std::string x) {
        return b.node("Mul", {x, b.scalar(1.0f)});
      },
      [&](std::string x) {
        return b.node("Mul", {b.scalar(1.0f), x});
      },
      [&](std::string x) {
        return b.node("Div", {x, b.scalar(1.0f)});
      },
      [&](std::string x) {
        return b.node("Add", {x, b.scalar(0.0f)});
      },
      [&](std::string x) {
        return b.node("Sub", {x, b.scalar(0.0f)});
      },
      [&](std::string x) {
        return b.node("Cast", {x}, {{"to", 1}});
      },
      [&](std::string x) {
        return b.node("Expand", {x, shape({1, 4, 3})});
      },
      [&](std::string x) {
        return b.node("Slice", {x, shape({0}), shape({INT64_MAX}), shape({1})});
      },
      [&](std::string x) {
        const std::vector<Attr> swap = {{"perm", Dims{0, 2, 1}}};
        return b.node("Transpose", {b.node("Transpose", {x}, swap)}, swap);
      }};
  for (const auto& f : nothing)
    b.output(b.qdq<uint8_t>(f(image({1, 4, 3}, 0.03f, 100)), 0.017f, 90));
  equals_onnxruntime();
}

TEST_F(OnnxBits, PairsDoNotMergeBehindReshape) {
  b.output(b.qdq<uint8_t>(b.node("Reshape", {image({1, 4, 3}, 0.03f, 100), shape({1, 12})}), 0.017f,
                          90));
  equals_onnxruntime();
}

TEST_F(OnnxBits, PairsMergeWhereEqualNodesReadTheSecond) {
  const std::string second = b.q<uint8_t>(image({1, 4, 3}, 0.03f, 100), 0.017f, 90);
  b.output(b.dq<uint8_t>(second, 0.017f, 90));
  stored(b.node("Add", {b.dq<uint8_t>(second, 0.017f, 90), image({1, 4, 3})}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, PairsOf16BitsMerge) {
  b.model.mutable_opset_import(0)->set_version(21);
  b.output(b.qdq<uint16_t>(b.qdq<uint16_t>(real({1, 4, 3}), 0.0001f, 30000), 0.00007f, 20000));
  equals_onnxruntime();
}

TEST_F(OnnxBits, PairsOfAlmostEqualScalesKeepBoth) {
  const float first = 0.9e-20f, second = 1.1e-20f;
  b.output(b.qdq<uint8_t>(b.qdq<uint8_t>(real({1, 4, 3}, 1e-18f), first, 128), second, 128));
  equals_onnxruntime();
}

// --- zero points through tables and layouts

TEST_F(OnnxBits, MatMulBehindTablesPerChannel) {
  const std::string x = b.node("PRelu", {image({1, 4, 3}), floats({4, 1})});
  stored(b.node("MatMul", {b.qdq<uint8_t>(x, 1.0f / 64, 120), weights({3, 5})}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, MatMulBehindLinearResize) {
  const std::string y =
      b.node("Resize", {image({1, 1, 2, 3}), "", b.constant<float>({4}, {1, 1, 2, 2})},
             {{"mode", "linear"}});
  stored(b.node("MatMul", {b.qdq<uint8_t>(y, 1.0f / 64, 128), weights({6, 5})}));
  equals_onnxruntime();
}

// --- float biases

TEST_F(OnnxBits, BiasAddedToFloatsWhereTheBatchIsSymbolic) {
  const std::string x = image({-1, 5, 8}, 0.8f), w = weights({8, 6}, 0.7f);
  stored(b.node("Add", {b.node("MatMul", {x, w}), floats({6}, 0.3f)}), 0.05f);
  stored(b.node("Relu", {b.node("Add", {floats({6}, 0.4f), b.node("MatMul", {x, w})})}), 0.05f, 3);
  equals_onnxruntime();
}

TEST_F(OnnxBits, BiasOfARowInCoarseUnits) {  // in integers of x * w it would be 0 or 1
  const std::string x = image({3, 4}, 0.8f), w = weights({4, 6}, 0.7f);
  stored(b.node("Gemm", {x, w, floats({1, 6}, 0.3f)}), 0.05f);
  stored(b.node("Gemm", {x, w, floats({6}, 0.3f)}, {{"beta", 0.5f}}), 0.05f);
  equals_onnxruntime();
}

TEST_F(OnnxBits, FloatResultsWithFloatBias) {  // ONNX Runtime's sums of floats have noise
  b.output(
      b.node("Conv", {image({1, 2, 4, 4}, 0.8f), weights({3, 2, 3, 3}, 0.7f), floats({3}, 0.3f)}));
  b.output(b.node("Gemm", {image({3, 4}), weights({4, 6}), floats({6})}));
  const std::vector<float> got = results(), want = expected();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-6f * std::max(1.0f, std::fabs(want[i])));
}

// --- limits

TEST_F(OnnxBits, ClipAtTinyScalesIsDropped) {
  const std::string x = b.qdq<uint8_t>(real({1, 12}, 1e-8f), 1e-10f, 128);
  stored(b.node("Clip", {x, b.scalar(-3e-9f), b.scalar(4e-9f)}), 1e-10f);
  equals_onnxruntime();
}

// --- float sums

TEST_F(OnnxBits, AddInFloatBeforeWhatIsNotSeenThrough) {
  const Dims dims = {1, 4, 4, 4};
  const std::string x = image(dims), y = image(dims, 1.0f / 128);
  stored(b.node("Flatten", {b.node("Add", {x, y})}), 3.0f / 256, 100);
  stored(b.node("Relu", {b.node("Add", {x, y})}), 3.0f / 256, 100);
  stored(b.node("Relu", {b.node("Mul", {x, y})}), 3.0f / 256, 100);
  equals_onnxruntime();
}

// --- refused before

TEST_F(OnnxBits, VectorTimesMatrixPlusBias) {
  stored(b.node("Add", {b.node("MatMul", {image({8}), weights({8, 6})}), floats({6})}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, OneZeroPointBesideScalesPerChannel) {
  const std::string x = b.q<uint8_t>(real({1, 2, 4, 4}), 1.0f / 64, 128);
  const std::string w = b.constant<int8_t>({3, 2, 3, 3}, codes<int8_t>(54));
  b.output(b.node("QLinearConv",
                  {x, b.scalar(1.0f / 64), b.scalar<uint8_t>(128), w,
                   b.constant<float>({3}, {0.01f, 0.02f, 0.005f}), b.constant<int8_t>({1}, {0}),
                   b.scalar(1.0f / 16), b.scalar<uint8_t>(128)}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, ConcatToFloat) {
  b.output(b.node("Concat", {image({1, 2, 3}), b.node("Sigmoid", {image({1, 2, 3}, 0.03f, 100)})},
                  {{"axis", 1}}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, SoftmaxOfOneElement) {
  for (const float scale : {1.0f / 256, 1.0f / 128, 1.5f})
    stored(b.node("Softmax", {image({2, 3, 1})}, {{"axis", -1}}), scale, 30);
  equals_onnxruntime();
}

TEST_F(OnnxBits, GeluByTanh) {
  b.model.mutable_opset_import(0)->set_version(20);
  stored(b.node("Gelu", {image({8, 16})}, {{"approximate", "tanh"}}), 1.0f / 128, 30);
  equals_onnxruntime();
}

TEST_F(OnnxBits, ConstantAlongSeveralAxes) {
  stored(b.node("Mul", {image({1, 3, 4, 5}), floats({3, 4, 5})}));
  stored(b.node("Sub", {floats({4, 5}), image({1, 3, 4, 5})}));
  equals_onnxruntime();
}

TEST_F(OnnxBits, BatchNormalization) {
  const std::string variance = b.constant<float>({3}, {0.5f, 1.25f, 3.0f});
  stored(b.node("Relu",
                {b.node("BatchNormalization", {image({1, 3, 4, 5}), floats({3}), floats({3}, 0.5f),
                                               floats({3}, 0.25f), variance})}),
         1.0f / 64, 0);
  equals_onnxruntime();
}

TEST_F(OnnxBits, IntegersCastToFloat) {  // what cameras deliver
  const std::vector<uint8_t> pixels = codes<uint8_t>(48);
  const std::string x = b.node("Cast", {b.input<uint8_t>({1, 3, 4, 4})}, {{"to", 1}});
  stored(b.node("Mul", {x, b.scalar(1.0f / 255)}), 1.0f / 64, 0);
  const auto y = b.run_to<uint8_t>({to_bytes(pixels)});
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), expected());
}

}  // namespace
}  // namespace qrt::testing
