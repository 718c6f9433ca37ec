// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/compare.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "kernels/isa.h"
#include "runtime/session.h"
#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {
namespace {

constexpr size_t kSmallMemory = size_t{8} << 20;
constexpr uint64_t kSmallWork = uint64_t{1} << 20;

using Outputs = std::vector<std::vector<uint8_t>>;

struct Way {
  Isa isa;
  size_t threads;
  bool keep_all;
};

// Returns extremes, special values and values of all magnitudes.
float random_float(std::mt19937_64* random) {
  static constexpr float kSpecial[] = {0.0f,
                                       -0.0f,
                                       0.5f,
                                       -0.5f,
                                       1e30f,
                                       -1e30f,
                                       std::numeric_limits<float>::infinity(),
                                       -std::numeric_limits<float>::infinity(),
                                       std::numeric_limits<float>::quiet_NaN(),
                                       std::numeric_limits<float>::denorm_min()};
  const uint64_t r = (*random)();
  if (r % 16 == 0) return kSpecial[r / 16 % (sizeof(kSpecial) / sizeof(kSpecial[0]))];
  return static_cast<float>(static_cast<int64_t>(r)) / 4.6e16f;  // within 200 of 0
}

uint64_t window_positions(const fb::Operator& op) {
  if (const auto* o = op.options_as_MaxPool2D()) return uint64_t{o->kernel_h()} * o->kernel_w();
  if (const auto* o = op.options_as_AveragePool2D()) return uint64_t{o->kernel_h()} * o->kernel_w();
  return 0;
}

// Makes a session at these sizes, or, with `reshapes`, one at the model's own that goes on at these.
Result<std::unique_ptr<Session>> make_session(const ModelPtr& model, const SessionSizes& at,
                                              const Way& way, bool reshapes) {
  SessionOptions options;
  if (!reshapes) {
    options.batch = at.batch;
    options.sizes = at.symbols;
  }
  options.threads = way.threads;
  options.keep_all = way.keep_all;
  options.isa = isa_name(way.isa);
  // Tasks in the opposite order: none may rest on another's result.
  options.parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    while (count-- > 0) task(argument, count);
  };
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  if (!session.ok() || !reshapes) return session;
  auto plan = (*session)->plan_at(at);
  if (!plan.ok()) return std::move(plan.status());
  QRT_TRY((*session)->reshape(std::move(*plan)));
  return session;
}

// Returns whether a session would be small, which is known before it allocates.
bool would_be_small(const ModelPtr& model, const SessionSizes& at, const Way& way) {
  PlanOptions options;
  options.batch = at.batch;
  options.sizes = at.symbols;
  options.threads = way.threads;
  options.keep_all = way.keep_all;
  Result<std::shared_ptr<const Plan>> plan = make_plan(model, options);
  return !plan.ok() || is_small(**plan);
}

bool run_way(const ModelPtr& model, const SessionSizes& at, const Way& way, uint64_t seed,
             Outputs* outputs, bool reshapes = false) {
  if (!would_be_small(model, at, way) || (reshapes && !would_be_small(model, {}, way)))
    return false;
  Result<std::unique_ptr<Session>> session = make_session(model, at, way, reshapes);
  if (!session.ok()) {
    // A batch or size can be too large for the model's shapes; nothing else may fail here.
    if (at.batch != 0 || !at.symbols.empty()) return false;
    failed(std::string("a verified model makes no session: ") + session.status().message());
  }
  const Plan& plan = (*session)->plan();
  std::mt19937_64 random(seed);
  for (uint32_t slot : *model->file().inputs())
    fill_input(plan.types[slot].dtype, plan.slot_bytes(slot), &random, (*session)->data(slot));
  for (const fb::Variable* v : plan.variables)
    fill_input(plan.types[v->tensor()].dtype, plan.slot_bytes(v->tensor()), &random,
               (*session)->data(v->tensor()));
  outputs->clear();
  const auto take = [&](uint32_t slot) {
    const uint8_t* data = (*session)->data(slot);
    outputs->emplace_back(data, data + plan.slot_bytes(slot));
  };
  // A second run finds the variables where the first one has left them.
  for (int run = 0; run < (plan.variables.empty() ? 1 : 2); ++run) {
    if (const Status ran = (*session)->run(); ran.code() == Code::kOutOfRange) {
      outputs->push_back(
          {'o', 'u', 't'});  // an index outside its table, which every way has to find
    } else if (!ran.ok()) {
      failed(std::string("a session does not run: ") + ran.message());
    } else {
      for (const ModelTensor& output : plan.outputs) take(output.slot);
    }
    for (const fb::Variable* v : plan.variables) take(v->tensor());
  }
  return true;
}

// Returns legal sizes of all symbols, small ones more often than others.
SymbolSizes other_sizes(const fb::Model& model, uint64_t seed) {
  std::mt19937_64 random(seed);
  SymbolSizes sizes;
  for (const fb::Symbol* s : *model.symbols()) {
    const uint64_t choices = (uint64_t{s->most()} - s->least()) / s->step() + 1;
    const uint64_t few = random() % 4 == 0 ? choices : std::min<uint64_t>(choices, 20);
    sizes.push_back(static_cast<int64_t>(s->least() + random() % few * s->step()));
  }
  return sizes;
}

std::string describe(const Way& way) {
  return std::string(isa_name(way.isa)) + ", threads " + std::to_string(way.threads) +
         (way.keep_all ? ", all tensors kept" : "");
}

void compare(const Outputs& expected, const Outputs& actual, const Way& way) {
  for (size_t k = 0; k < expected.size(); ++k)
    for (size_t i = 0; i < expected[k].size(); ++i)
      if (actual[k][i] != expected[k][i])
        failed("output " + std::to_string(k) + ", byte " + std::to_string(i) + ": " +
               std::to_string(actual[k][i]) + " with " + describe(way) + ", " +
               std::to_string(expected[k][i]) + " with the scalar kernels");
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  const IsaSet set = detected_isas();
  Isa isa;
  for (int i = 0; isa_at(i, &isa); ++i)
    if (has(set, isa)) ways.push_back({isa, 1, false});
  ways.push_back({ways.back().isa, 3, false});
  ways.push_back({ways.back().isa, 1, true});
  return ways;
}

}  // namespace

void failed(const std::string& message) {
  fprintf(stderr, "fuzz: %s\n", message.c_str());
  abort();
}

void fill_input(DType dtype, size_t bytes, std::mt19937_64* random, uint8_t* data) {
  if (dtype == DType::kFloat32) {
    for (size_t i = 0; i < bytes; i += sizeof(float)) {
      const float f = random_float(random);
      memcpy(data + i, &f, sizeof f);
    }
    return;
  }
  const bool extremes = (*random)() % 3 == 0;
  for (size_t i = 0; i < bytes; ++i) {
    const uint64_t r = (*random)();
    data[i] = static_cast<uint8_t>(extremes ? (r & 1 ? 255 : 0) : r >> 8);
  }
}

ModelPtr load(const uint8_t* data, size_t size, Status* status) {
  Result<ModelBytes> bytes = ModelBytes::copy(data, size);
  if (!bytes.ok()) {
    *status = std::move(bytes.status());
    return nullptr;
  }
  Result<ModelPtr> model = verify(std::move(*bytes));
  if (!model.ok()) {
    *status = std::move(model.status());
    return nullptr;
  }
  return std::move(*model);
}

bool is_small(const Plan& plan) {
  if (plan.memory_bytes() > kSmallMemory) return false;
  uint64_t work = 0;
  for (uint32_t slot : *plan.model->file().inputs()) work += 8 * plan.slot_bytes(slot);  // random
  for (const PlannedStep& step : plan.steps) {
    work += step.macs;
    for (uint32_t slot : step.outputs) {
      const auto elements = static_cast<uint64_t>(plan.types[slot].shape.elements());
      uint64_t windows;
      if (__builtin_mul_overflow(elements, 1 + window_positions(*step.op), &windows)) return false;
      if (__builtin_add_overflow(work, windows, &work)) return false;
    }
    if (work > kSmallWork) return false;
  }
  return true;
}

void compare_runs(const ModelPtr& model, uint64_t seed) {
  static const std::vector<Way> ways = all_ways();
  Outputs expected, actual;
  std::vector<SessionSizes> all(1);
  if (model->has_batch()) all.push_back({model->default_batch() + 1, {}});
  for (unsigned i = 0; i < (model->has_symbols() ? 3u : 0u); ++i)
    all.push_back({0, other_sizes(model->file(), seed + i)});
  for (const SessionSizes& at : all) {
    if (!run_way(model, at, ways[0], seed, &expected)) {
      if (&at == all.data()) return;
      continue;
    }
    for (size_t i = 1; i < ways.size(); ++i) {
      if (!run_way(model, at, ways[i], seed, &actual)) continue;
      compare(expected, actual, ways[i]);
    }
    if (run_way(model, at, ways.back(), seed, &actual, /*reshapes=*/true))
      compare(expected, actual, ways.back());
  }
}

void run_once(const ModelPtr& model, uint64_t seed) {
  Isa best = Isa::kScalar, isa;
  for (int i = 0; isa_at(i, &isa); ++i)
    if (has(detected_isas(), isa)) best = isa;
  Outputs outputs;
  run_way(model, {}, {best, 1, false}, seed, &outputs);
}

}  // namespace qrt::fuzz
