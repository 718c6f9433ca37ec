// SPDX-License-Identifier: Apache-2.0
// Files that were damaged or made to do harm, given to the tools: each ends with status 3 or 4 (or
// 0 where the damage does not matter) and a message that names the file, within seconds and little
// memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>

#include "converter/convert.h"
#include "onnx/onnx_pb.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"
#include "tests/support/tflite_models.h"

namespace qrt::hostile_test {
namespace {

using testing::Bytes;
using testing::CommandResult;

constexpr double kMostSeconds = 10;
constexpr long kMostKib = 1 << 20;

const std::string kDigits = QRT_TESTS_DIR "/models/digits/";

class Hostile : public testing::CommandTest {
 protected:
  // Bytes of the digits model, converted once.
  const std::string& digits_qrt() {
    static const std::string bytes = [&] {
      const CommandResult r = run("qrt_convert", {kDigits + "digits.onnx", "-o", path("d.qrt")});
      EXPECT_EQ(r.status, 0) << r.err;
      return read(path("d.qrt"));
    }();
    return bytes;
  }

  // Runs a tool within the limits; the status.
  int bounded(const std::string& tool, const std::vector<std::string>& arguments,
              std::string* message) {
    const auto start = std::chrono::steady_clock::now();
    const CommandResult r = run(tool, arguments);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), kMostSeconds) << tool;
    rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, kMostKib) << tool;
    *message = r.err;
    return r.status;
  }

  // Status 3 or 4, and a message that holds `part`.
  void refused(const std::string& tool, const std::vector<std::string>& arguments,
               const std::string& part) {
    std::string message;
    const int status = bounded(tool, arguments, &message);
    EXPECT_TRUE(status == 3 || status == 4) << tool << " ended with " << status << ": " << message;
    EXPECT_NE(message.find(part), std::string::npos) << "message: " << message << "part: " << part;
  }

  // Expects that the tools which read models of this kind refuse this one, naming `part`.
  void refused_qrt(const std::string& file, const std::string& part) {
    for (const char* tool : {"qrt_run", "qrt_bench", "qrt_inspect"}) refused(tool, {file}, part);
  }
  void refused_onnx(const std::string& file, const std::string& part) {
    refused("qrt_convert", {file, "-o", path("out.qrt")}, part);
    EXPECT_FALSE(std::filesystem::exists(path("out.qrt")));
  }
};

Status convert_tflite(const std::string& file, Bytes* bytes) {
  convert::Graph graph;
  convert::Report report;
  QRT_TRY(convert::import_tflite(file, convert::TfliteReference::kDoubleRounding, &graph, &report));
  QRT_TRY(convert::run_passes(&graph, nullptr));
  return convert::write_model(graph, bytes);
}

// ---- any file ----

TEST_F(Hostile, NoModelAtAll) {
  const struct {
    std::string file, part;
  } cases[] = {{write("empty", std::string()), path("empty")},
               {write("zeros", std::string(100000, '\0')), path("zeros")},
               {write("text", std::string("This is no model.\n")), path("text")}};
  for (const auto& c : cases) {
    refused_qrt(c.file, c.part);
    refused_onnx(c.file, c.part);
  }
  std::filesystem::create_directory(path("folder"));
  refused_qrt(path("folder"), "directory");
  refused_onnx(path("folder"), "directory");
}

TEST_F(Hostile, ModelsCutShort) {
  const std::string qrt = digits_qrt(), onnx = read(kDigits + "digits.onnx");
  for (size_t size = 0; size < qrt.size(); size += 97)
    refused("qrt_inspect", {write("cut.qrt", qrt.substr(0, size))}, path("cut.qrt"));
  for (size_t size = 0; size < onnx.size(); size += 97)
    refused_onnx(write("cut.onnx", onnx.substr(0, size)), path("cut.onnx"));
}

TEST_F(Hostile, FlippedBytesOfQrt) {
  const std::string good = digits_qrt();
  testing::Random random;
  SCOPED_TRACE(random.trace());
  size_t ran = 0;
  for (int i = 0; i < 2000; ++i) {
    Bytes file(good.begin(), good.end());
    const auto at = static_cast<size_t>(random.integer(0, static_cast<int64_t>(good.size()) - 1));
    file[at] ^= static_cast<uint8_t>(random.integer(1, 255));
    testing::RunOptions options;
    options.batch = 1;
    const testing::RunResult r = testing::run_model(file, {}, options);
    // A flipped default batch of a model whose batch is fixed does not fit the batch asked for.
    ASSERT_TRUE(r.status == QRT_OK || r.status == QRT_INVALID_MODEL ||
                r.status == QRT_UNSUPPORTED || r.status == QRT_INVALID_ARGUMENT)
        << "byte " << at << ": " << r.message;
    ASSERT_EQ(r.status == QRT_OK, r.message.empty()) << "byte " << at;
    ran += r.status == QRT_OK;
  }
  EXPECT_GT(ran, 500u) << "most bytes are weights";
}

TEST_F(Hostile, FlippedBytesOfOnnx) {
  const std::string good = read(kDigits + "digits.onnx");
  testing::Random random;
  SCOPED_TRACE(random.trace());
  size_t converted = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string file = good;
    const auto at = static_cast<size_t>(random.integer(0, static_cast<int64_t>(good.size()) - 1));
    file[at] = static_cast<char>(file[at] ^ random.integer(1, 255));
    convert::Graph graph;
    convert::Report report;
    std::vector<uint8_t> bytes;
    Status status = convert::import_onnx(write("flip.onnx", file), &graph, &report);
    if (status.ok()) status = convert::run_passes(&graph, nullptr);
    if (status.ok()) status = convert::write_model(graph, &bytes);
    ASSERT_TRUE(status.ok() || status.code() == Code::kInvalidModel ||
                status.code() == Code::kUnsupported)
        << "byte " << at << ": " << status.message();
    ASSERT_EQ(status.ok(), status.message()[0] == '\0') << "byte " << at;
    converted += status.ok();
  }
  EXPECT_GT(converted, 200u);
}

// The test flips 3,000 bytes, 200 in each of fifteen models. A file that is still a model runs.
TEST_F(Hostile, FlippedBytesOfTflite) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  size_t converted = 0;
  for (const Bytes& good : testing::sample_tflite_models()) {
    for (int i = 0; i < 200; ++i) {
      std::string file(good.begin(), good.end());
      const auto at = static_cast<size_t>(random.integer(0, static_cast<int64_t>(good.size()) - 1));
      file[at] = static_cast<char>(file[at] ^ random.integer(1, 255));
      Bytes bytes;
      const Status status = convert_tflite(write("flip.tflite", file), &bytes);
      ASSERT_TRUE(status.ok() || status.code() == Code::kInvalidModel ||
                  status.code() == Code::kUnsupported)
          << "byte " << at << ": " << status.message();
      ASSERT_EQ(status.ok(), status.message()[0] == '\0') << "byte " << at;
      if (!status.ok()) continue;
      const testing::RunResult run = testing::run_model(bytes, {});
      const bool too_large = run.message.find("max_memory") != std::string::npos;
      ASSERT_TRUE(run.status == QRT_OK || too_large) << "byte " << at << ": " << run.message;
      ++converted;
    }
  }
  EXPECT_GT(converted, 300u) << "many bytes are weights";
}

TEST_F(Hostile, TfliteModelsCutShort) {
  for (const Bytes& good : testing::sample_tflite_models()) {
    for (size_t size = 0; size < good.size(); size += 61) {
      Bytes bytes;
      const std::string file = write("cut.tflite", std::string(good.begin(), good.begin() + size));
      const Status status = convert_tflite(file, &bytes);
      ASSERT_EQ(status.code(), Code::kInvalidModel) << "size " << size;
      ASSERT_NE(std::string(status.message()).find("cut.tflite"), std::string::npos);
    }
  }
}

// The program survives models made to do harm: dimensions whose product overflows, negative ones,
// and indices out of range.
TEST_F(Hostile, TfliteModelsMadeToDoHarm) {
  using testing::TfliteBuilder;
  using M = TfliteBuilder;
  const struct {
    const char* part;
    void (*damage)(TfliteBuilder& b);
  } kCases[] = {
      {"has more than 2^40 elements",
       [](M& b) {
         b.at(0).shape = {1 << 30, 1 << 30, 4, 1};
       }},
      {"2147483647",
       [](M& b) {
         b.at(0).shape = {1, 6, 6, INT32_MAX};
       }},
      {"has a dimension of -2",
       [](M& b) {
         b.at(3).shape = {1, -2, 3, 8};
       }},
      {"names buffer 99", [](M& b) { b.at(1).buffer = 99; }},
      {"288", [](M& b) { b.model.buffers[1]->data.resize(287); }},
      {"names operator code 7 of 2", [](M& b) { b.graph().operators[0]->opcode_index = 7; }},
      {"reads tensor 99", [](M& b) { b.graph().operators[0]->inputs[1] = 99; }},
      {"reads tensor -2", [](M& b) { b.graph().operators[0]->inputs[2] = -2; }},
      {"writes tensor 2147483647", [](M& b) { b.graph().operators[0]->outputs[0] = INT32_MAX; }},
      {"which nothing wrote before", [](M& b) { b.graph().operators[0]->inputs[0] = 3; }},
      {"has a scale of", [](M& b) { b.at(0).quantization->scale = {-1.0f}; }},
      {"zero points", [](M& b) { b.at(1).quantization->zero_point.resize(3); }},
      {"stride",
       [](M& b) { b.graph().operators[0]->builtin_options.AsConv2DOptions()->stride_h = 0; }},
      {"buffer 1 lies outside the file",
       [](M& b) {
         b.model.buffers[1]->data.clear();
         b.model.buffers[1]->offset = 1000000;
         b.model.buffers[1]->size = 288;
       }},
  };
  for (const auto& c : kCases) {
    TfliteBuilder b = testing::tflite_models::conv();
    c.damage(b);
    const Bytes bytes = b.build();
    const std::string file = write("bad.tflite", std::string(bytes.begin(), bytes.end()));
    refused("qrt_convert", {file, "-o", path("out.qrt")}, c.part);
  }
}

// ---- .onnx ----

// x [1, 4] -> Q -> DQ -> Relu -> Q -> DQ -> y, to be damaged.
class HostileOnnx : public Hostile {
 protected:
  HostileOnnx() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    describe(graph().add_input(), "x", {1, 4});
    describe(graph().add_output(), "y", {1, 4});
    scalar("s", onnx::TensorProto::FLOAT)->add_float_data(0.25f);
    scalar("z", onnx::TensorProto::UINT8)->add_int32_data(100);
    node("QuantizeLinear", {"x", "s", "z"}, "q");
    node("DequantizeLinear", {"q", "s", "z"}, "f");
    node("Relu", {"f"}, "g");
    node("QuantizeLinear", {"g", "s", "z"}, "p");
    node("DequantizeLinear", {"p", "s", "z"}, "y");
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  static void describe(onnx::ValueInfoProto* info, const std::string& name,
                       const std::vector<int64_t>& dims) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->clear_dim();
    for (int64_t d : dims) type->mutable_shape()->add_dim()->set_dim_value(d);
  }
  onnx::TensorProto* scalar(const std::string& name, onnx::TensorProto::DataType type) {
    onnx::TensorProto* t = graph().add_initializer();
    t->set_name(name);
    t->set_data_type(type);
    return t;
  }
  onnx::NodeProto* node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output) {
    onnx::NodeProto* n = graph().add_node();
    n->set_op_type(op);
    n->set_name("the_" + output);
    for (const std::string& i : inputs) n->add_input(i);
    n->add_output(output);
    return n;
  }
  // Makes the scale 's' external data.
  void make_external(const std::string& location, const std::string& offset = "0") {
    onnx::TensorProto* s = graph().mutable_initializer(0);
    s->clear_float_data();
    s->set_data_location(onnx::TensorProto::EXTERNAL);
    s->clear_external_data();
    add_external(s, "location", location);
    add_external(s, "offset", offset);
  }
  static void add_external(onnx::TensorProto* t, const std::string& key, const std::string& value) {
    auto* entry = t->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  void refused_for(const std::string& part) {
    refused_onnx(write("m.onnx", model_.SerializeAsString()), part);
  }

  onnx::ModelProto model_;
};

TEST_F(HostileOnnx, Cycles) {
  graph().mutable_node(2)->set_input(0, "g");  // Relu reads itself
  refused_for("the_g");
  graph().mutable_node(2)->set_input(0, "f");
  graph().mutable_node(1)->set_input(0, "p");  // through all of the graph
  refused_for("cycle");
}

TEST_F(HostileOnnx, DanglingNames) {
  graph().mutable_node(2)->set_input(0, "nowhere");
  refused_for("'nowhere'");
  graph().mutable_node(2)->set_input(0, "f");
  graph().mutable_output(0)->set_name("nothing");
  refused_for("'nothing'");
}

TEST_F(HostileOnnx, NamesDefinedTwice) {
  graph().mutable_node(2)->set_output(0, "f");
  refused_for("'f'");
}

TEST_F(HostileOnnx, EnormousShapes) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, int64_t{1} << 31},
                                           {1, INT64_MAX},
                                           {65536, 65536},
                                           {int64_t{1} << 32, int64_t{1} << 32}}) {
    describe(graph().mutable_input(0), "x", dims);
    refused_for("tensor: x");
  }
  describe(graph().mutable_input(0), "x", {1, -5});
  refused_for("'x'");
  describe(graph().mutable_input(0), "x", {1, 4});
  for (const int64_t dim : {int64_t{1} << 31, int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    graph().mutable_initializer(0)->clear_dims();
    graph().mutable_initializer(0)->add_dims(dim);
    refused_for("'s'");
  }
}

TEST_F(HostileOnnx, PoolsAndPadsOfEnormousSize) {
  describe(graph().mutable_input(0), "x", {1, 4, 8, 8});
  describe(graph().mutable_output(0), "y", {1, 4, 8, 8});
  onnx::NodeProto* pool = graph().mutable_node(2);
  pool->set_op_type("MaxPool");
  const auto set = [&](const char* name, std::initializer_list<int64_t> values) {
    onnx::AttributeProto* a = pool->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INTS);
    for (int64_t v : values) a->add_ints(v);
  };
  for (const int64_t size : {int64_t{1} << 20, int64_t{1} << 31, INT64_MAX, int64_t{-1}}) {
    pool->clear_attribute();
    set("kernel_shape", {2, 2});
    set("pads", {size, size, size, size});
    refused_for("the_g");
    pool->clear_attribute();
    set("kernel_shape", {size, size});
    refused_for("the_g");
    pool->clear_attribute();
    set("kernel_shape", {2, 2});
    set("dilations", {size, size});
    refused_for("the_g");
  }
}

TEST_F(HostileOnnx, SubgraphsNestedDeeply) {
  onnx::NodeProto* at = graph().mutable_node(2);
  for (int depth = 0; depth < 5000; ++depth) {
    onnx::AttributeProto* a = at->add_attribute();
    a->set_name("body");
    a->set_type(onnx::AttributeProto::GRAPH);
    at = a->mutable_g()->add_node();
    at->set_op_type("Loop");
  }
  refused_for("m.onnx");
}

TEST_F(HostileOnnx, ExternalData) {
  make_external("missing.bin");
  refused_for("missing.bin");
  write("data.bin", std::string(8, '\0'));
  make_external("data.bin", "6");
  refused_for("data.bin");
  make_external("data.bin", "18446744073709551615");
  refused_for("'s'");
  make_external("data.bin", "-4");
  refused_for("'s'");
  std::filesystem::create_directory(path("folder"));
  make_external("folder");
  refused_for("folder");
  for (const char* outside :
       {"../secret.bin", "/etc/passwd", "folder/../../secret.bin", "..", "folder/.."}) {
    make_external(outside);
    refused_for(outside);
  }
}

// ---- .qrt ----

// x [1, 4] -> table -> m -> table -> y, to be damaged.
class HostileQrt : public Hostile {
 protected:
  HostileQrt() {
    x_ = m_.input({1, 4}, DType::kUInt8, "x");
    mid_ = m_.tensor({1, 4}, DType::kUInt8, "mid");
    y_ = m_.output({1, 4}, DType::kUInt8, "y");
    fb::LutOptionsT lut;
    lut.table = m_.buffer(std::vector<uint8_t>(256));
    m_.op(lut, {x_}, {mid_});
    m_.op(lut, {mid_}, {y_});
  }
  void refused_for(const std::string& part) { refused_qrt(write("m.qrt", m_.build()), part); }
  fb::OperatorT& op(size_t i) { return *m_.model().operators[i]; }

  testing::ModelBuilder m_;
  uint32_t x_, mid_, y_;
};

TEST_F(HostileQrt, OperatorsInACycle) {
  op(0).inputs = {y_};
  refused_for("op 0 (Lut 'op0')");
}

TEST_F(HostileQrt, IndicesOutOfRange) {
  op(1).inputs = {77};
  refused_for("tensor 77");
  op(1).inputs = {UINT32_MAX};
  refused_for("op 1");
  op(1).inputs = {mid_};
  op(1).options.AsLut()->table = 9;
  refused_for("buffer index 9");
}

TEST_F(HostileQrt, EnormousShapes) {
  for (const std::vector<int32_t>& shape :
       {std::vector<int32_t>{65536, 65536}, {INT32_MAX, INT32_MAX, INT32_MAX}, {1, -1}}) {
    m_.at(mid_).shape = shape;
    refused_for("'mid'");
  }
}

TEST_F(HostileQrt, MemoryBeyondTheLimit) {
  for (uint32_t t : {x_, mid_, y_}) m_.at(t).shape = {-1, INT32_MAX};
  m_.model().default_batch = 1 << 20;
  const std::string file = write("m.qrt", m_.build());
  refused("qrt_inspect", {file}, file);
}

// ---- .npy ----

class HostileNpy : public Hostile {
 protected:
  static std::string npy(const std::string& dictionary, size_t bytes) {
    std::string s("\x93NUMPY\x01\x00", 8);
    s += static_cast<char>(dictionary.size() & 255);
    s += static_cast<char>(dictionary.size() >> 8);
    return s + dictionary + std::string(bytes, '\0');
  }
  static std::string header(const std::string& type, const std::string& shape,
                            const std::string& fortran = "False") {
    return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape +
           ", }\n";
  }
  void refused_input(const std::string& content) {
    const std::string model = write("d.qrt", digits_qrt());
    refused("qrt_run", {model, write("in.npy", content)}, path("in.npy"));
  }
};

TEST_F(HostileNpy, InputsThatDoNotFit) {
  const std::string good = read(kDigits + "images.npy");
  std::string message;
  const std::string model = write("d.qrt", digits_qrt());
  ASSERT_EQ(bounded("qrt_run", {model, write("in.npy", good)}, &message), 0) << message;
  refused_input(npy(header("<f8", "(1, 1, 8, 8)"), 512));
  refused_input(npy(header("|u1", "(1, 1, 8, 8)"), 64));
  refused_input(npy(header("<f4", "(1, 1, 8, 7)"), 224));
  refused_input(npy(header("<f4", "(1, 64)"), 256));
  refused_input(npy(header("<f4", "(0, 1, 8, 8)"), 0));
  refused_input(npy(header("<f4", "(1, 1, 8, 8)", "True"), 256));
  refused_input(npy(header("<f4", "(9223372036854775807, 1, 8, 8)"), 256));
  refused_input(npy(header("<f4", "(4294967296, 4294967296, 8, 8)"), 256));
  refused_input(good.substr(0, good.size() - 1));
  refused_input(good.substr(0, 100));
  refused_input(good.substr(0, 9));
  refused_input(good + "x");
  std::string huge = good;
  huge[6] = 2;  // version 2: four bytes of header length
  memcpy(&huge[8], "\xff\xff\xff\x7f", 4);
  refused_input(huge);
  refused_input(std::string());
}

}  // namespace
}  // namespace qrt::hostile_test
