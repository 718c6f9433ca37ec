// SPDX-License-Identifier: Apache-2.0
// Source files made to lead out of their folder, or to write to the terminal of the one who converts them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/command.h"
#include "tests/support/hostile_models.h"
#include "tests/support/model_builder.h"

namespace qrt::hostile_paths_test {
namespace {

using testing::CommandResult;
using testing::sequence_of;

class HostilePaths : public testing::CommandTest {};

// ---- external data ----

// Returns a model whose scale lies in the file `location`.
std::string with_external_scale(const std::string& location) {
  onnx::ModelProto model = sequence_of(1, "Relu", true);
  onnx::TensorProto* s = model.mutable_graph()->mutable_initializer(0);
  s->clear_float_data();
  s->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = s->add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  return model.SerializeAsString();
}

TEST_F(HostilePaths, ExternalDataBehindLinks) {
  namespace fs = std::filesystem;
  const std::string scale("\x0a\xd7\xa3\x3c", 4);  // 0.02
  fs::create_directories(path("model/weights"));
  fs::create_directories(path("outside"));
  write("outside/data.bin", scale);
  write("model/weights/data.bin", scale);
  fs::create_symlink(path("outside/data.bin"), path("model/link.bin"));
  fs::create_symlink("weights/data.bin", path("model/inner.bin"));
  fs::create_directory_symlink(path("outside"), path("model/folder"));
  fs::create_symlink("/dev/zero", path("model/device.bin"));
  fs::create_hard_link(path("outside/data.bin"), path("model/hard.bin"));
  ASSERT_EQ(mkfifo(path("model/pipe.bin").c_str(), 0600), 0);
  const struct {
    const char* location;
    int status;
    const char* part;
  } cases[] = {{"weights/data.bin", 0, ""},
               {"./weights//data.bin", 0, ""},
               {"link.bin", 3, "'link.bin' is a symbolic link"},
               {"inner.bin", 3, "'inner.bin' is a symbolic link"},
               {"folder/data.bin", 3, "'folder' is a symbolic link"},
               {"device.bin", 3, "is a symbolic link"},
               {"hard.bin", 3, "'hard.bin' has 2 names (hard links)"},
               {"pipe.bin", 3, "not a regular file"},
               {"weights", 3, "not a regular file"},
               {"weights/none.bin", 3, "No such file"},
               {"link.bin/data.bin", 3, "is a symbolic link"}};
  for (const auto& c : cases) {
    const std::string file = write("model/m.onnx", with_external_scale(c.location));
    const CommandResult r = run("qrt_convert", {file, "-o", path("out.qrt")});
    EXPECT_EQ(r.status, c.status) << c.location << ": " << r.err;
    EXPECT_NE(r.err.find(c.part), std::string::npos) << r.err;
  }
}

// ---- what reaches the terminal ----

// Clears the screen, rings, and, as C1 does, starts a sequence in one character; a NUL; and text that
// runs from right to left.
const std::string kEvil(
    "\x1b[2J\x07\xc2\x9b"
    "31m\0end\xe2\x80\xae",
    17);

void expect_plain(const std::string& text) {
  for (const std::string& part : {std::string("\x1b"), std::string("\x07"), std::string("\xc2\x9b"),
                                  std::string(1, '\0'), std::string("\xe2\x80\xae")})
    EXPECT_EQ(text.find(part), std::string::npos) << text;
  EXPECT_NE(text.find("\\x1b[2J\\x07\\xc2\\x9b31m\\x00end\\xe2\\x80\\xae"), std::string::npos)
      << text;
}

TEST_F(HostilePaths, NamesInTheConvertersReports) {
  onnx::ModelProto model = sequence_of(1, "Relu", true);
  model.mutable_graph()->mutable_node(2)->set_name(kEvil);
  const std::string good = write("good.onnx", model.SerializeAsString());
  expect_plain(run("qrt_convert", {good, "--explain"}).out);
  model.mutable_graph()->mutable_node(2)->set_op_type("NoSuchOperator");
  const std::string file = write("m.onnx", model.SerializeAsString());
  expect_plain(run("qrt_convert", {file, "--explain"}).err);
  const std::string json = run("qrt_convert", {file, "--explain=json"}).out;
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  EXPECT_EQ(json.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(json.find("\\u001b[2J\\u0007\\u009b31m\\u0000end\\u202e"), std::string::npos) << json;
  // A message of an error that ends the import at once.
  model.mutable_graph()->mutable_node(2)->set_input(0, "no\x1b[2Jwhere");
  const std::string err =
      run("qrt_convert", {write("m.onnx", model.SerializeAsString()), "-o", path("o")}).err;
  EXPECT_EQ(err.find('\x1b'), std::string::npos) << err;
  EXPECT_NE(err.find("no\\x1b[2Jwhere"), std::string::npos) << err;
}

TEST_F(HostilePaths, NamesOfAModel) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({1, 4}, DType::kUInt8, kEvil),
                 y = m.output({1, 4}, DType::kUInt8, kEvil);
  fb::LutOptionsT lut;
  lut.table = m.buffer(std::vector<uint8_t>(256));
  m.op(lut, {x}, {y}).name = kEvil;
  const std::string file = write("m.qrt", m.build());
  expect_plain(run("qrt_inspect", {file}).out);
  const std::string dot = run("qrt_inspect", {file, "--format", "dot"}).out;
  EXPECT_EQ(dot.find('\x1b'), std::string::npos);
  EXPECT_NE(dot.find("\\\\x1b[2J"), std::string::npos) << dot;
  ASSERT_EQ(run("qrt_inspect", {file, "--html", path("m.html")}).status, 0);
  const std::string page = read(path("m.html"));
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NE(page.find("\\\\x1b[2J"), std::string::npos);
  // The C API's names end at a NUL.
  const std::string missing = run("qrt_run", {file}).err;
  EXPECT_EQ(missing.find('\x1b'), std::string::npos) << missing;
  EXPECT_NE(missing.find("\\x1b[2J\\x07\\xc2\\x9b31m"), std::string::npos) << missing;
}

TEST_F(HostilePaths, TypesOfAnArray) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({4});
  fb::LutOptionsT lut;
  lut.table = m.buffer(std::vector<uint8_t>(256));
  m.op(lut, {x}, {m.output({4})});
  const std::string file = write("m.qrt", m.build());
  const std::string dictionary = "{'descr': '\x1b[2J', 'fortran_order': False, 'shape': (4,), }\n";
  std::string npy("\x93NUMPY\x01\x00", 8);
  npy += static_cast<char>(dictionary.size());
  npy += '\0';
  const std::string err = run("qrt_run", {file, write("x.npy", npy + dictionary + "abcd")}).err;
  EXPECT_EQ(err.find('\x1b'), std::string::npos) << err;
  EXPECT_NE(err.find("\\x1b[2J"), std::string::npos) << err;
}

// ---- output ----

// A symbolic link is replaced, as a file would be: a conversion into a folder that others may write
// to changes nothing outside it.
TEST_F(HostilePaths, OutputOverASymbolicLink) {
  namespace fs = std::filesystem;
  const std::string target = write("target", std::string("keep"));
  fs::create_symlink(target, path("out.qrt"));
  const std::string model = write("m.onnx", sequence_of(1, "Relu", true).SerializeAsString());
  ASSERT_EQ(run("qrt_convert", {model, "-o", path("out.qrt")}).status, 0);
  EXPECT_EQ(read(target), "keep");
  EXPECT_FALSE(fs::is_symlink(path("out.qrt")));
  EXPECT_GT(fs::file_size(path("out.qrt")), 100u);
}

}  // namespace
}  // namespace qrt::hostile_paths_test
