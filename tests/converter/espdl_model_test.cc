// SPDX-License-Identifier: Apache-2.0
// ESP-DL files as files: headers, packs, encryption, targets, layouts, files of 2024; damaged ones
// never pass silently.
#include <gtest/gtest.h>

#include "converter/import/espdl/layout.h"
#include "converter/import/espdl/package.h"
#include "tests/support/espdl_models.h"
#include "tests/support/random.h"

namespace qrt::testing::espdl_model_test {
namespace {

using convert::EspdlOptions;

// int8 [2, 4] at 2^-4 -> Relu -> int8 [2, 4]
EspdlBuilder relu(const std::string& target = "esp32p4") {
  EspdlBuilder b(target);
  b.op("Relu", {b.input("x", EspdlType::INT8, {2, 4}, -4)},
       {b.output("y", EspdlType::INT8, {2, 4}, -4)});
  return b;
}

// Returns a 1x1 convolution of 3 channels to 18: one full block of 16 and a rest of 2.
EspdlBuilder conv(const std::string& target, std::vector<int64_t> exponents,
                  const std::string& layout) {
  EspdlBuilder b(target);
  std::vector<int8_t> w;
  for (int i = 0; i < 54; ++i) w.push_back(static_cast<int8_t>(i * 7 % 50 - 25));
  std::vector<int64_t> bias_exponents;
  for (int64_t e : exponents) bias_exponents.push_back(e - 4);
  auto& node =
      b.op("Conv",
           {b.input("x", EspdlType::INT8, {1, 2, 2, 3}, -4),
            b.constant("w", EspdlType::INT8, {1, 1, 3, 18}, w, exponents, layout),
            b.constant("b", EspdlType::INT32, {18}, std::vector<int32_t>(18, 3), bias_exponents)},
           {b.output("y", EspdlType::INT8, {1, 2, 2, 18}, -6)});
  set(node, "group", int64_t{1});
  return b;
}

const Bytes kInput = {0, 127, 128, 255, 1, 2, 3, 4};

void expect_invalid(const Bytes& file, const std::string& part) {
  const Imported imported = import_espdl_bytes(file);
  ASSERT_EQ(imported.status.code(), Code::kInvalidModel) << imported.status.message();
  ASSERT_NE(std::string(imported.status.message()).find(part), std::string::npos)
      << imported.status.message();
}

TEST(EspdlModel, NamesItsSourceAndReference) {
  const Imported imported = relu().import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_EQ(imported.graph.source_format, "espdl");
  ASSERT_EQ(imported.graph.reference, "espdl-p4");
  ASSERT_EQ(relu("c").import().graph.reference, "espdl-c");
  ASSERT_EQ(imported.graph.values[imported.graph.inputs[0]].type.dtype, DType::kInt8);
  ASSERT_EQ(imported.graph.values[imported.graph.inputs[0]].quantization.scale,
            std::vector<float>{0.0625f});
}

// Every header is read, also that of files of 2024 that say EDL1 and have the longer header of EDL2.
TEST(EspdlModel, EveryHeaderIsRead) {
  for (const size_t header : {12, 16})
    for (const char* mark : {"EDL1", "EDL2"}) {
      const Imported imported = import_espdl_bytes(relu().build(mark, 0, header));
      ASSERT_TRUE(imported.status.ok()) << mark << header << imported.status.message();
    }
}

TEST(EspdlModel, EncryptedFilesAreRefusedByName) {
  const Imported imported = import_espdl_bytes(relu().build("EDL1", 1));
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_NE(imported.rule().find("encrypted"), std::string::npos) << imported.rule();
  expect_invalid(relu().build("EDL2", 7), "has the mode 7");
}

TEST(EspdlModel, APackGivesTheModelAskedFor) {
  for (const char* mark : {"PDL1", "PDL2", "PDL3"}) {
    const Bytes file = espdl_pack(
        mark, {{"first", relu("esp32s3").build("EDL1")}, {"second", relu("esp32p4").build()}});
    std::vector<convert::from_espdl::Entry> entries;
    ASSERT_TRUE(convert::from_espdl::list_entries(file, &entries).ok());
    ASSERT_EQ(entries.size(), 2u);
    ASSERT_EQ(entries[1].name, "second");
    EspdlOptions options;
    for (const char* selector : {"second", "1"}) {
      options.model = selector;
      const Imported imported = import_espdl_bytes(file, options);
      ASSERT_TRUE(imported.status.ok()) << imported.status.message();
      ASSERT_EQ(imported.graph.reference, "espdl-p4");
    }
    options.model = "third";
    ASSERT_EQ(import_espdl_bytes(file, options).status.code(), Code::kInvalidArgument);
    const Imported unasked = import_espdl_bytes(file);
    ASSERT_EQ(unasked.status.code(), Code::kInvalidArgument);
    ASSERT_NE(std::string(unasked.status.message()).find("'first'"), std::string::npos)
        << unasked.status.message();
  }
}

// The target comes from the file or the caller. A wrong one changes bytes, so it is never guessed.
TEST(EspdlModel, TheTargetComesFromTheFileOrTheCaller) {
  EspdlOptions s3;
  s3.target = "esp32s3";
  const Imported unknown = relu("").import();
  ASSERT_EQ(unknown.status.code(), Code::kInvalidArgument);
  ASSERT_NE(std::string(unknown.status.message()).find("--target"), std::string::npos);
  ASSERT_EQ(relu("").import(s3).graph.reference, "espdl-s3");
  ASSERT_EQ(relu("esp32p4").import(s3).status.code(), Code::kInvalidArgument);
  ASSERT_EQ(conv("", {-7}, "NHWC").import().graph.reference, "espdl-c");
  ASSERT_EQ(conv("", {-7}, "NHWC").import(s3).status.code(), Code::kInvalidArgument);
  ASSERT_EQ(
      conv("", std::vector<int64_t>(18, -7), "(N/16)HWC16_UNALIGNED").import().graph.reference,
      "espdl-p4");
  ASSERT_EQ(conv("", {-7}, "(N/16)HWC16_UNALIGNED").import().status.code(), Code::kInvalidArgument);
  ASSERT_EQ(relu("esp32c61").import().status.code(), Code::kUnsupported);
}

TEST(EspdlModel, FloatEdgesAreRoundedByTheTarget) {
  EspdlOptions options;
  options.float_io = true;
  const std::vector<float> x = {0.5f / 16, 1.5f / 16, -0.5f / 16,       2.5f / 16,
                                100.0f,    -100.0f,   0.49999997f / 16, 1};
  const auto steps = [&](const char* target) {
    std::vector<float> y = from_bytes<float>(relu(target).run({to_bytes(x)}, options)[0]);
    for (float& v : y) v *= 16;
    return y;
  };
  ASSERT_EQ(steps("esp32p4"), (std::vector<float>{0, 2, 0, 2, 127, 0, 0, 16}));
  // The sum 0.49999997 + 0.5 is rounded to 1 before it is floored.
  ASSERT_EQ(steps("esp32s3"), (std::vector<float>{1, 2, 0, 3, 127, 0, 1, 16}));
}

TEST(EspdlModel, LayoutsAreUnpacked) {
  using convert::from_espdl::unpack_filter;
  convert::from_espdl::Tensor t;
  t.type = EspdlType::INT8;
  // 18 filters of 1 x 2 positions of 2 channels, valued n * 4 + position * 2 + channel.
  std::vector<int8_t> packed;
  for (int p = 0; p < 4; ++p)
    for (int n = 0; n < 16; ++n) packed.push_back(static_cast<int8_t>(n * 4 + p));
  for (int i = 64; i < 72; ++i) packed.push_back(static_cast<int8_t>(i));
  t.data = reinterpret_cast<const uint8_t*>(packed.data());
  t.layout = "(N/16)HWC16_UNALIGNED";
  std::vector<int16_t> values;
  ASSERT_TRUE(unpack_filter(t, 0, {1, 2, 2, 18, false}, &values).ok());
  for (int i = 0; i < 72; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], i);
  // One filter per channel: [16 channels of 4 positions], then the rest [positions][2].
  for (size_t i = 64; i < 72; ++i)
    packed[i] = static_cast<int8_t>((16 + (i - 64) % 2) * 4 + (i - 64) / 2);
  ASSERT_TRUE(unpack_filter(t, 0, {2, 2, 1, 18, true}, &values).ok());
  for (int i = 0; i < 72; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], i % 18 * 4 + i / 18);
  // The runtime does not read the layout: what does not fill a block follows the blocks.
  t.layout = "(N/16)HWC16";
  ASSERT_TRUE(unpack_filter(t, 0, {2, 2, 1, 18, true}, &values).ok());
  for (int i = 0; i < 72; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], i % 18 * 4 + i / 18);
  t.layout = "NCHW";
  ASSERT_EQ(unpack_filter(t, 0, {1, 2, 2, 18, false}, &values).code(), Code::kUnsupported);
}

// An image without its batch keeps its shape in front of a filter of four dimensions, as in files
// of August 2024.
TEST(EspdlModel, ImagesWithoutABatchKeepTheirShape) {
  EspdlBuilder with = conv("esp32p4", {-7}, "(N/16)HWC16_UNALIGNED"),
               without = conv("esp32p4", {-7}, "(N/16)HWC16_UNALIGNED");
  auto& dims = without.model.graph->input[0]->value_info_type->value.Astensor_type()->shape->dim;
  dims.erase(dims.begin());
  Bytes x(12);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 20);
  ASSERT_EQ(without.run({x}), with.run({x}));
  const Imported imported = without.import();
  ASSERT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{2, 2, 18}));
}

TEST(EspdlModel, StructureIsChecked) {
  EspdlBuilder b = relu();
  b.model.graph->node[0]->input[0] = "nobody";
  expect_invalid(b.build(), "which nothing wrote before");
  b = relu();
  b.model.graph->node[0]->output[0] = "x";
  expect_invalid(b.build(), "written before");
  b = conv("esp32p4", {-7}, "(N/16)HWC16_UNALIGNED");
  b.model.graph->initializer[0]->dims[3] = int64_t{1} << 39;
  expect_invalid(b.build(), "more");
  b.model.graph->initializer[0]->dims[3] = 18000;
  expect_invalid(b.build(), "the file holds");
  b = relu();
  b.model.graph->input[0]->exponents = {1000};
  expect_invalid(b.build(), "has the exponent 1000");
}

TEST(EspdlModel, UnknownOperatorsAndTypesAreRefused) {
  EspdlBuilder b = relu();
  b.model.graph->node[0]->op_type = "GRU";
  ASSERT_NE(b.import().rule().find("not specified"), std::string::npos);
  b.model.graph->node[0]->op_type = "Max";
  ASSERT_NE(b.import().rule().find("does not load"), std::string::npos);
  EspdlBuilder doubles("esp32p4");
  doubles.op("Relu", {doubles.input("x", EspdlType::DOUBLE, {2}, 0)},
             {doubles.output("y", EspdlType::DOUBLE, {2}, 0)});
  ASSERT_NE(doubles.import().rule().find("float64"), std::string::npos);
}

// Random bytes lead to a model, a refusal or "damaged".
TEST(EspdlModel, DamagedFilesNeverPassSilently) {
  for (const Bytes& file : sample_espdl_models()) {
    for (size_t cut = 0; cut < file.size(); cut += 97) {
      EspdlOptions options;
      options.model = file[0] == 'P' ? "1" : "";  // the last one
      const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
      const Code code = import_espdl_bytes(part, options).status.code();
      ASSERT_TRUE(code == Code::kInvalidModel || code == Code::kUnsupported) << cut;
    }
    Random random;
    for (int i = 0; i < 200; ++i) {
      Bytes bad = file;
      for (int k = random.integer(1, 4); k > 0; --k)
        bad[static_cast<size_t>(random.integer(0, static_cast<int>(bad.size()) - 1))] ^=
            static_cast<uint8_t>(1 << random.integer(0, 7));
      EspdlOptions options;
      options.model = "0";
      Imported imported = import_espdl_bytes(bad, options);
      Bytes made;
      if (imported.status.ok()) imported.status = convert::run_passes(&imported.graph, nullptr);
      if (imported.status.ok()) imported.status = convert::write_model(imported.graph, &made);
      const Code code = imported.status.code();
      ASSERT_TRUE(code == Code::kOk || code == Code::kInvalidModel || code == Code::kUnsupported ||
                  code == Code::kInvalidArgument)
          << imported.status.message() << random.trace();
    }
  }
}

}  // namespace
}  // namespace qrt::testing::espdl_model_test
