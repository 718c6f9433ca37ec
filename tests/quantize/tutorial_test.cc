// The README's way from a PyTorch model to numbers: the digits network, quantised by its own commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"

namespace qrt {
namespace {

class Digits : public testing::CommandTest {
 protected:
  static std::string model(const std::string& file) {
    return std::string(QRT_TESTS_DIR) + "/models/digits/" + file;
  }
  static tool::NpyArray array(const std::string& path) {
    tool::NpyArray a;
    const Status s = tool::read_npy(path, &a);
    EXPECT_TRUE(s.ok()) << s.message();
    return a;
  }
  // Images of the 360 that the integer model reads right.
  size_t right(const std::string& scheme) {
    const testing::CommandResult q =
        run("qrt_quantize", {model("float.onnx"), "--calibration", model("calibration.npy"),
                             "--scheme", scheme, "-o", path("digits.qrt")});
    EXPECT_EQ(q.status, 0) << q.err;
    const testing::CommandResult r =
        run("qrt_run", {path("digits.qrt"), model("images.npy"), "--output-dir", path("out")});
    EXPECT_EQ(r.status, 0) << r.err;
    const tool::NpyArray logits = array(path("out/output_0.npy")),
                         labels = array(model("labels.npy"));
    size_t n = 0;
    for (size_t i = 0; i < labels.data.size(); ++i) {
      float row[10];
      memcpy(row, &logits.data[i * sizeof row], sizeof row);
      n += std::max_element(row, row + 10) - row == labels.data[i];
    }
    return n;
  }
};

// The float model reads 356 of 360; one image is 0.28 points.
TEST_F(Digits, AreReadAsWellAsByTheFloatModel) {
  for (const char* scheme : {"ort-u8", "ort-s8", "espdl-s8", "espdl-s16"})
    EXPECT_GE(right(scheme), 355u) << scheme;
}

}  // namespace
}  // namespace qrt
