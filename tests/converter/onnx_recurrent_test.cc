// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU, RNN and DynamicQuantizeLSTM of ONNX: how their inputs and attributes become the operator Recurrent, whose numbers
// tests/ops/recurrent_test.cc checks; what is refused.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"
#include "tests/support/recurrent_oracle.h"

namespace qrt::testing::onnx_recurrent_test {
namespace {

using recurrent::Case;
using recurrent::Cell;
using recurrent::Direction;
using recurrent::Floats;
using recurrent::Results;

class OnnxRecurrent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  }

  Floats floats(int64_t n) {
    Floats values(static_cast<size_t>(n));
    for (float& v : values) v = random_.real(-1, 1);
    return values;
  }

  Random random_;
};

const char* op_of(Cell cell) {
  return cell == Cell::LSTM ? "LSTM" : cell == Cell::GRU ? "GRU" : "RNN";
}
const char* text_of(Direction direction) {
  return direction == Direction::FORWARD   ? "forward"
         : direction == Direction::REVERSE ? "reverse"
                                           : "bidirectional";
}

// Gives a node further outputs; returns the names of all.
Names with_outputs(OnnxBuilder* b, const std::string& first, int count) {
  Names names = {first};
  auto* node = b->graph().mutable_node(b->graph().node_size() - 1);
  for (int i = 1; i < count; ++i) {
    names.push_back(first + "_" + std::to_string(i));
    node->add_output(names.back());
  }
  return names;
}

// Transposes [a, b, c] to [b, a, c].
Floats swapped(const Floats& x, int64_t a, int64_t b, int64_t c) {
  Floats y(x.size());
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j)
      for (int64_t k = 0; k < c; ++k)
        y[static_cast<size_t>((j * a + i) * c + k)] = x[static_cast<size_t>((i * b + j) * c + k)];
  return y;
}

// Weights [d, rows, columns] to [d, columns, rows].
Floats turned(const Floats& x, int64_t d, int64_t rows, int64_t columns) {
  Floats y(x.size());
  for (int64_t i = 0; i < d; ++i)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        y[static_cast<size_t>((i * columns + c) * rows + r)] =
            x[static_cast<size_t>((i * rows + r) * columns + c)];
  return y;
}

void add_biases(const Floats& b, Case* c) {
  const int64_t width = c->width();
  for (int64_t d = 0; d < c->directions(); ++d)
    for (int64_t j = 0; j < width; ++j) {
      const auto at = static_cast<size_t>(d * 2 * width + j);
      const bool is_apart = c->options.resets_after && j >= 2 * c->cells;
      c->b.push_back(is_apart ? b[at] : b[at] + b[at + static_cast<size_t>(width)]);
      if (is_apart) c->reset_bias.push_back(b[at + static_cast<size_t>(width)]);
    }
}

TEST_F(OnnxRecurrent, InputsAttributesAndOutputs) {
  SCOPED_TRACE(random_.trace());
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM})
    for (const Direction direction :
         {Direction::FORWARD, Direction::REVERSE, Direction::BIDIRECTIONAL})
      for (int form = 0; form < 4; ++form) {
        SCOPED_TRACE(std::string(op_of(cell)) + " " + text_of(direction) + " " +
                     std::to_string(form));
        const bool batch_first = (form & 1) != 0, is_full = (form & 2) != 0;
        Case c;
        c.steps = 3, c.rows = 2, c.in = 5, c.cells = 4;
        fb::RecurrentOptionsT& o = c.options;
        o.cell = cell;
        o.direction = direction;
        o.resets_after = cell == Cell::GRU && is_full;
        o.couples_forget = cell == Cell::LSTM && is_full;
        o.has_lengths = o.has_hidden = is_full;
        o.has_content = o.has_peepholes = cell == Cell::LSTM && is_full;
        o.nan_is_clip = cell != Cell::RNN && is_full;
        if (is_full) c.set_clip(0.75f);
        const int64_t d = c.directions(), width = c.width();
        const Floats w = floats(d * width * 5), r = floats(d * width * 4);
        Floats b(static_cast<size_t>(2 * d * width), 0.0f);
        if (is_full) b = floats(2 * d * width);
        c.x = floats(3 * 2 * 5);
        c.w = turned(w, d, width, 5);
        c.r = turned(r, d, width, 4);
        add_biases(b, &c);
        c.hidden = floats(d * 2 * 4);
        c.content = floats(d * 2 * 4);
        c.peepholes = floats(d * 3 * 4);
        if (is_full) c.lengths = {1, 3};
        OnnxBuilder m;
        m.allow_float = true;
        const Dims state = batch_first ? Dims{2, d, 4} : Dims{d, 2, 4};
        Names inputs = {m.input(batch_first ? Dims{2, 3, 5} : Dims{3, 2, 5}),
                        m.constant<float>({d, width, 5}, w), m.constant<float>({d, width, 4}, r)};
        std::vector<Bytes> given = {to_bytes(batch_first ? swapped(c.x, 3, 2, 5) : c.x)};
        if (is_full) {
          inputs.push_back(m.constant<float>({d, 2 * width}, b));
          inputs.push_back(m.input<int32_t>({2}));
          inputs.push_back(m.input(state));
          given.push_back(to_bytes(c.lengths));
          given.push_back(to_bytes(batch_first ? swapped(c.hidden, d, 2, 4) : c.hidden));
          if (cell == Cell::LSTM) {
            inputs.push_back(m.input(state));
            inputs.push_back(m.constant<float>({d, 12}, c.peepholes));
            given.push_back(to_bytes(batch_first ? swapped(c.content, d, 2, 4) : c.content));
          }
        }
        std::vector<Attr> attributes = {Attr("hidden_size", 4),
                                        Attr("direction", text_of(direction)),
                                        Attr("layout", batch_first ? 1 : 0)};
        if (is_full) attributes.push_back(Attr("clip", 0.75f));
        if (o.resets_after) attributes.push_back(Attr("linear_before_reset", 1));
        if (o.couples_forget) attributes.push_back(Attr("input_forget", 1));
        const int count = cell == Cell::LSTM ? 3 : 2;
        for (const std::string& name :
             with_outputs(&m, m.node(op_of(cell), inputs, attributes), count))
          m.output(name);
        const std::vector<Bytes> outputs = m.run(given);
        ASSERT_EQ(outputs.size(), static_cast<size_t>(count));
        const Results want = recurrent::results_of(c);
        // [time, d, n, c] as [n, time, d, c]: dimensions 0 and 1 together, then swapped with n.
        EXPECT_EQ(outputs[0], to_bytes(batch_first ? swapped(want.y, 3 * d, 2, 4) : want.y));
        EXPECT_EQ(outputs[1], to_bytes(batch_first ? swapped(want.hidden, d, 2, 4) : want.hidden));
        if (count == 3) {
          EXPECT_EQ(outputs[2],
                    to_bytes(batch_first ? swapped(want.content, d, 2, 4) : want.content));
        }
      }
}

// Products of an LSTM and a GRU are summed in blocks of 256, as ONNX Runtime does with weights that it packs.
TEST_F(OnnxRecurrent, LongSumsAreInBlocks) {
  for (const Cell cell : {Cell::RNN, Cell::GRU, Cell::LSTM}) {
    Case c;
    c.steps = 2, c.rows = 1, c.in = 700, c.cells = 3;
    c.options.cell = cell;
    const int64_t width = c.width();
    // ONNX Runtime's block of a product with weights that it does not pack, few columns and many terms.
    if (cell == Cell::RNN) c.options.x_block = 1024, c.options.h_block = 4;
    const Floats w = floats(width * 700), r = floats(width * 3);
    c.x = floats(2 * 700);
    c.w = turned(w, 1, width, 700);
    c.r = turned(r, 1, width, 3);
    c.b.assign(static_cast<size_t>(width), 0.0f);
    OnnxBuilder m;
    m.allow_float = true;
    m.output(m.node(op_of(cell),
                    {m.input({2, 1, 700}), m.constant<float>({1, width, 700}, w),
                     m.constant<float>({1, width, 3}, r)},
                    {Attr("hidden_size", 3)}));
    EXPECT_EQ(m.run({to_bytes(c.x)})[0], to_bytes(recurrent::results_of(c).y)) << op_of(cell);
  }
}

TEST_F(OnnxRecurrent, WeightsMayBeQuantisedAndStatesZero) {
  Case c;
  c.steps = 3, c.rows = 1, c.in = 4, c.cells = 2;
  c.options.cell = Cell::GRU;
  std::vector<int8_t> w(24), r(12);
  for (int8_t& v : w) v = static_cast<int8_t>(random_.integer(-127, 127));
  for (int8_t& v : r) v = static_cast<int8_t>(random_.integer(-127, 127));
  const auto real = [](const std::vector<int8_t>& codes) {
    Floats values;
    for (const int8_t v : codes) values.push_back(static_cast<float>(v) * 0.01f);
    return values;
  };
  c.x = floats(12);
  c.w = turned(real(w), 1, 6, 4);
  c.r = turned(real(r), 1, 6, 2);
  c.b.assign(6, 0.0f);
  OnnxBuilder m;
  m.allow_float = true;
  const std::string weights = m.dq(m.constant<int8_t>({1, 6, 4}, w), 0.01f, int8_t{0});
  const std::string recurrent = m.dq(m.constant<int8_t>({1, 6, 2}, r), 0.01f, int8_t{0});
  const std::string lengths = m.constant<int32_t>({1}, {3});
  const std::string zeros = m.constant<float>({1, 1, 2}, {0, 0});
  m.output(m.node("GRU", {m.input({3, 1, 4}), weights, recurrent, "", lengths, zeros},
                  {Attr("hidden_size", 2)}));
  EXPECT_EQ(m.run({to_bytes(c.x)})[0], to_bytes(recurrent::results_of(c).y));
  EXPECT_EQ(m.import().only<fb::RecurrentOptionsT>().has_lengths, false);
  EXPECT_EQ(m.import().only<fb::RecurrentOptionsT>().has_hidden, false);
}

// Outputs may be left out: only the last state of an RNN with Relu is read.
TEST_F(OnnxRecurrent, OutputsMayBeLeftOut) {
  Case c;
  c.steps = 3, c.rows = 1, c.in = 2, c.cells = 2;
  c.options.is_relu = true;
  c.options.x_block = c.options.h_block = 2;
  const Floats w = floats(4), r = floats(4);
  c.x = floats(6);
  c.w = turned(w, 1, 2, 2);
  c.r = turned(r, 1, 2, 2);
  c.b.assign(2, 0.0f);
  OnnxBuilder m;
  m.allow_float = true;
  const std::string y = m.node("RNN", {m.input({3, 1, 2}), m.constant<float>({1, 2, 2}, w),
                                       m.constant<float>({1, 2, 2}, r)});
  auto* node = m.graph().mutable_node(m.graph().node_size() - 1);
  auto* activations = node->add_attribute();
  activations->set_name("activations");
  activations->set_type(onnx::AttributeProto::STRINGS);
  activations->add_strings("Relu");
  node->set_output(0, "");
  node->add_output("last");
  m.output("last");
  EXPECT_EQ(m.run({to_bytes(c.x)})[0], to_bytes(recurrent::results_of(c).hidden));
}

TEST_F(OnnxRecurrent, DynamicQuantizeLstm) {
  SCOPED_TRACE(random_.trace());
  for (const bool is_signed : {true, false})
    for (const bool by_column : {false, true}) {
      Case c;
      c.steps = 4, c.rows = 2, c.in = 6, c.cells = 3;
      c.options.cell = Cell::LSTM;
      c.options.direction = Direction::BIDIRECTIONAL;
      c.options.has_lengths = c.options.nan_is_clip = true;
      c.by_column = by_column;
      const int64_t scales = by_column ? 24 : 2;
      const Dims scale_dims = by_column ? Dims{2, 12} : Dims{2};
      const auto offset = static_cast<uint8_t>(is_signed ? 128 : 0),
                 zero = static_cast<uint8_t>(is_signed ? 0 : 117);
      c.w_bytes = random_values<uint8_t>(&random_, 2 * 6 * 12, 0, 255);
      c.r_bytes = random_values<uint8_t>(&random_, 2 * 3 * 12, 0, 255);
      for (int64_t i = 0; i < scales; ++i) {
        c.w_scale.push_back(random_.real(0.001f, 0.01f));
        c.r_scale.push_back(random_.real(0.001f, 0.01f));
      }
      const auto stored = static_cast<uint8_t>(zero + offset);
      c.options.w_zero_point = c.options.r_zero_point = {stored, stored};
      c.x = floats(4 * 2 * 6);
      c.lengths = {4, 2};
      const Floats b = floats(2 * 24);
      add_biases(b, &c);
      OnnxBuilder m;
      const auto bytes = [&](const Dims& dims, std::vector<uint8_t> codes) {
        if (!is_signed) return m.constant<uint8_t>(dims, codes);
        for (uint8_t& v : codes) v ^= 0x80;
        return m.constant<int8_t>(dims, std::vector<int8_t>(codes.begin(), codes.end()));
      };
      const std::vector<uint8_t> zeros(static_cast<size_t>(scales), zero);
      const auto zero_points = [&] {
        return is_signed ? m.constant<int8_t>(scale_dims, std::vector<int8_t>(zeros.size()))
                         : m.constant<uint8_t>(scale_dims, zeros);
      };
      const Names inputs = {m.input({4, 2, 6}),
                            bytes({2, 6, 12}, c.w_bytes),
                            bytes({2, 3, 12}, c.r_bytes),
                            m.constant<float>({2, 24}, b),
                            m.constant<int32_t>({2}, c.lengths),
                            "",
                            "",
                            "",
                            m.constant<float>(scale_dims, c.w_scale),
                            zero_points(),
                            m.constant<float>(scale_dims, c.r_scale),
                            zero_points()};
      m.output(m.node("DynamicQuantizeLSTM", inputs,
                      {Attr("hidden_size", 3), Attr("direction", "bidirectional")},
                      "com.microsoft"));
      EXPECT_EQ(m.run({to_bytes(c.x)})[0], to_bytes(recurrent::results_of(c).y));
    }
}

TEST_F(OnnxRecurrent, RefusesOtherActivationsAndWeightsOfARun) {
  const auto lstm = [](OnnxBuilder* m, const std::string& w, const char* activation) {
    m->allow_float = true;
    m->output(m->node("LSTM",
                      {m->input({3, 1, 2}, "x"), w, m->constant<float>({1, 8, 2}, Floats(16))},
                      {Attr("hidden_size", 2)}));
    auto* activations = m->graph().mutable_node(m->graph().node_size() - 1)->add_attribute();
    activations->set_name("activations");
    activations->set_type(onnx::AttributeProto::STRINGS);
    for (const char* name : {"Sigmoid", activation, "Tanh"}) activations->add_strings(name);
    return m->import();
  };
  OnnxBuilder other;
  EXPECT_EQ(lstm(&other, other.constant<float>({1, 8, 2}, Floats(16)), "Softsign").rule(),
            "its activations are Sigmoid, Softsign, Tanh, of which qrt has no form");
  OnnxBuilder computed;
  EXPECT_EQ(lstm(&computed, computed.input({1, 8, 2}, "w"), "Tanh").rule(),
            "its weights 'w' are computed in the run");
  OnnxBuilder integer;
  integer.output(
      integer.node("RNN", {integer.input({3, 1, 2}), integer.constant<float>({1, 2, 2}, Floats(4)),
                           integer.constant<float>({1, 2, 2}, Floats(4))}));
  EXPECT_NE(integer.import().rule().find("its gates are float"), std::string::npos);
}

TEST_F(OnnxRecurrent, DamagedLayersAreInvalid) {
  const auto fails = [](const Dims& w, const Dims& r, std::vector<Attr> attributes,
                        const char* part) {
    OnnxBuilder m;
    m.allow_float = true;
    const auto zeros = [&](const Dims& dims) {
      int64_t n = 1;
      for (const int64_t d : dims) n *= d;
      return m.constant<float>(dims, Floats(static_cast<size_t>(n)));
    };
    m.output(m.node("GRU", {m.input({3, 1, 2}), zeros(w), zeros(r)}, attributes));
    const Imported imported = m.import();
    EXPECT_EQ(imported.status.code(), Code::kInvalidModel);
    EXPECT_NE(std::string(imported.status.message()).find(part), std::string::npos)
        << imported.status.message();
  };
  fails({1, 12, 3}, {1, 12, 4}, {}, "has shape [1, 12, 3], expected [1, 12, 2]");
  fails({1, 12, 2}, {1, 9, 4}, {}, "has shape [1, 9, 4], expected [1, 12, 4]");
  fails({1, 12, 2}, {12, 4}, {}, "expected 3 each");
  fails({1, 12, 2}, {1, 12, 4}, {Attr("hidden_size", 5)}, "hidden_size is 5");
  fails({1, 12, 2}, {1, 12, 4}, {Attr("direction", "sideways")}, "direction is 'sideways'");
  fails({1, 12, 2}, {1, 12, 4}, {Attr("clip", 0.0f)}, "clip is 0, expected above 0");
}

}  // namespace
}  // namespace qrt::testing::onnx_recurrent_test
