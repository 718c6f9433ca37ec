// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/case.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/fuzz/compare.h"
#include "tests/support/c_api.h"

namespace qrt::differential {
namespace {

constexpr size_t kSmallMemory = size_t{8} << 20;
constexpr uint64_t kSmallWork = uint64_t{1} << 22;  // multiplications and bytes of a run

std::string current_name;
const Bytes* current_file = nullptr;

// Calls f() in a floating-point state, which it has to leave as it was.
template <class F>
auto in_mode(const FloatMode& mode, const char* call, const F& f) {
  set_float_mode(mode);
  const uint64_t before = float_control();
  const auto result = f();
  const uint64_t after = float_control();
  set_float_mode({});
  if (after != before)
    failed(std::string(call) + " changed the caller's floating-point state (" + describe(mode) +
           ")");
  return result;
}

void check(qrt_status status, const char* call, const qrt_error& error) {
  if (status != QRT_OK)
    failed(std::string(call) + ": " + qrt_status_name(status) + ": " + error.message);
}

std::vector<size_t> sizes(const qrt_session* session,
                          qrt_status (*info_of)(const qrt_session*, size_t, qrt_tensor_info*)) {
  std::vector<size_t> result;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  while (info_of(session, result.size(), &info) == QRT_OK) result.push_back(info.bytes);
  return result;
}

void append(const Buffers& buffers, size_t i, const uint8_t* data, Bytes* to) {
  to->insert(to->end(), data, data + buffers.size(i));
}

}  // namespace

const char* call_name(Call call) {
  static constexpr const char* kNames[] = {"load", "create", "bind", "run", "reset"};
  return kNames[call];
}

std::string describe(const Case& c) {
  std::string text = std::string(c.isa) + ", " + std::to_string(c.threads) + " threads";
  for (int call = 0; call < kCallCount; ++call)
    if (c.modes[call].rounding != FE_TONEAREST || c.modes[call].flushes)
      text +=
          std::string(", ") + call_name(static_cast<Call>(call)) + " " + describe(c.modes[call]);
  return text + (c.binds ? ", bound memory" : "");
}

void set_current_model(const std::string& name, const Bytes* file) {
  current_name = name;
  current_file = file;
}

void failed(const std::string& message) {
  set_float_mode({});
  fprintf(stderr, "differential: %s: %s\n", current_name.c_str(), message.c_str());
  if (current_file != nullptr) {
    const char* kept = "differential_failure.qrt";
    std::ofstream(kept, std::ios::binary)
        .write(reinterpret_cast<const char*>(current_file->data()),
               static_cast<std::streamsize>(current_file->size()));
    fprintf(stderr, "differential: the model is kept in %s\n", kept);
  }
  _Exit(1);
}

ModelPtr load(const Bytes& file, const FloatMode& mode) {
  qrt_model* model = nullptr;
  in_mode(mode, "qrt_model_load_memory",
          [&] { return testing::load_copy(file.data(), file.size(), &model, nullptr); });
  return ModelPtr(model);
}

SessionPtr create(const qrt_model* model, const char* isa, size_t threads, const FloatMode& mode,
                  qrt_pool* pool) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.isa = isa;
  options.threads = threads;
  options.pool = pool;
  qrt_session* session = nullptr;
  qrt_error error = {};
  const qrt_status status = in_mode(mode, "qrt_session_create", [&] {
    return qrt_session_create(model, &options, &session, &error);
  });
  check(status, "qrt_session_create", error);
  return SessionPtr(session);
}

Buffers::Buffers(const std::vector<size_t>& sizes) : sizes_(sizes) {
  for (const size_t size : sizes) {
    Bytes& memory = memory_.emplace_back(capacity(size) + QRT_BUFFER_ALIGNMENT);
    const size_t over = reinterpret_cast<uintptr_t>(memory.data()) % QRT_BUFFER_ALIGNMENT;
    start_.push_back(memory.data() + QRT_BUFFER_ALIGNMENT - over);
  }
}

Buffers make_inputs(const qrt_session* session, uint64_t seed) {
  Buffers inputs(sizes(session, qrt_session_input_info));
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < inputs.count(); ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    qrt_session_input_info(session, i, &info);
    fuzz::fill_input(static_cast<DType>(info.dtype), inputs.size(i), &random, inputs.at(i));
  }
  return inputs;
}

Buffers make_outputs(const qrt_session* session) {
  return Buffers(sizes(session, qrt_session_output_info));
}

// Returns whether the run succeeded; false where an input holds an index outside its table, as it then does in every case.
bool succeeds(qrt_session* session, const FloatMode& mode) {
  qrt_error error = {};
  const qrt_status status =
      in_mode(mode, "qrt_session_run", [&] { return qrt_session_run(session, &error); });
  if (status == QRT_OUT_OF_RANGE) return false;
  check(status, "qrt_session_run", error);
  return true;
}

// Stands for the outputs of a run that did not succeed.
const Bytes kOutOfRange = {'o', 'u', 't'};

Bytes run_with_copies(qrt_session* session, const FloatMode& mode, Buffers* inputs) {
  qrt_error error = {};
  for (size_t i = 0; i < inputs->count(); ++i)
    check(qrt_session_set_input_bytes(session, i, inputs->at(i), inputs->size(i), &error),
          "qrt_session_set_input", error);
  if (!succeeds(session, mode)) return kOutOfRange;
  Bytes result;
  Buffers outputs = make_outputs(session);
  for (size_t i = 0; i < outputs.count(); ++i) {
    check(qrt_session_get_output_bytes(session, i, outputs.at(i), outputs.size(i), &error),
          "qrt_session_get_output", error);
    append(outputs, i, outputs.at(i), &result);
  }
  return result;
}

Result run_case(const Bytes& file, const Case& c, uint64_t seed) {
  const ModelPtr model = load(file, c.modes[kLoad]);
  if (model == nullptr) failed("refused with " + describe(c));
  Result result;
  qrt_error error = {};
  qrt_session_options options;
  qrt_struct_init(&options);
  options.isa = c.isa;
  options.threads = c.threads;
  check(in_mode(c.modes[kCreate], "qrt_session_needed_memory",
                [&] {
                  return testing::needed_memory(model.get(), &options, &result.needed_memory,
                                                &error);
                }),
        "qrt_session_needed_memory", error);
  const SessionPtr session = create(model.get(), c.isa, c.threads, c.modes[kCreate]);
  result.memory = testing::memory_of(session.get());
  Buffers inputs = make_inputs(session.get(), seed), outputs = make_outputs(session.get());
  if (c.binds) {
    for (size_t i = 0; i < inputs.count(); ++i)
      check(in_mode(c.modes[kBind], "qrt_session_bind_input",
                    [&] {
                      return qrt_session_bind_input(session.get(), i, inputs.at(i),
                                                    Buffers::capacity(inputs.size(i)), &error);
                    }),
            "qrt_session_bind_input", error);
    for (size_t i = 0; i < outputs.count(); ++i)
      check(in_mode(c.modes[kBind], "qrt_session_bind_output",
                    [&] {
                      return qrt_session_bind_output(session.get(), i, outputs.at(i),
                                                     Buffers::capacity(outputs.size(i)), &error);
                    }),
            "qrt_session_bind_output", error);
  }
  for (int run = 0; run < 3; ++run) {
    if (run == 2)
      check(in_mode(c.modes[kReset], "qrt_session_reset",
                    [&] { return qrt_session_reset(session.get()); }),
            "qrt_session_reset", error);
    if (c.binds) {
      const bool has_outputs = succeeds(session.get(), c.modes[kRun]);
      if (!has_outputs)
        result.outputs.insert(result.outputs.end(), kOutOfRange.begin(), kOutOfRange.end());
      for (size_t i = 0; has_outputs && i < outputs.count(); ++i)
        append(outputs, i, outputs.at(i), &result.outputs);
    } else {
      const Bytes copied = run_with_copies(session.get(), c.modes[kRun], &inputs);
      result.outputs.insert(result.outputs.end(), copied.begin(), copied.end());
    }
  }
  return result;
}

bool is_small(const qrt_model* model) {
  qrt_session_options options;
  qrt_struct_init(&options);
  size_t bytes = 0;
  if (testing::needed_memory(model, &options, &bytes, nullptr) != QRT_OK || bytes > kSmallMemory)
    return false;
  const SessionPtr session = create(model, "scalar", 1, {});
  uint64_t work = 0;
  for (size_t i = 0; i < qrt_session_op_count(session.get()); ++i) {
    qrt_op_info info;
    qrt_struct_init(&info);
    qrt_session_op_info(session.get(), i, &info);
    work += info.macs + info.bytes;
  }
  return work <= kSmallWork;
}

}  // namespace qrt::differential
