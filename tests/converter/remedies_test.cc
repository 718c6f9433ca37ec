// SPDX-License-Identifier: Apache-2.0
// Tests of remedies, which tell a user what to do next. Every remedy in the importers' sources is a sentence that says so in
// words of its own, and refusals that once misled are compared as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::remedies_test {
namespace {

// --- the texts in the sources

struct Call {
  std::string where;  // "onnx/ops/cast.cc:27"
  std::vector<std::string> arguments;
};

// Returns the arguments of a call from its opening parenthesis on.
std::vector<std::string> arguments_of(const std::string& source, size_t open) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  bool in_text = false;
  for (size_t i = open; i < source.size(); ++i) {
    const char c = source[i];
    if (in_text && c == '\\') {
      arguments.back() += c;
      arguments.back() += source[++i];
      continue;
    }
    if (c == '"') in_text = !in_text;
    if (!in_text && (c == '(' || c == '{' || c == '[')) ++depth;
    if (!in_text && (c == ')' || c == '}' || c == ']') && --depth == 0) return arguments;
    if (!in_text && c == ',' && depth == 1)
      arguments.emplace_back();
    else if (i > open)
      arguments.back() += c;
  }
  return arguments;
}

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns the calls that refuse something, in all sources of the importers.
std::vector<Call> refusals_in_sources() {
  const std::filesystem::path root = std::filesystem::path(QRT_TESTS_DIR) / "../converter/import";
  std::vector<Call> calls;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cc") continue;
    const std::string source = read_text(entry.path());
    for (const std::string name :
         {"refuse(", "refuse_outside(", "refuse_input(", "refused_part(", "no("})
      for (size_t at = source.find(name); at != std::string::npos; at = source.find(name, at + 1)) {
        if (at > 0 &&
            (std::isalnum(static_cast<unsigned char>(source[at - 1])) || source[at - 1] == '_'))
          continue;
        Call call;
        const auto line =
            1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        call.where = entry.path().lexically_relative(root).string() + ":" + std::to_string(line);
        call.arguments = arguments_of(source, at + name.size() - 1);
        calls.push_back(std::move(call));
      }
  }
  return calls;
}

// Returns the text literals of an expression, one string for each run of them that nothing but a line break
// parts.
std::vector<std::string> literals_of(const std::string& expression) {
  std::vector<std::string> literals;
  size_t end_of_last = std::string::npos;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '"') continue;
    std::string text;
    for (++i; i < expression.size() && expression[i] != '"'; ++i) text += expression[i];
    const bool goes_on =
        end_of_last != std::string::npos &&
        std::all_of(expression.begin() + static_cast<std::ptrdiff_t>(end_of_last + 1),
                    expression.begin() + static_cast<std::ptrdiff_t>(i - text.size() - 1),
                    [](unsigned char c) { return std::isspace(c) != 0; });
    if (goes_on)
      literals.back() += text;
    else
      literals.push_back(text);
    end_of_last = i;
  }
  return literals;
}

// Words that say nothing about what to do, or that were wrong where they were printed.
const std::vector<std::string> kVague = {
    "usual size",          "usual scales",
    "usual exponents",     "remove it",
    "fix the model",       "check the",
    "correct the",         "simplify",
    "leave away",          "leave the operator away",
    "let it run in float",  // said of what runs so only, by import.cc
    "BatchNormalization"};
// The verbs with which remedies begin.
const std::vector<std::string> kVerbs = {
    "add",     "build",    "calibrate", "cast",   "clip",    "compare",  "compute", "convert",
    "declare", "end",      "export",    "fix",    "fold",    "give",     "join",    "keep",
    "let",     "look",     "make",      "merge",  "move",    "multiply", "pad",     "pool",
    "put",     "quantise", "read",      "reduce", "replace", "reshape",  "resize",  "set",
    "split",   "store",    "sum",       "train",  "use",     "write"};

bool begins_with_any(const std::string& text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& w) { return text.rfind(w, 0) == 0; });
}

TEST(Remedies, EveryRefusalInTheSourcesNamesANextStep) {
  const std::vector<Call> calls = refusals_in_sources();
  ASSERT_GT(calls.size(), 300u);
  int texts = 0;
  for (const Call& call : calls) {
    if (call.arguments.size() < 2) continue;
    const std::string& remedy = call.arguments.back();
    // Skips declarations, and functions that pass on a remedy that they are given.
    if (remedy.find('"') == std::string::npos) {
      EXPECT_TRUE(remedy.find("remedy") != std::string::npos ||
                  remedy.find(" k") != std::string::npos || remedy.find("\tk") != std::string::npos)
          << call.where << ": " << remedy;
      continue;
    }
    ++texts;
    const std::vector<std::string> literals = literals_of(remedy);
    std::string whole;
    for (const std::string& text : literals) whole += text + " ";
    EXPECT_GE(std::count(whole.begin(), whole.end(), ' '), 4) << call.where << ": " << whole;
    EXPECT_TRUE(begins_with_any(literals[0], kVerbs) ||
                remedy.find("end_before") != std::string::npos)
        << call.where << ": " << literals[0];
    for (const std::string& vague : kVague)
      EXPECT_EQ(whole.find(vague), std::string::npos) << call.where << ": " << whole;
  }
  EXPECT_GT(texts, 250);
}

// --- refusals as they are printed

std::string refusals_of(const Imported& imported) {
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  std::string text;
  for (const convert::Finding& f : imported.report.findings())
    if (f.outcome == convert::Outcome::kRefused) text += f.rule + " -> " + f.remedy + "\n";
  return text;
}

std::string refused_op(const std::string& op, const std::string& domain, bool allow_float) {
  OnnxBuilder b(23);
  b.allow_float = allow_float;
  const std::string x = b.integer_input<uint8_t>({1, 4}, 0.5f, 128);
  b.integer_output<uint8_t>(b.node(op, {x, b.constant<float>({4}, {1, 2, 3, 4})}, {}, domain), 0.5f,
                            128);
  return refusals_of(b.import());
}

// The remedy for an operator that qrt does not know is to end the model before it or to begin it
// behind it, not to "remove" it.
TEST(Remedies, OfUnknownOperators) {
  const std::string rest =
      "end the model before it, --outputs 't4', and compute the rest elsewhere; or make its result "
      "'t6' an input of the model";
  EXPECT_EQ(refused_op("Nonsense", "com.example", false),
            "qrt has no form of this operator -> " + rest + "\n");
  EXPECT_EQ(
      refused_op("Nonsense", "com.example", true),
      "qrt has no form of this operator -> " + rest + " (--allow-float does not change that)\n");
}

TEST(Remedies, OfRmsNormalization) {
  EXPECT_EQ(refused_op("RMSNormalization", "", false),
            "it divides by statistics of its input, computed in float, and the order of their sums "
            "varies: no integer form has its bits -> end the model before it, --outputs 't4', and "
            "compute the rest elsewhere; or make its result 't6' an input of the model; or let it "
            "run in float: --allow-float\n");
}

// No remedy ends the model before an operator that reads the model's own input.
TEST(Remedies, OfAnOperatorOnTheModelsInput) {
  OnnxBuilder b;
  const std::string x = b.input({1, 32}, "x");
  b.output(b.node("MatMulBnb4",
                  {x, b.constant<uint8_t>({128}, std::vector<uint8_t>(128)),
                   b.constant<float>({8}, std::vector<float>(8, 1.0f))},
                  {{"K", 32}, {"N", 8}, {"quant_type", 1}, {"block_size", 32}}, "com.microsoft"));
  EXPECT_EQ(
      refusals_of(b.import()),
      "the codes of its weights stand for the values of a table (FP4, NF4), not for integers "
      "with a scale -> quantise the float model to blocks of integers (MatMulNBits), or to 8 "
      "bits by qrt_quantize MODEL --calibration SAMPLES; or compute it elsewhere: between the "
      "model's inputs and its output 't3' qrt finds nothing else to do\n");
}

// A remedy offers --allow-float where an import with it would not refuse the node, and nowhere else.
TEST(Remedies, OfferFloatWhereItHelps) {
  const auto build = [](const char* op, const Dims& dims) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>(dims, 0.5f, 128);
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 3}, {1, 2, 3}), 0.5f, 0);
    b.integer_output<uint8_t>(std::string(op) == "Conv" ? b.node(op, {x, w}) : b.node(op, {x}),
                              0.5f, 128);
    return refusals_of(b.import());
  };
  EXPECT_NE(build("Det", {2, 2}).find("has no form"), std::string::npos);
  EXPECT_EQ(build("Det", {2, 2}).find("--allow-float"), std::string::npos);
  // A window that does not fit the image does not fit in float either.
  EXPECT_EQ(build("Conv", {1, 1, 1}).find("--allow-float"), std::string::npos);
  // A layer that is refused only because its float result ends the model can run in float.
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 2, 4, 4}, 0.5f, 128);
  b.output(b.node("Softmax", {x}));
  const std::string text = refusals_of(b.import());
  const std::string offer = "; or let it run in float: --allow-float\n";
  ASSERT_GE(text.size(), offer.size());
  EXPECT_EQ(text.substr(text.size() - offer.size()), offer);
}

// The remedy for a leading dimension that is no batch is to give its size; float does not help.
TEST(Remedies, OfALeadingTime) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({-1, 10}, 0.5f, 128);
  const std::string rows = b.node("Reshape", {b.node("Transpose", {x}, {{"perm", Dims{1, 0}}}),
                                              b.constant<int64_t>({3}, {1, 10, -1})});
  const std::string w =
      b.dq<int8_t>(b.constant<int8_t>({1, 10, 3}, std::vector<int8_t>(30, 1)), 0.5f, 0);
  b.integer_output<uint8_t>(b.node("Conv", {rows, w}), 0.5f, 128);
  EXPECT_EQ(refusals_of(b.import()),
            "a window of 3 does not fit 1 padded positions: its output is empty -> the first "
            "dimension of 'x1', which the file leaves open, was taken for a batch of 1: where it "
            "is a length, give its size, --input-shape 'x1=20x10'\n");
}

TEST(Remedies, OfOpsetsThatAreTooOld) {
  OnnxBuilder b(6);
  b.integer_output<uint8_t>(b.integer_input<uint8_t>({1, 4}, 0.5f, 128), 0.5f, 128);
  EXPECT_EQ(refusals_of(b.import()),
            "opset 6, supported are 7 to 28 -> convert the file to an opset from 7 to 28 by "
            "onnx.version_converter.convert_version, or export the model with one\n");
}

// The remedy for an open dimension is to give its size where no rule expresses what follows from
// it, such as a length that is the remainder of its square.
TEST(Remedies, OfDimensionsThatAreOpen) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 3, -1}, 0.5f, 128);
  const std::string n = b.node("Gather", {b.node("Shape", {x}), b.constant<int64_t>({1}, {2})});
  const std::string rest = b.node("Mod", {b.node("Mul", {n, n}), b.constant<int64_t>({1}, {13})});
  const std::string end = b.node("Max", {rest, b.constant<int64_t>({1}, {1})});
  const std::string first =
      b.node("Slice", {x, b.constant<int64_t>({1}, {0}), end, b.constant<int64_t>({1}, {2})});
  b.integer_output<uint8_t>(first, 0.5f, 128);
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  const Status status = run_passes(&imported.graph, nullptr);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(std::string(status.message()).find("give sizes by --input-shape NAME=1x3x224x224"),
            std::string::npos)
      << status.message();
}

TEST(Remedies, OfTfliteOperators) {
  using tflite::BuiltinOperator;
  using tflite::TensorType;
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f),
            h = b.activation(TensorType::INT8, {1, 4}, 0.5f, 0),
            y = b.output(TensorType::INT8, {1, 4}, 0.5f);
  b.op(BuiltinOperator::RELU, {x}, {h});
  b.op(BuiltinOperator::CUSTOM, {h}, {y});
  b.model.operator_codes.back()->custom_code = "PosenetDecoderOp";
  EXPECT_EQ(refusals_of(b.import()),
            "this custom operator is not supported -> end the model before it (--outputs 't1'), or "
            "build it of the operators that converter/import/tflite/README.md lists\n");
}

}  // namespace
}  // namespace qrt::testing::remedies_test
