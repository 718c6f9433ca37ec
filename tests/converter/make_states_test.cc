// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs that become states (qrt_convert --state): the file's session gives what a caller gets who hands
// the output back as the input; pairs that are none are refused.
#include <gtest/gtest.h>

#include <map>
#include <qrt/qrt.hpp>

#include "converter/import/frontend.h"
#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::make_states_test {
namespace {

using convert::ImportOptions;
using Named = std::map<std::string, Bytes>;
using StateNames = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const StateNames& pairs) {
  std::string text;
  for (const auto& [in, out] : pairs) text += (text.empty() ? "" : "\n") + in + "=" + out;
  return text;
}

template <class Model>
Imported import_with(const char* format, const Model& bytes, const std::string& states,
                     ImportOptions options = {}) {
  if (!states.empty()) options["state"] = states;
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
    return convert::import_model(*convert::find_frontend(format), path, options, &to->graph,
                                 &to->report);
  });
}

api::Model converted(Imported imported) {
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  Status status = run_passes(&imported.graph, nullptr);
  Bytes file;
  if (status.ok()) status = write_model(imported.graph, &file);
  EXPECT_TRUE(status.ok()) << status.message();
  return api::Model::load_memory(file.data(), file.size(), QRT_LOAD_COPY);
}

Named run(api::Session* session, const Named& inputs) {
  for (const auto& [name, bytes] : inputs)
    session->set_input_bytes(name, bytes.data(), bytes.size());
  session->run();
  Named outputs;
  for (size_t i = 0;; ++i) {
    qrt_tensor_info info;
    if (!session->try_output_info(i, &info).ok()) return outputs;
    Bytes& y = outputs[info.name];
    y.resize(info.bytes);
    session->get_output_bytes(i, y.data(), y.size());
  }
}

// Inputs that are no state, by step.
using InputsByRun = std::vector<Named>;

// Compares steps of the model with states to those of the model without, whose outputs are given back.
template <class Model>
void expect_stream(const char* format, const Model& bytes, const StateNames& pairs,
                   const InputsByRun& steps, const ImportOptions& options = {},
                   const std::vector<qrt_dim>& dims = {}) {
  const api::Model with = converted(import_with(format, bytes, text_of(pairs), options));
  const api::Model without = converted(import_with(format, bytes, "", options));
  ASSERT_EQ(with.input_count() + pairs.size(), without.input_count());
  ASSERT_EQ(with.output_count() + pairs.size(), without.output_count());
  ASSERT_EQ(with.info().reference, std::string(without.info().reference));
  api::SessionOptions at;
  at.dims = dims.data();
  at.dim_count = dims.size();
  api::Session stream(with, at), single(without, at);
  ASSERT_EQ(stream.state_count(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const qrt_tensor_info state = stream.state_info(i), input = single.input_info(pairs[i].first);
    ASSERT_EQ(state.name, pairs[i].first);
    ASSERT_EQ(state.dtype, input.dtype);
    ASSERT_EQ(state.bytes, input.bytes);
  }
  for (int round = 0; round < 2; ++round) {
    Named given;
    for (const Named& step : steps) {
      for (const auto& [name, value] : step) given[name] = value;
      Named expected = run(&single, given);
      for (const auto& [in, out] : pairs) {
        given[in] = expected.at(out);
        expected.erase(out);
      }
      ASSERT_EQ(run(&stream, step), expected);
      for (size_t i = 0; i < pairs.size(); ++i) {
        Bytes state(stream.state_info(i).bytes);
        stream.get_state(i, state.data(), state.size());
        ASSERT_EQ(state, given[pairs[i].first]);
      }
    }
    stream.reset();
    for (const auto& [in, out] : pairs) {
      const Bytes zeros(single.input_info(in).bytes);
      single.set_input_bytes(in, zeros.data(), zeros.size());
    }
  }
}

Bytes bytes_of(const std::vector<float>& values) { return to_bytes(values); }

InputsByRun random_steps(const std::string& name, size_t bytes, size_t count) {
  Random random;
  InputsByRun steps(count);
  for (Named& step : steps) step[name] = random_integers<uint8_t>(&random, bytes);
  return steps;
}

// y = x + h, the next h = x * 0.5 + h * 0.75; elements of uint8 whose zero point is 0.
std::string leaky_sum(StateNames* pairs, int64_t batch = 1) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({batch, 5}, "x"), h = b.input<uint8_t>({batch, 5}, "h");
  const std::string real = b.dq<uint8_t>(x, 0.5f, 0), past = b.dq<uint8_t>(h, 0.75f, 0);
  b.output(b.q<uint8_t>(b.node("Add", {real, past}), 1.0f, 0));
  const std::string next = b.q<uint8_t>(b.node("Add", {real, past}), 0.75f, 0);
  b.output(next);
  *pairs = {{"h", next}};
  return b.bytes();
}

TEST(MakeStates, OfIntegers) {
  StateNames pairs;
  const std::string bytes = leaky_sum(&pairs);
  expect_stream("onnx", bytes, pairs, random_steps("x", 5, 12));
}

TEST(MakeStates, WithAnOpenBatch) {
  StateNames pairs;
  const std::string bytes = leaky_sum(&pairs, -1);
  Imported imported = import_with("onnx", bytes, text_of(pairs));
  ASSERT_EQ(imported.graph.variables.size(), 1u);
  expect_stream("onnx", bytes, pairs, random_steps("x", 5 * 3, 6), {}, {{"batch", 3}});
}

// Layers with states and float outputs give the same bits as the source, and a number of steps in
// int64 counts on.
TEST(MakeStates, OfARecurrentLayerAndACounter) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  Random random;
  const auto floats = [&](size_t n) {
    std::vector<float> values(n);
    for (float& v : values) v = random.real(-1, 1);
    return values;
  };
  OnnxBuilder b(17);
  const std::string x = b.input({2, 1, 6}, "x"), h = b.input({1, 1, 4}, "h"),
                    c = b.input({1, 1, 4}, "c");
  b.node("LSTM",
         {x, b.constant<float>({1, 16, 6}, floats(96)), b.constant<float>({1, 16, 4}, floats(64)),
          b.constant<float>({1, 32}, floats(32)), "", h, c},
         {{"hidden_size", 4}});
  auto* lstm = b.graph().mutable_node(b.graph().node_size() - 1);
  lstm->add_output("hn");
  lstm->add_output("cn");
  b.output(lstm->output(0));
  b.output("hn");
  b.output("cn");
  const std::string count = b.input<int64_t>({1}, "count");
  const std::string more = b.node("Add", {count, b.constant<int64_t>({1}, {2})});
  b.output(more);
  InputsByRun steps(7);
  for (Named& step : steps) step["x"] = bytes_of(floats(12));
  const StateNames pairs = {{"h", "hn"}, {"count", more}, {"c", "cn"}};
  expect_stream("onnx", b.bytes(), pairs, steps, {{"allow-float", "on"}});
}

// A state may take the content of another one, of the input, or of an output of the model.
TEST(MakeStates, ThatArePassedOn) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({1, 4}, "x"), last = b.input<uint8_t>({1, 4}, "last"),
                    before = b.input<uint8_t>({1, 4}, "before");
  const std::string sum = b.q<uint8_t>(
      b.node("Add", {b.dq<uint8_t>(last, 1.0f, 0), b.dq<uint8_t>(before, 1.0f, 0)}), 1.0f, 0);
  const std::string next_before = b.node("Identity", {last}), next_last = b.node("Identity", {x}),
                    again = b.node("Identity", {sum}), kept = b.input<uint8_t>({1, 4}, "kept");
  for (const std::string& y : {sum, next_before, next_last, again}) b.output(y);
  b.output(b.q<uint8_t>(b.node("Add", {b.dq<uint8_t>(kept, 1.0f, 0), b.dq<uint8_t>(x, 1.0f, 0)}),
                        1.0f, 0));
  expect_stream("onnx", b.bytes(), {{"before", next_before}, {"last", next_last}, {"kept", again}},
                random_steps("x", 4, 8));
}

// A state of TFLite begins at the real number 0: the zero point of an int8 tensor.
TEST(MakeStates, OfTfliteBeginAtTheZeroPoint) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 6}, 0.5f, 3),
            h = b.input(TensorType::INT8, {1, 6}, 0.25f, -7);
  const int y = b.output(TensorType::INT8, {1, 6}, 0.5f, 1),
            next = b.output(TensorType::INT8, {1, 6}, 0.25f, -7);
  b.op(BuiltinOperator::ADD, {x, h}, {y}, tflite::AddOptionsT());
  b.op(BuiltinOperator::ADD, {h, x}, {next}, tflite::AddOptionsT());
  const StateNames pairs = {{b.at(h).name, b.at(next).name}};
  const Bytes bytes = b.build();
  const Imported imported = import_with("tflite", bytes, text_of(pairs));
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_EQ(imported.graph.variables.size(), 1u);
  EXPECT_EQ(imported.graph.variables[0].initial, -7);
  const api::Model with = converted(import_with("tflite", bytes, text_of(pairs)));
  const api::Model without = converted(import_with("tflite", bytes, ""));
  api::Session stream(with), single(without);
  Bytes state(6, static_cast<uint8_t>(-7));
  for (const Named& step : random_steps(b.at(x).name, 6, 9)) {
    Named given = step;
    given[b.at(h).name] = state;
    Named expected = run(&single, given);
    state = expected.at(b.at(next).name);
    expected.erase(b.at(next).name);
    ASSERT_EQ(run(&stream, step), expected);
  }
}

// A state whose scale only the input or only the output tells is passed on as it is.
TEST(MakeStates, WhoseScaleOneSideTells) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({1, 4}, "x"), h = b.input<uint8_t>({1, 4}, "h");
  const std::string next = b.node("Identity", {x});
  b.output(b.q<uint8_t>(b.node("Relu", {b.dq<uint8_t>(h, 0.5f, 100)}), 0.5f, 100));
  b.output(next);
  const Imported imported = import_with("onnx", b.bytes(), "h=" + next);
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.variables.at(0).initial, 100);
}

// A state of fixed size may stand beside an input whose length is open.
TEST(MakeStates, BesideAnOpenLength) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  OnnxBuilder b(17);
  const std::string x = b.input({1, 1, 3}, "x"), h = b.input({1, 2, 3}, "h");
  b.name_dim(0, 1, "n");
  const std::string all = b.node("Concat", {h, x}, {{"axis", 1}});
  const std::string next =
      b.node("Slice", {all, b.constant<int64_t>({1}, {-2}), b.constant<int64_t>({1}, {INT64_MAX}),
                       b.constant<int64_t>({1}, {1})});
  b.output(b.node("ReduceSum", {all, b.constant<int64_t>({1}, {1})}));
  b.output(next);
  Random random;
  for (const int64_t length : {1, 2, 5, 33}) {
    SCOPED_TRACE(length);
    InputsByRun steps(5);
    for (Named& step : steps) {
      std::vector<float> values(static_cast<size_t>(3 * length));
      for (float& v : values) v = random.real(-1, 1);
      step["x"] = bytes_of(values);
    }
    expect_stream("onnx", b.bytes(), {{"h", next}}, steps, {{"allow-float", "on"}},
                  {{"n", length}});
  }
}

// A cache that grows in each run is refused as a state.
TEST(MakeStates, ThatGrowAreRefused) {
  for (const bool is_open : {false, true}) {
    OnnxBuilder b(17);
    const std::string x = b.input({1, 1, 3}, "x"), past = b.input({1, 4, 3}, "past");
    if (is_open) b.name_dim(1, 1, "n");
    const std::string present = b.node("Concat", {past, x}, {{"axis", 1}});
    b.output(b.node("ReduceSum", {present, b.constant<int64_t>({1}, {1})}));
    b.output(present);
    const Imported imported =
        import_with("onnx", b.bytes(), "past=" + present, {{"allow-float", "on"}});
    EXPECT_EQ(imported.status.code(), Code::kUnsupported);
    const std::string message = imported.status.message();
    EXPECT_NE(
        message.find("but a state has one size in all runs. This one grows in each: leave it an "
                     "input and an output, or export"),
        std::string::npos)
        << message;
    EXPECT_NE(message.find("--state past=" + present + ": the input has the shape [1, "),
              std::string::npos)
        << message;
  }
}

TEST(MakeStates, RefusesWhatIsNoPair) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({1, 4}, "x"), h = b.input<uint8_t>({1, 4}, "a=b");
  const std::string wide = b.input<int32_t>({1, 4}, "wide");
  const std::string y =
      b.q<uint8_t>(b.node("Add", {b.dq<uint8_t>(x, 1.0f, 0), b.dq<uint8_t>(h, 1.0f, 0)}), 1.0f, 0);
  b.output(y);
  const std::string twice = b.node("Add", {wide, wide});
  b.output(twice);
  const auto refuse = [&](const std::string& states, const std::string& part) {
    const Status status = import_with("onnx", b.bytes(), states).status;
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << states;
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
  };
  refuse("x", "--state x: give the names of an input and an output as IN=OUT");
  refuse("z=" + y, "the model has no input 'z': it has 'x', 'a=b', 'wide'");
  refuse("x=z", "the model has no output 'z': it has '" + y + "', '" + twice + "'");
  refuse("=", "the model has no input ''");
  refuse(y + "=x", "the model has no input '" + y + "'");
  refuse("wide=" + y, "the input is int32, the output uint8: a state has one type");
  refuse("x=" + y + "\nx=" + y, "the model has no input 'x': it has 'a=b', 'wide'");
  refuse("a=b=" + y + "\nx=" + twice, "the input is uint8, the output int32");
  refuse("a=b=" + y + "\nwide=" + twice,
         "--state wide=" + twice + ": a model has one output at least that is no state");
  const Imported ok = import_with("onnx", b.bytes(), "a=b=" + y);
  EXPECT_TRUE(ok.status.ok()) << ok.status.message();
  EXPECT_EQ(ok.graph.values[ok.graph.inputs.back()].name, "a=b");
}

TEST(MakeStates, RefusesOtherQuantisations) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 6}, 0.5f, 3),
            h = b.input(TensorType::INT8, {1, 6}, 0.25f, -7);
  b.op(BuiltinOperator::ADD, {x, h}, {b.output(TensorType::INT8, {1, 6}, 0.5f, 1)},
       tflite::AddOptionsT());
  const int next = b.output(TensorType::INT8, {1, 6}, 0.25f, -6);
  b.op(BuiltinOperator::ADD, {h, x}, {next}, tflite::AddOptionsT());
  const Status status =
      import_with("tflite", b.build(), b.at(h).name + "=" + b.at(next).name).status;
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("quantised by other scales"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace qrt::testing::make_states_test
