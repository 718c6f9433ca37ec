// SPDX-License-Identifier: Apache-2.0
// The tools' answers to more than a hundred mistakes: mistakes.txt beside this file holds each command, its exit status, the
// whole of its message, and the part of the message that says what to do next. QRT_WRITE_MISTAKES=FILE writes the
// table anew from the present answers.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/float_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/onnx_builder.h"

namespace qrt::mistakes_test {
namespace {

struct Mistake {
  std::string command;
  int status = 0;
  std::string message;
  std::string next;  // a part of the message
};

std::vector<Mistake> read_table(std::istream& file) {
  std::vector<Mistake> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("$ ", 0) == 0) {
      all.push_back({line.substr(2), 0, "", ""});
    } else if (line.rfind("status ", 0) == 0) {
      all.back().status = std::stoi(line.substr(7));
    } else if (line.rfind("next ", 0) == 0) {
      all.back().next = line.substr(5);
    } else {
      all.back().message += line + "\n";
    }
  }
  return all;
}

class Mistakes : public testing::CommandTest {
 protected:
  using Builder = testing::OnnxBuilder;

  Mistakes() {
    write("one.qrt", table({-1, 3}, 1));
    write("two.qrt", table({-1, 3}, 2));
    write("picture.qrt", table({1, 3, 4, 4}, 1));
    write("cut.qrt", read(path("one.qrt")).substr(0, 300));
    Builder good, refused;
    good.integer_output<uint8_t>(good.node("Relu", {good.integer_input<uint8_t>({1, 4}, 0.5f, 3)}),
                                 0.5f, 3);
    write("good.onnx", good.bytes());
    const std::string x = refused.integer_input<uint8_t>({1, 4}, 0.5f, 3);
    refused.integer_output<uint8_t>(refused.node("NoSuchOp", {x}), 0.5f, 3);
    write("refused.onnx", refused.bytes());
    write("float.onnx", testing::float_models::image().bytes());
    write("damaged.onnx", std::string("\x08\x08:\xff\xff\xff\xff\x0f", 8));
    write("m.tflite", std::string("\x1c\0\0\0TFL3", 8));
    write("empty", "");
    write("model.md", "# A model\n\nSee the paper.\n");
    write("labels.txt", "cat\ndog\n");
    write("model.safetensors", std::string("\x10\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\"", 28));
    write("model.pt", "PK\3\4....");
    write("model.h5", "\x89HDF\r\n");
    write("model.gguf", "GGUF\3");
    write("model.lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n");
    write("page.onnx", "<!DOCTYPE html><html>not found</html>");
    write("cat.gif", "GIF89a....");
    write("cut.png", "\x89PNG\r\n\x1a\n....");
    write("cat.ppm", std::string("P6\n2 2\n255\n\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff", 23));
    npy("x.npy", DType::kUInt8, {1, 3}, std::string("\1\2\3"));
    npy("wide.npy", DType::kUInt8, {1, 4}, std::string("\1\2\3\4"));
    npy("flat.npy", DType::kUInt8, {3}, std::string("\1\2\3"));
    npy("float.npy", DType::kFloat32, {1, 3}, std::string(12, '\0'));
    npy("batch2.npy", DType::kUInt8, {2, 3}, std::string("\1\2\3\4\5\6"));
    npy("sequence.npy", DType::kUInt8, {5, 1, 3}, std::string(15, '\1'));
    array("double.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }", 24);
    array("turned.npy", "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 3), }", 3);
    array("deep.npy",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 3), }", 3);
    array("big.npy", "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3), }", 12);
    array("objects.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8);
    array("short.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 30), }", 3);
    write("input_0.pb", "\x08\x01");
    std::filesystem::create_directories(path("folder/inner"));
  }

  // Returns the table of y = 255 - the sum of the inputs.
  static std::vector<uint8_t> table(const Shape& shape, int inputs) {
    testing::ModelBuilder m;
    uint32_t x = m.input(shape, DType::kUInt8, inputs == 1 ? "x" : "a");
    if (inputs == 2) {
      const uint32_t b = m.input(shape, DType::kUInt8, "b");
      const uint32_t sum = m.tensor(shape, DType::kUInt8, "sum");
      fb::AddOptionsT add;
      add.a_scale = add.b_scale = testing::float_bits(1.0f);
      m.op(std::move(add), {x, b}, {sum});
      x = sum;
    }
    const uint32_t y = m.output(shape, DType::kUInt8, "y");
    std::vector<uint8_t> codes(256);
    for (size_t i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(255 - i);
    fb::LutOptionsT lut;
    lut.table = m.buffer(codes);
    m.op(std::move(lut), {x}, {y});
    return m.build();
  }

  void npy(const std::string& name, DType dtype, const Shape& shape, const std::string& data) {
    ASSERT_TRUE(tool::write_npy(path(name), dtype, shape, data.data(), data.size()).ok());
  }
  void array(const std::string& name, std::string header, size_t bytes) {
    header += std::string((64 - (10 + header.size() + 1) % 64) % 64, ' ') + "\n";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += static_cast<char>(header.size() >> 8);
    write(name, file + header + std::string(bytes, '\1'));
  }

  // Returns the command's present answer.
  Mistake made(const Mistake& m) const {
    const std::string line = "cd '" + path("") + "' && export PATH='" + QRT_BIN_DIR +
                             "':\"$PATH\" && " + "unset COLUMNS NO_COLOR QRT_ISA; " + m.command;
    const std::string shell =
        "{ " + line + "\n} >'" + path("stdout") + "' 2>'" + path("stderr") + "'";
    const int status = std::system(shell.c_str());
    return {m.command, WEXITSTATUS(status), read(path("stderr")), m.next};
  }
};

TEST_F(Mistakes, HaveTheirStatusMessageAndNextStep) {
  std::ifstream file(std::string(QRT_TESTS_DIR) + "/tools/mistakes.txt");
  const std::vector<Mistake> all = read_table(file);
  EXPECT_GE(all.size(), 100u);
  const char* to = getenv("QRT_WRITE_MISTAKES");
  std::ofstream anew;
  if (to != nullptr) anew.open(to);
  for (const Mistake& expected : all) {
    SCOPED_TRACE(expected.command);
    const Mistake m = made(expected);
    if (to != nullptr)
      anew << "$ " << m.command << "\nstatus " << m.status << "\n"
           << m.message << "next " << m.next << "\n\n";
    EXPECT_EQ(m.status, expected.status);
    EXPECT_EQ(m.message, expected.message);
    EXPECT_FALSE(expected.next.empty());
    EXPECT_NE(m.message.find(expected.next), std::string::npos) << m.message;
    EXPECT_EQ(read(path("stdout")), "");
  }
}

}  // namespace
}  // namespace qrt::mistakes_test
