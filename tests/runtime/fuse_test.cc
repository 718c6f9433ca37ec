// SPDX-License-Identifier: Apache-2.0
// Fusion: elementwise operators that run inside a convolution give the bytes of the two run one
// after the other, on every instruction set and thread count, and pairs of operators that must stay
// apart do. Prefetching: which steps prefetch constants for later ones.
#include "runtime/fuse.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "kernels/copy/copy.h"
#include "kernels/float_fallback/float_fallback.h"
#include "kernels/gemm/pack.h"
#include "kernels/integer_build.h"
#include "runtime/plan.h"
#include "tests/support/every_op_model.h"
#include "tests/support/op_tester.h"
#include "tests/support/planned.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::fuse_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::planned;

// The formulas are behind sums of 32 bits, and make int16 or bytes of them.
enum class Follower {
  kAdd,
  kAddSwapped,
  kAddTwice,
  kMul,
  kLut,
  kFormula,
  kFormulaSum,
  kFormulaTwice
};

bool is_formula(Follower f) { return f >= Follower::kFormula; }
DType output_type(Follower f) {
  return f == Follower::kFormula || f == Follower::kFormulaTwice ? DType::kInt16 : DType::kUInt8;
}

struct Case {
  Shape image;  // [n, h, w, c]
  int64_t channels = 16;
  int kernel = 1;
  size_t groups = 1;
  Follower follower = Follower::kAdd;
  bool row_taps = false;  // TapLayout ROW: by rows of the image
};

fb::AddOptionsT add_options() {
  fb::AddOptionsT o;
  o.a_scale = testing::float_bits(0.4375f);
  o.b_scale = testing::float_bits(0.61f);
  o.constant = testing::float_bits(-11.3f);
  return o;
}

fb::LutOptionsT lut_options(ModelBuilder* m) {
  fb::LutOptionsT o;
  o.table = m->buffer(testing::pattern<uint8_t>(256, 0, 255, 3));
  return o;
}

fb::FormulaOptionsT formula_options(int shift, int zero_point) {
  fb::FormulaOptionsT o;
  o.a_steps.push_back(std::make_unique<fb::FormulaStepT>());
  o.a_steps[0]->function = fb::FormulaFunction::SHIFT_RIGHT;
  o.a_steps[0]->value = shift;
  o.zero_point = zero_point;
  return o;
}

// Returns a convolution of `x` that keeps its height and width; the tensor it writes.
uint32_t convolve(ModelBuilder* m, uint32_t x, const Case& c, testing::Random* random) {
  const Shape& s = c.image;
  const int64_t in = s[3] / static_cast<int64_t>(c.groups);
  const size_t terms = static_cast<size_t>(c.kernel * c.kernel * in);
  std::vector<int8_t> weights(static_cast<size_t>(c.channels) * terms);
  random->fill(weights, -128, 127);
  fb::Conv2DOptionsT o;
  o.groups = static_cast<uint16_t>(c.groups);
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(c.kernel / 2);
  o.input_zero_point = 131;
  std::vector<int32_t> bias;
  for (size_t i = 0; i < static_cast<size_t>(c.channels); ++i) {
    int32_t sum = 0;
    for (size_t k = 0; k < terms; ++k) sum += weights[i * terms + k];
    o.weight_sum.push_back(sum);
    bias.push_back(static_cast<int32_t>(random->integer(-2000, 2000)) - 131 * sum);
  }
  o.requant = is_formula(c.follower) ? testing::requant_acc() : testing::requant_f32({0.004f}, 120);
  const uint32_t y = m->tensor({s[0], s[1], s[2], c.channels},
                               is_formula(c.follower) ? DType::kInt32 : DType::kUInt8);
  const Shape shape{c.channels, c.kernel, c.kernel, in};
  uint32_t w;
  if (c.row_taps) {
    o.tap_layout = fb::TapLayout::ROW;
    const size_t channels = static_cast<size_t>(c.channels), taps = static_cast<size_t>(c.kernel);
    std::vector<int8_t> packed(gemm_packed_bytes(channels, taps, terms / taps));
    gemm_pack(weights.data(), channels, taps, terms / taps, packed.data());
    w = m->packed(shape, fb::Packing::GEMM, packed);
  } else {
    w = m->gemm_weights(shape, weights, c.groups);
  }
  m->op(std::move(o), {x, w, m->bias(bias)}, {y});
  return y;
}

// Inputs 0 (of the convolution) and 1, output 0; with `apart` the tensor between the operators is
// output 1, which forbids fusion.
ModelBuilder model_of(const Case& c, bool apart) {
  ModelBuilder m;
  testing::Random random;
  const Shape shape{c.image[0], c.image[1], c.image[2], c.channels};
  const uint32_t x = m.input(c.image), other = m.input(shape);
  const uint32_t between = convolve(&m, x, c, &random);
  const uint32_t y = m.output(shape, output_type(c.follower));
  switch (c.follower) {
    case Follower::kAdd: m.op(add_options(), {between, other}, {y}); break;
    case Follower::kAddSwapped: m.op(add_options(), {other, between}, {y}); break;
    case Follower::kAddTwice: m.op(add_options(), {between, between}, {y}); break;
    case Follower::kLut: m.op(lut_options(&m), {between}, {y}); break;
    case Follower::kFormula: m.op(formula_options(3, 7), {between}, {y}); break;
    case Follower::kFormulaSum: m.op(formula_options(9, 128), {between, other}, {y}); break;
    case Follower::kFormulaTwice: m.op(formula_options(2, 0), {between, between}, {y}); break;
    case Follower::kMul:
      fb::MulOptionsT mul;
      mul.a_zero_point = 5;
      mul.requant = testing::requant_f32({0.006f}, 20);
      m.op(std::move(mul), {between, other}, {y});
  }
  if (apart) m.mark_output(between);
  return m;
}

void check(const Case& c) {
  const ModelBuilder fused = model_of(c, false), apart = model_of(c, true);
  const auto plan = planned(fused);
  ASSERT_EQ(plan->steps[1].leader, &plan->steps[0]);
  ASSERT_EQ(planned(apart)->steps[1].leader, nullptr);
  testing::Random random;
  std::vector<Bytes> inputs;
  for (const int64_t channels : {c.image[3], c.channels}) {
    inputs.emplace_back(static_cast<size_t>(c.image[0] * c.image[1] * c.image[2] * channels));
    random.fill(inputs.back(), 0, 255);
  }
  for (const char* isa : testing::machine_isas()) {
    for (const size_t threads : {1, 3}) {
      SCOPED_TRACE(std::string(isa) + ", threads " + std::to_string(threads) + ", " +
                   random.trace());
      testing::RunOptions options;
      options.isa = isa;
      options.threads = threads;
      const testing::RunResult expected = testing::run_model(apart.build(), inputs, options);
      const testing::RunResult result = testing::run_model(fused.build(), inputs, options);
      ASSERT_EQ(result.status, QRT_OK) << result.message;
      ASSERT_EQ(result.kernels, expected.kernels);
      ASSERT_EQ(result.outputs[0], expected.outputs[0]);
    }
  }
}

TEST(Fuse, AddInsideADenseConvolution) {
  check({{1, 40, 40, 16}, 64});  // several pieces
  check({{1, 7, 7, 64}, 24});    // one
  check({{3, 11, 13, 8}, 17});   // rows and channels off every tile
  check({{1, 1, 1, 4}, 1});
}

TEST(Fuse, AddInsideAnIndirectConvolution) {
  check({{1, 28, 28, 8}, 96, 3});
  check({{2, 9, 7, 12}, 40, 3});
}

TEST(Fuse, AddInsideAConvolutionByTiles) {
  check({{1, 28, 27, 16}, 32, 3});
  check({{2, 9, 14, 24}, 40, 3});
}

TEST(Fuse, InsideAConvolutionByRows) {
  for (const Follower f : {Follower::kAdd, Follower::kLut, Follower::kFormula,
                           Follower::kFormulaSum, Follower::kFormulaTwice}) {
    check({{1, 20, 33, 3}, 24, 3, 1, f, true});  // padded copies of rows
    check({{2, 9, 7, 4}, 17, 5, 1, f, true});
  }
}

TEST(Fuse, AddInsideAGroupedConvolution) {
  check({{1, 20, 20, 16}, 48, 1, 2});
  check({{2, 15, 15, 24}, 60, 3, 3});
}

TEST(Fuse, WeightsThatCrowdTheCacheAreReadOnce) { check({{1, 4, 5, 512}, 1040}); }

TEST(Fuse, OtherFollowers) {
  for (const Follower f :
       {Follower::kAddSwapped, Follower::kAddTwice, Follower::kMul, Follower::kLut}) {
    check({{1, 30, 31, 16}, 40, 1, 1, f});
    check({{1, 14, 14, 16}, 33, 3, 1, f});
  }
}

// Floats [n, c, h, w] quantised, then as pixels; `apart` forbids that they become one step.
ModelBuilder planes_to_pixels(const Shape& image, bool apart) {
  ModelBuilder m;
  const uint32_t x = m.input(image, DType::kFloat32);
  const uint32_t planes = m.tensor(image);
  const uint32_t y = m.output({image[0], image[2], image[3], image[1]});
  fb::QuantizeOptionsT quantize;
  quantize.scale = testing::float_bits(std::vector<float>{0.021f});
  quantize.zero_point = {117};
  m.op(std::move(quantize), {x}, {planes});
  fb::TransposeOptionsT transpose;
  transpose.perm = {0, 2, 3, 1};
  m.op(std::move(transpose), {planes}, {y});
  if (apart) m.mark_output(planes);
  return m;
}

// Formulas of sums that are narrower than their results are fused; the sums stand in pieces of scratch memory.
TEST(Fuse, FormulasOfSumsThatAreNarrower) {
  for (const Follower f : {Follower::kFormula, Follower::kFormulaSum, Follower::kFormulaTwice}) {
    check({{1, 40, 40, 16}, 64, 1, 1, f});   // several pieces
    check({{2, 11, 13, 8}, 17, 3, 1, f});    // rows and channels off every tile
    check({{1, 9, 9, 12}, 30, 3, 3, f});     // groups
    check({{1, 4, 5, 512}, 1040, 1, 1, f});  // weights that crowd the cache
    check({{1, 1, 1, 4}, 1, 1, 1, f});
  }
}

TEST(Fuse, QuantizeInsideTheTransposeToPixels) {
  for (const Shape& image : {Shape{1, 3, 32, 32}, Shape{1, 3, 31, 37}, Shape{1, 2, 1, 2},
                             Shape{1, 4, 45, 46}, Shape{3, 3, 33, 64}, Shape{2, 16, 5, 7}}) {
    SCOPED_TRACE(image.to_string());
    const ModelBuilder fused = planes_to_pixels(image, false),
                       apart = planes_to_pixels(image, true);
    const auto plan = planned(fused);
    ASSERT_EQ(plan->steps[0].leader, &plan->steps[1]);
    testing::Random random;
    Bytes x(static_cast<size_t>(image.elements()) * sizeof(float));
    for (size_t i = 0; i < x.size(); i += sizeof(float)) {
      const float v = random.real(-4.0f, 4.0f);
      memcpy(&x[i], &v, sizeof v);
    }
    for (const char* isa : testing::machine_isas()) {
      for (size_t threads : {1, 2, 3}) {
        SCOPED_TRACE(std::string(isa) + ", threads " + std::to_string(threads));
        testing::RunOptions options;
        options.isa = isa;
        options.threads = threads;
        const testing::RunResult expected = testing::run_model(apart.build(), {x}, options);
        const testing::RunResult result = testing::run_model(fused.build(), {x}, options);
        ASSERT_EQ(result.status, QRT_OK) << result.message;
        ASSERT_EQ(result.outputs[0], expected.outputs[0]);
      }
    }
  }
}

TEST(Fuse, NoQuantizeInsideATransposeOfManyPlanesOrOtherDimensions) {
  const auto many = planned(planes_to_pixels({1, 17, 8, 8}, false));
  ASSERT_EQ(many->steps[0].leader, nullptr);
  const auto read = planned(planes_to_pixels({1, 3, 8, 8}, true));
  ASSERT_EQ(read->steps[0].leader, nullptr);
}

// Parts of the channels, the first one the end of a wider image's pixels if `slices`, side by side
// and shuffled; `apart` forbids that they become one step.
ModelBuilder shuffle(const Shape& part, int32_t parts, bool slices, bool apart) {
  ModelBuilder m;
  std::vector<uint32_t> inputs;
  for (int32_t i = 0; i < parts; ++i) inputs.push_back(m.input(part));
  const auto c = static_cast<int32_t>(part[3]);
  if (slices) {
    Shape wide = part;
    wide[3] = 2 * c;
    const uint32_t both = m.tensor(wide), last = m.tensor(part);
    fb::ConcatOptionsT twice;
    twice.axis = 3;
    m.op(std::move(twice), {inputs[0], inputs[0]}, {both});
    fb::GatherOptionsT gather;
    gather.axes.push_back(std::make_unique<fb::GatherAxisT>());
    gather.axes[0]->axis = 3;
    for (int32_t i = c; i < 2 * c; ++i) gather.axes[0]->index.push_back(i);
    m.op(std::move(gather), {both}, {last});
    inputs[0] = last;
  }
  Shape all = part, shuffled = part;
  all[3] = parts * c;
  shuffled.push_back(parts);
  Shape split = part;
  split[3] = parts;
  split.push_back(c);
  const uint32_t together = m.tensor(all), groups = m.tensor(split);
  const uint32_t y = m.output(shuffled);
  fb::ConcatOptionsT concat;
  concat.axis = 3;
  m.op(std::move(concat), inputs, {together});
  fb::ReshapeOptionsT reshape;
  for (int d = 0; d < split.rank(); ++d) reshape.shape.push_back(static_cast<int32_t>(split[d]));
  m.op(std::move(reshape), {together}, {groups});
  fb::TransposeOptionsT transpose;
  transpose.perm = {0, 1, 2, 4, 3};
  m.op(std::move(transpose), {groups}, {y});
  if (apart) m.mark_output(together);
  return m;
}

TEST(Fuse, ConcatInsideTheShuffleOfItsParts) {
  PlanOptions best;
  best.isas = detected_isas();
  const bool fuses = select_copy(best.isas)->interleave != nullptr;
  for (const Shape& part : {Shape{1, 14, 13, 58}, Shape{2, 5, 7, 116}, Shape{1, 3, 3, 1}}) {
    for (const int32_t parts : {2, 3, 4, 5}) {
      for (const bool slices : {false, true}) {
        const ModelBuilder fused = shuffle(part, parts, slices, false),
                           apart = shuffle(part, parts, slices, true);
        const auto plan = planned(fused, best);
        const PlannedStep& concat = plan->steps[slices ? 2 : 0];
        ASSERT_EQ(concat.leader != nullptr, fuses && parts < 5 && part[3] > 1);
        if (concat.leader != nullptr) {
          ASSERT_EQ(plan->steps.back().input_pitches.empty(), !slices);
        }
        testing::Random random;
        std::vector<Bytes> inputs;
        for (int32_t i = 0; i < parts; ++i) {
          inputs.emplace_back(static_cast<size_t>(part.elements()));
          for (uint8_t& v : inputs.back()) v = static_cast<uint8_t>(random.integer(0, 255));
        }
        for (const char* isa : testing::machine_isas()) {
          for (size_t threads : {1, 2, 3}) {
            SCOPED_TRACE(std::string(isa) + ", threads " + std::to_string(threads) + ", " +
                         part.to_string() + ", parts " + std::to_string(parts));
            testing::RunOptions options;
            options.isa = isa;
            options.threads = threads;
            const testing::RunResult expected = testing::run_model(apart.build(), inputs, options);
            const testing::RunResult result = testing::run_model(fused.build(), inputs, options);
            ASSERT_EQ(result.status, QRT_OK) << result.message;
            ASSERT_EQ(result.outputs[0], expected.outputs[0]);
          }
        }
      }
    }
  }
}

// Returns a table that dequantises, or nearly, a LayerNormalization and a Quantize; with `apart`
// the tensor behind the LayerNormalization is an output.
ModelBuilder normalized(const Shape& x, bool is_line, bool apart) {
  ModelBuilder m;
  const int64_t n = x[x.rank() - 1];
  std::vector<float> table(256), scale(static_cast<size_t>(n)), bias(scale.size());
  for (size_t i = 0; i < 256; ++i) table[i] = (static_cast<float>(i) - 117) * 0.0371f;
  if (!is_line) table[3] = 1;
  for (size_t i = 0; i < scale.size(); ++i) {
    scale[i] = 0.7f + 0.01f * static_cast<float>(i % 50);
    bias[i] = 0.3f - 0.02f * static_cast<float>(i % 31);
  }
  fb::FloatOptionsT of_table, of_norm;
  of_table.function = fb::FloatFunction::TABLE;
  of_norm.function = fb::FloatFunction::LAYER_NORM;
  of_norm.epsilon = testing::float_bits(1e-6f);
  fb::QuantizeOptionsT of_quantize;
  of_quantize.scale = {testing::float_bits(0.0219f)};
  of_quantize.zero_point = {121};
  const uint32_t given = m.input(x), real = m.tensor(x, DType::kFloat32);
  const uint32_t normal = m.tensor(x, DType::kFloat32);
  m.op(of_table, {given, m.constant({256}, DType::kFloat32, table)}, {real});
  m.op(of_norm,
       {real, m.constant({n}, DType::kFloat32, scale), m.constant({n}, DType::kFloat32, bias)},
       {normal});
  m.op(of_quantize, {normal}, {m.output(x)});
  if (apart) m.mark_output(normal);
  return m;
}

TEST(Fuse, LayerNormalizationFromBytesToBytes) {
  if (is_integer_build()) GTEST_SKIP() << "has no floats between the edges";
  PlanOptions all;
  all.isas = detected_isas();
  for (const Shape& x : {Shape{1, 8}, Shape{1, 197, 192}, Shape{3, 33, 100}, Shape{2, 5, 16, 96}}) {
    SCOPED_TRACE(x.to_string());
    const ModelBuilder fused = normalized(x, true, false), apart = normalized(x, true, true);
    const auto plan = planned(fused, all);
    const bool joins = select_float(all.isas)->layer_norm_bytes != nullptr;
    for (const size_t i : {0, 2})
      EXPECT_EQ(plan->steps[i].leader, joins ? &plan->steps[1] : nullptr);
    const auto plan_apart = planned(apart, all);
    for (const PlannedStep& step : plan_apart->steps) EXPECT_EQ(step.leader, nullptr);
    testing::Random random;
    Bytes bytes(static_cast<size_t>(x.elements()));
    random.fill(bytes, 0, 255);
    for (const char* isa : testing::machine_isas()) {
      for (const size_t threads : {1, 2, 3}) {
        SCOPED_TRACE(std::string(isa) + ", threads " + std::to_string(threads));
        testing::RunOptions options;
        options.isa = isa;
        options.threads = threads;
        const testing::RunResult expected = testing::run_model(apart.build(), {bytes}, options);
        const testing::RunResult result = testing::run_model(fused.build(), {bytes}, options);
        ASSERT_EQ(result.status, QRT_OK) << result.message;
        ASSERT_EQ(result.outputs[0], expected.outputs[0]);
      }
    }
  }
}

TEST(Fuse, NoLayerNormalizationOfOtherTablesOrFewValues) {
  if (is_integer_build()) GTEST_SKIP() << "has no floats between the edges";
  PlanOptions all;
  all.isas = detected_isas();
  for (const auto& plan : {planned(normalized({1, 4, 64}, false, false), all),
                           planned(normalized({1, 4, 7}, true, false), all)})
    for (const PlannedStep& step : plan->steps) EXPECT_EQ(step.leader, nullptr);
}

TEST(Fuse, TheTensorBetweenHasTheOutputsMemory) {
  const auto plan = planned(model_of({{1, 8, 8, 16}}, false));
  const PlannedStep& conv = plan->steps[0];
  ASSERT_EQ(plan->places[conv.outputs[0]].offset, plan->places[plan->steps[1].outputs[0]].offset);
  ASSERT_EQ(plan->steps[1].run, nullptr);
}

TEST(Fuse, NothingWhenEveryTensorIsKept) {
  PlanOptions options;
  options.keep_all = true;
  const auto plan = planned(model_of({{1, 8, 8, 16}}, false), options);
  ASSERT_EQ(plan->steps[0].follower, nullptr);
  ASSERT_EQ(plan->steps[1].leader, nullptr);
  ASSERT_NE(plan->steps[1].run, nullptr);
}

TEST(Fuse, NotWhereAnotherStepReadsTheTensorBetween) {
  ModelBuilder m;
  testing::Random random;
  const uint32_t x = m.input({1, 8, 8, 16}), other = m.input({1, 8, 8, 16});
  const uint32_t between = convolve(&m, x, {{1, 8, 8, 16}}, &random);
  m.op(add_options(), {between, other}, {m.output({1, 8, 8, 16})});
  m.op(add_options(), {other, between}, {m.output({1, 8, 8, 16})});
  const auto plan = planned(m);
  ASSERT_EQ(plan->steps[0].follower, nullptr);
}

TEST(Fuse, OnlyInTheStepThatMakesTheLastInput) {
  ModelBuilder m;
  testing::Random random;
  const uint32_t x = m.input({1, 8, 8, 16});
  const uint32_t first = convolve(&m, x, {{1, 8, 8, 16}}, &random);
  const uint32_t second = convolve(&m, x, {{1, 8, 8, 16}}, &random);
  const uint32_t mapped = m.tensor({1, 8, 8, 16}), sum = m.tensor({1, 8, 8, 16});
  m.op(add_options(), {first, second}, {sum});
  const uint32_t third = convolve(&m, x, {{1, 8, 8, 16}}, &random);
  m.op(lut_options(&m), {sum}, {mapped});
  m.op(add_options(), {third, mapped}, {m.output({1, 8, 8, 16})});
  const auto plan = planned(m);
  ASSERT_EQ(plan->steps[0].follower, nullptr);
  ASSERT_EQ(plan->steps[1].follower, &plan->steps[2]);
  ASSERT_EQ(plan->steps[3].follower, nullptr);  // `mapped` comes after it
  ASSERT_EQ(plan->steps[5].leader, nullptr);
}

TEST(Fuse, NotWhereTheOtherOperandIsRepeated) {
  ModelBuilder m;
  testing::Random random;
  const uint32_t x = m.input({1, 8, 8, 16}), row = m.input({16});
  const uint32_t between = convolve(&m, x, {{1, 8, 8, 16}}, &random);
  m.op(add_options(), {between, row}, {m.output({1, 8, 8, 16})});
  ASSERT_EQ(planned(m)->steps[1].leader, nullptr);
}

TEST(Fuse, TheProfileSaysWhereAnOperatorRuns) {
  const Bytes file = model_of({{1, 8, 8, 16}}, false).build();
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  qrt_session_options options;
  qrt_struct_init(&options);
  options.profile = 1;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
  qrt_op_info info;
  qrt_struct_init(&info);
  ASSERT_EQ(qrt_session_op_info(session, 0, &info), QRT_OK);
  ASSERT_EQ(info.runs_in, 0u);
  ASSERT_GT(info.total_ns, 0u);
  ASSERT_EQ(qrt_session_op_info(session, 1, &info), QRT_OK);
  ASSERT_EQ(info.runs_in, 0u);
  ASSERT_EQ(info.total_ns, 0u);
  ASSERT_NE(std::string(info.kernel).find("elementwise"), std::string::npos);
  qrt_session_destroy(session);
  qrt_model_destroy(model);
}

// Steps of nothing but their need and their spare time.
PlanVector<PlannedStep> steps_of(
    std::initializer_list<std::pair<size_t, size_t>> streamed_and_spare) {
  static const uint8_t constants[1] = {};
  PlanVector<PlannedStep> steps;
  for (const auto& [streamed, spare] : streamed_and_spare) {
    PlannedStep step;
    step.stream = streamed > 0 ? constants : nullptr;
    step.stream_bytes = streamed;
    step.spare_bytes = spare;
    steps.push_back(step);
  }
  return steps;
}

TEST(FetchAhead, TakesTheLastStepWithTimeToSpare) {
  constexpr size_t kBytes = 200000;
  PlanVector<PlannedStep> steps = steps_of({{0, 1 << 20}, {0, 1 << 20}, {0, 100}, {kBytes, 0}});
  fetch_ahead(&steps);
  EXPECT_EQ(steps[0].ahead, nullptr);
  EXPECT_EQ(steps[1].ahead, steps[3].stream);
  EXPECT_EQ(steps[1].ahead_bytes, kBytes);
  EXPECT_EQ(steps[2].ahead_bytes, 0u);
}

TEST(FetchAhead, TakesNoMoreThanThereIsTimeFor) {
  PlanVector<PlannedStep> steps = steps_of({{0, 100000}, {300000, 0}});
  fetch_ahead(&steps);
  EXPECT_EQ(steps[0].ahead_bytes, 100000u);
}

TEST(FetchAhead, LeavesStepsAloneWhereItDoesNotPay) {
  for (PlanVector<PlannedStep> steps :
       {steps_of({{0, 1000}, {300000, 0}}), steps_of({{0, 1 << 20}, {1000, 0}}),
        steps_of({{0, 1 << 20}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {300000, 0}}),
        steps_of({{300000, 0}, {0, 1 << 20}})}) {
    fetch_ahead(&steps);
    for (const PlannedStep& step : steps) EXPECT_EQ(step.ahead, nullptr);
  }
}

}  // namespace
}  // namespace qrt::fuse_test
