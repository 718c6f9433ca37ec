// SPDX-License-Identifier: Apache-2.0
// Greedy steps of a language model as bench/block_models.py writes it, for decoder.mjs:
//
//   greedy_steps MODEL.qrt STEPS TURNS TOKEN...     TOKENs: the text that comes first, taken in one run
//
// Inputs are input_ids, attention_mask, and a pair of caches for every layer; outputs the logits and these caches, one position
// longer for every token. A cache has two pieces of memory, one for the input and one for the output, which change places. Prints the tokens and the least milliseconds that
// STEPS steps of one token took in a turn.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "qrt/qrt.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// A turn: its tokens, and the time of its steps but the first, which takes the text.
struct Turn {
  std::vector<int64_t> tokens;
  double ms = 0;
};

int64_t largest(qrt::Span<const float> logits, size_t words) {
  const float* const last = logits.data() + logits.size() - words;
  size_t best = 0;
  for (size_t i = 1; i < words; ++i)
    if (last[i] > last[best]) best = i;
  return static_cast<int64_t>(best);
}

// A cache's memory: what the next run reads, and what it writes.
struct Cache {
  explicit Cache(size_t floats)
      : bytes((floats * sizeof(float) + 2 * QRT_BUFFER_ALIGNMENT - 1) / QRT_BUFFER_ALIGNMENT *
              QRT_BUFFER_ALIGNMENT),
        past(std::aligned_alloc(QRT_BUFFER_ALIGNMENT, bytes), std::free),
        present(std::aligned_alloc(QRT_BUFFER_ALIGNMENT, bytes), std::free) {}

  size_t bytes;
  std::unique_ptr<void, void (*)(void*)> past, present;
};

// Runs `ids` behind `past` positions, and returns the next token.
int64_t step(qrt::Session& session, std::vector<Cache>& caches, const std::vector<int64_t>& ids,
             size_t past) {
  const auto length = static_cast<int64_t>(ids.size()), before = static_cast<int64_t>(past);
  session.reshape({{"sequence_length", length}, {"past_sequence_length", before}});
  for (size_t i = 0; i < caches.size(); ++i) {
    Cache& cache = caches[i];
    std::swap(cache.past, cache.present);
    session.bind_input(2 + i, cache.past.get(), cache.bytes);
    session.bind_output(1 + i, cache.present.get(), cache.bytes);
  }
  session.set_input(0, ids);
  session.set_input(1, std::vector<int64_t>(static_cast<size_t>(length + before), 1));
  session.run();
  const auto logits = session.output<float>(0);
  return largest(logits, logits.size() / ids.size());
}

Turn take_turn(qrt::Session& session, std::vector<Cache>& caches, const std::vector<int64_t>& text,
               size_t steps) {
  Turn turn;
  turn.tokens.push_back(step(session, caches, text, 0));
  const auto start = Clock::now();
  for (size_t i = 0; i < steps; ++i)
    turn.tokens.push_back(step(session, caches, {turn.tokens.back()}, text.size() + i));
  turn.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return turn;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: greedy_steps MODEL.qrt STEPS TURNS TOKEN...\n");
    return 2;
  }
  const size_t steps = strtoul(argv[2], nullptr, 10);
  std::vector<int64_t> text;
  for (int i = 4; i < argc; ++i) text.push_back(atoll(argv[i]));
  const qrt::Model model = qrt::Model::load_file(argv[1]);
  const auto most = static_cast<int64_t>(text.size() + steps);
  const qrt_dim dims[] = {{"sequence_length", static_cast<int64_t>(text.size())},
                          {"past_sequence_length", most}};
  qrt::SessionOptions options;
  options.max_dims = dims;
  options.max_dim_count = 2;
  options.private_plans = 1;
  std::vector<size_t> inputs, outputs;
  std::vector<Cache> caches;
  for (size_t i = 2; i < model.input_count(); ++i) {
    inputs.push_back(i);
    outputs.push_back(i - 1);
    const qrt_tensor_info info = model.input_info(i);
    caches.emplace_back(static_cast<size_t>(info.dims[1] * (most + 1) * info.dims[3]));
  }
  options.external_inputs = inputs.data();
  options.external_input_count = inputs.size();
  options.external_outputs = outputs.data();
  options.external_output_count = outputs.size();
  qrt::Session session(model, options);
  Turn best;
  for (long i = 0; i < strtol(argv[3], nullptr, 10); ++i) {
    const Turn turn = take_turn(session, caches, text, steps);
    if (i == 0 || turn.ms < best.ms) best = turn;
  }
  for (const int64_t token : best.tokens) printf("%lld ", static_cast<long long>(token));
  printf("\n%.4f\n", best.ms);
}
