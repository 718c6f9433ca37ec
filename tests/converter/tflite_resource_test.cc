// SPDX-License-Identifier: Apache-2.0
// Resource variables of TFLite models: streaming layers over several runs, what CALL_ONCE sets, and what
// is refused.
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/c_api.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_resource_test {
namespace {

using B = BuiltinOperator;

constexpr float kScale = 0.1f;
constexpr int kZeroPoint = -5;
constexpr int kSteps = 3, kChannels = 4;  // a variable holds kSteps frames

// A model with variables, and a second subgraph that sets them.
struct Streaming {
  TfliteBuilder b;

  int handle(const std::string& name, int subgraph = 0) {
    auto t = std::make_unique<tflite::TensorT>();
    t->name = "handle" + std::to_string(tensors(subgraph).size());
    t->type = TensorType::RESOURCE;
    tensors(subgraph).push_back(std::move(t));
    const int id = static_cast<int>(tensors(subgraph).size()) - 1;
    tflite::VarHandleOptionsT o;
    o.shared_name = name;
    move_op(b.op(B::VAR_HANDLE, {}, {id}, o), subgraph);
    return id;
  }
  int frames(int n, TensorType type = TensorType::INT8) {
    return b.activation(type, {1, n, 1, kChannels}, kScale, kZeroPoint);
  }
  int read(int handle, int n = kSteps) {
    const int y = frames(n);
    b.op(B::READ_VARIABLE, {handle}, {y});
    return y;
  }
  void assign(int handle, int x) { b.op(B::ASSIGN_VARIABLE, {handle, x}, {}); }
  int concat(int past, int x, int n) {
    const int all = frames(n);
    tflite::ConcatenationOptionsT o;
    o.axis = 1;
    b.op(B::CONCATENATION, {past, x}, {all}, o);
    return all;
  }
  // The last kSteps frames of n.
  int last(int all, int n) {
    const int y = frames(kSteps);
    const int begin = b.constant<int32_t>(TensorType::INT32, {4}, {0, n - kSteps, 0, 0});
    const int size = b.constant<int32_t>(TensorType::INT32, {4}, {1, kSteps, 1, kChannels});
    b.op(B::SLICE, {all, begin, size}, {y});
    return y;
  }
  // The frames of a run behind those that are kept, and of these the last ones as the next.
  int stream(const std::string& name, int x) {
    const int h = handle(name);
    const int all = concat(read(h), x, kSteps + 1);
    assign(h, last(all, kSteps + 1));
    return all;
  }
  void call_once(int subgraph = 1) {
    tflite::CallOnceOptionsT o;
    o.init_subgraph_index = subgraph;
    b.op(B::CALL_ONCE, {}, {}, o);
  }
  void add_subgraph() { b.model.subgraphs.push_back(std::make_unique<tflite::SubGraphT>()); }
  // Sets the variable to `values` at first, in subgraph 1.
  void set(const std::string& name, const Bytes& values, TensorType type = TensorType::INT8) {
    if (b.model.subgraphs.size() == 1) add_subgraph();
    const int h = handle(name, 1);
    auto t = std::make_unique<tflite::TensorT>();
    t->type = type;
    t->shape = {1, kSteps, 1, kChannels};
    t->buffer = static_cast<uint32_t>(b.model.buffers.size());
    b.model.buffers.push_back(std::make_unique<tflite::BufferT>());
    b.model.buffers.back()->data = values;
    tensors(1).push_back(std::move(t));
    move_op(b.op(B::ASSIGN_VARIABLE, {h, static_cast<int>(tensors(1).size()) - 1}, {}), 1);
  }

 private:
  std::vector<std::unique_ptr<tflite::TensorT>>& tensors(int subgraph) {
    return b.model.subgraphs[static_cast<size_t>(subgraph)]->tensors;
  }
  void move_op(tflite::OperatorT&, int subgraph) {
    if (subgraph == 0) return;
    b.model.subgraphs[static_cast<size_t>(subgraph)]->operators.push_back(
        std::move(b.graph().operators.back()));
    b.graph().operators.pop_back();
  }
};

class Session {
 public:
  explicit Session(const TfliteBuilder& b) {
    Imported imported = b.import();
    EXPECT_EQ(imported.status.code(), Code::kOk) << imported.report.text(true);
    Bytes file;
    EXPECT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
    EXPECT_TRUE(convert::write_model(imported.graph, &file).ok());
    qrt_model* model = nullptr;
    qrt_session* session = nullptr;
    EXPECT_EQ(testing::load_copy(file.data(), file.size(), &model, nullptr), QRT_OK);
    model_.reset(model);
    EXPECT_EQ(qrt_session_create(model, nullptr, &session, nullptr), QRT_OK);
    session_.reset(session);
  }
  std::vector<Bytes> run(const Bytes& x, const std::vector<size_t>& sizes) {
    EXPECT_EQ(qrt_session_set_input_bytes(session_.get(), 0, x.data(), x.size(), nullptr), QRT_OK);
    EXPECT_EQ(qrt_session_run(session_.get(), nullptr), QRT_OK);
    std::vector<Bytes> outputs;
    for (const size_t size : sizes) {
      Bytes y(size);
      EXPECT_EQ(
          qrt_session_get_output_bytes(session_.get(), outputs.size(), y.data(), size, nullptr),
          QRT_OK);
      outputs.push_back(std::move(y));
    }
    return outputs;
  }
  void reset() { EXPECT_EQ(qrt_session_reset(session_.get()), QRT_OK); }

 private:
  std::unique_ptr<qrt_model, void (*)(qrt_model*)> model_{nullptr, qrt_model_destroy};
  std::unique_ptr<qrt_session, void (*)(qrt_session*)> session_{nullptr, qrt_session_destroy};
};

constexpr size_t kKept = kSteps * kChannels;

// Checks several runs of a model whose only output is what stream() gives, and again after a reset.
void check_stream(const TfliteBuilder& b, uint8_t initial) {
  Random random;
  SCOPED_TRACE(random.trace());
  Session session(b);
  for (int round = 0; round < 2; ++round) {
    Bytes past(kKept, initial);
    for (int i = 0; i < 5; ++i) {
      Bytes x(kChannels);
      random.fill(x, 0, 255);
      past.insert(past.end(), x.begin(), x.end());
      ASSERT_EQ(session.run(x, {past.size()})[0], past) << "run " << i;
      past.erase(past.begin(), past.begin() + kChannels);
    }
    session.reset();
  }
}

TEST(TfliteResource, KeepsFramesBetweenRuns) {
  Streaming s;
  s.call_once();
  const int x = s.frames(1);
  s.b.graph().inputs = {x};
  s.b.graph().outputs = {s.stream("past", x)};
  s.set("past", Bytes(kKept, 17));
  s.call_once();  // runs once
  check_stream(s.b, 17);
}

// A variable begins with the zero point, as its memory does in TensorFlow Lite Micro.
TEST(TfliteResource, BeginsWithTheZeroPoint) {
  Streaming s;
  const int x = s.frames(1);
  s.b.graph().inputs = {x};
  s.b.graph().outputs = {s.stream("past", x)};
  check_stream(s.b, static_cast<uint8_t>(kZeroPoint));
}

// Reads see the last assignment of their run; a variable that is only assigned, or never, keeps nothing.
TEST(TfliteResource, TakesTheOrderOfTheFile) {
  Streaming s;
  const int x = s.b.input(TensorType::INT8, {1, kSteps, 1, kChannels}, kScale, kZeroPoint);
  const int h = s.handle("a"), again = s.handle("a"), other = s.handle("b"), c = s.handle("c");
  const int before = s.read(h);
  s.assign(again, x);
  const int after = s.read(h);
  s.assign(other, x);
  const int constant = s.read(c);
  s.b.graph().outputs = {before, after, constant};
  Session session(s.b);
  const Bytes one(kKept, 1), two(kKept, 2), at_first(kKept, static_cast<uint8_t>(kZeroPoint));
  const std::vector<size_t> sizes(3, kKept);
  EXPECT_EQ(session.run(one, sizes), (std::vector<Bytes>{at_first, one, at_first}));
  EXPECT_EQ(session.run(two, sizes), (std::vector<Bytes>{one, two, at_first}));
  session.reset();
  EXPECT_EQ(session.run(two, sizes), (std::vector<Bytes>{at_first, two, at_first}));
}

// One tensor may be the content of two variables and an output of the model.
TEST(TfliteResource, SharesWhatItAssigns) {
  Streaming s;
  const int x = s.b.input(TensorType::INT8, {1, kSteps, 1, kChannels}, kScale, kZeroPoint);
  const int a = s.handle("a"), c = s.handle("c");
  const int past_a = s.read(a), past_c = s.read(c), y = s.frames(kSteps);
  s.b.op(B::RELU, {x}, {y});
  s.assign(a, y);
  s.assign(c, y);
  s.b.graph().outputs = {y, past_a, past_c};
  Session session(s.b);
  const Bytes low(kKept, 200), zero(kKept, static_cast<uint8_t>(kZeroPoint)), high(kKept, 100);
  const std::vector<size_t> sizes(3, kKept);
  EXPECT_EQ(session.run(high, sizes), (std::vector<Bytes>{high, zero, zero}));
  EXPECT_EQ(session.run(low, sizes), (std::vector<Bytes>{zero, high, high}));
}

// Expects that the last operator of a model is refused for `rule`.
void expect_refused(Streaming& s, const std::string& rule) {
  const Imported imported = s.b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  EXPECT_NE(imported.report.text(true).find(rule), std::string::npos) << imported.report.text(true);
}

Streaming refused(const Bytes& initial, TensorType type = TensorType::INT8) {
  Streaming s;
  s.call_once();
  const int x = s.frames(1);
  s.b.graph().inputs = {x};
  s.b.graph().outputs = {s.stream("past", x)};
  s.set("past", initial, type);
  return s;
}

TEST(TfliteResource, RefusesWhatItCannotKeep) {
  Bytes mixed(kKept, 1);
  mixed.back() = 2;
  Streaming s = refused(mixed);
  expect_refused(s, "the first content of 'past' is not one value for all elements");
  s = refused(Bytes(4 * kKept), TensorType::FLOAT32);
  expect_refused(s, "the first content of 'past' is not one value");
  s = refused(Bytes(kKept), TensorType::UINT8);
  expect_refused(s, "the variable 'past' uint8 [1, 3, 1, 4]");
  s = refused(Bytes(kKept, 1));
  s.b.model.subgraphs[1]->operators[1]->inputs = {0, 0};
  expect_refused(s, "its subgraph has ASSIGN_VARIABLE beside assignments of constants");
  s = refused(Bytes(kKept, 1));
  std::rotate(s.b.graph().operators.begin(), s.b.graph().operators.begin() + 1,
              s.b.graph().operators.end());
  expect_refused(s, "it sets 'past' after an operator has used that");

  Streaming handles;
  const int x = handles.b.input(TensorType::INT8, {1, kSteps, 1, kChannels}, kScale, kZeroPoint);
  const int y = handles.frames(kSteps);
  handles.b.op(B::READ_VARIABLE, {x}, {y});
  handles.b.graph().outputs = {y};
  expect_refused(handles, "is not a handle of a variable");
  Streaming moved;
  const int h = moved.handle("a"), z = moved.frames(kSteps);
  moved.b.op(B::RELU, {h}, {z});
  moved.b.graph().outputs = {z};
  expect_refused(moved, "is a resource");
}

TEST(TfliteResource, BadSubgraphs) {
  for (const int subgraph : {0, -1, 2}) {
    Streaming s;
    s.add_subgraph();
    s.call_once(subgraph);
    const int x = s.b.input(TensorType::INT8, {1, 1, 1, kChannels}, kScale, kZeroPoint);
    s.b.graph().outputs = {s.stream("past", x)};
    EXPECT_EQ(s.b.import().status.code(), Code::kInvalidModel) << subgraph;
  }
}

}  // namespace
}  // namespace qrt::testing::tflite_resource_test
