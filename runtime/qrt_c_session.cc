// The C ABI of sessions; see qrt_c.cc.
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "runtime/allowed_isas.h"
#include "runtime/infer.h"
#include "runtime/qrt_c.h"

namespace {

using qrt::Code;
using qrt::End;
using qrt::guarded;
using qrt::null_argument;
using qrt::Plan;
using qrt::PlannedStep;
using qrt::Result;
using qrt::SessionOptions;
using qrt::Status;
using qrt::text;

const Plan& plan_of(const qrt_session* session) { return session->session->plan(); }

qrt_tensor_info session_info(const qrt_session* session, uint32_t tensor) {
  const Plan& plan = plan_of(session);
  return qrt::tensor_info(plan.model->tensor(tensor), plan.types[tensor], plan.slot_bytes(tensor));
}

// Inputs or outputs, and what messages call them.
struct Ends {
  std::vector<End> Plan::*ends;
  const char* role;
};
constexpr Ends kInputs = {&Plan::inputs, "input"}, kOutputs = {&Plan::outputs, "output"};

Status find_end(const qrt_session* session, const Ends& of, size_t index, const End** end) {
  if (session == nullptr) return null_argument("session");
  const std::vector<End>& ends = plan_of(session).*of.ends;
  if (index >= ends.size()) {
    return qrt::error(Code::kInvalidArgument, "there is no %s %zu: the model has %zu", of.role,
                      index, ends.size());
  }
  *end = &ends[index];
  return {};
}

// For a copy of `bytes` from or to the memory of `end`.
Status check_transfer(const qrt_session* session, const Ends& of, size_t index, const void* data,
                      size_t bytes, const End** end) {
  QRT_TRY(find_end(session, of, index, end));
  if (data == nullptr) return null_argument("data");
  const size_t expected = plan_of(session).slot_bytes((*end)->slot);
  if (bytes != expected)
    return qrt::error(Code::kInvalidArgument, "%s %zu takes %zu bytes, not %zu", of.role, index,
                      expected, bytes);
  if (session->session->data((*end)->slot) == nullptr)
    return qrt::error(Code::kInvalidArgument, "%s %zu is external and has no memory: bind it",
                      of.role, index);
  return {};
}

Status bind(qrt_session* session, const Ends& of, size_t index, uint8_t* data, size_t capacity) {
  const End* end = nullptr;
  QRT_TRY(find_end(session, of, index, &end));
  const size_t bytes = plan_of(session).slot_bytes(end->slot);
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % QRT_BUFFER_ALIGNMENT != 0)
    return qrt::error(Code::kInvalidArgument,
                      "%s %zu takes memory aligned to %d, this is %zu bytes behind such an address",
                      of.role, index, QRT_BUFFER_ALIGNMENT,
                      reinterpret_cast<uintptr_t>(data) % QRT_BUFFER_ALIGNMENT);
  if (data != nullptr && capacity < bytes + QRT_BUFFER_PADDING)
    return qrt::error(Code::kInvalidArgument,
                      "%s %zu takes %zu bytes and %d behind them that can be read, the buffer has "
                      "%zu in all",
                      of.role, index, bytes, QRT_BUFFER_PADDING, capacity);
  session->session->bind(*end, data);
  return {};
}

Status read_options(const qrt_session_options* given, qrt_session_options* options) {
  qrt_session_options_init(options);
  constexpr size_t kFirst = offsetof(qrt_session_options, parallel_context) + sizeof(void*);
  return qrt::read_struct("qrt_session_options_init", given, kFirst, sizeof *options, options);
}

Status session_options(const qrt_session_options* given, SessionOptions* options) {
  qrt_session_options o;
  QRT_TRY(read_options(given, &o));
  options->batch = o.batch;
  options->threads = o.threads;
  options->isa = o.isa;
  options->kernels = o.kernels;
  options->profile = o.profile != 0;
  options->keep_all = o.keep_all != 0;
  if ((o.pthreadpool != nullptr) + (o.parallel != nullptr) + (o.pool != nullptr) > 1)
    return qrt::error(Code::kInvalidArgument,
                      "options name two pools: set one of pool, pthreadpool and parallel");
  if (o.pool != nullptr) options->pool = o.pool->pool;
  options->external_inputs = o.external_inputs != 0;
  options->external_outputs = o.external_outputs != 0;
  options->callers_pool = static_cast<pthreadpool*>(o.pthreadpool);
  options->parallel = o.parallel;
  options->parallel_context = o.parallel_context;
  options->max_memory = o.max_memory;
  return {};
}

}  // namespace

// ---- session ----

void qrt_session_options_init_size(qrt_session_options* options, size_t struct_size) {
  qrt::init_struct(options, struct_size);
}

void(qrt_session_options_init)(qrt_session_options* options) {
  qrt::init_struct(options, offsetof(qrt_session_options, max_memory));
}

qrt_status qrt_session_create(const qrt_model* model, const qrt_session_options* options,
                              qrt_session** session, qrt_error* error) {
  if (session != nullptr) *session = nullptr;
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    if (session == nullptr) return null_argument("session");
    SessionOptions internal;
    QRT_TRY(session_options(options, &internal));
    Result<std::unique_ptr<qrt::Session>> created = qrt::Session::create(model->verified, internal);
    if (!created.ok()) return std::move(created.status());
    auto result = std::make_unique<qrt_session>();
    result->session = std::move(*created);
    const Plan& plan = result->session->plan();
    if (plan.keep_all) {
      for (const PlannedStep& step : plan.steps) {
        result->written.insert(result->written.end(), step.outputs.begin(), step.outputs.end());
      }
    }
    if (internal.isa == nullptr) qrt::set_message(error, qrt::isa_warning().c_str());
    *session = result.release();
    return {};
  });
}

void qrt_session_destroy(qrt_session* session) { delete session; }

qrt_status qrt_session_needed_memory(const qrt_model* model, const qrt_session_options* options,
                                     size_t* bytes, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    if (bytes == nullptr) return null_argument("bytes");
    SessionOptions internal;
    QRT_TRY(session_options(options, &internal));
    Result<size_t> needed = qrt::Session::needed_memory(model->verified, internal);
    if (needed.ok()) *bytes = *needed;
    return std::move(needed.status());
  });
}

qrt_status qrt_session_input_info(const qrt_session* session, size_t index, qrt_tensor_info* info) {
  if (session == nullptr || index >= plan_of(session).inputs.size()) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(session_info(session, plan_of(session).inputs[index].slot), info);
}

qrt_status qrt_session_output_info(const qrt_session* session, size_t index,
                                   qrt_tensor_info* info) {
  if (session == nullptr || index >= plan_of(session).outputs.size()) return QRT_INVALID_ARGUMENT;
  const auto& outputs = *plan_of(session).model->file().outputs();
  return qrt::write_tensor_info(session_info(session, outputs.Get(static_cast<uint32_t>(index))),
                                info);
}

qrt_status qrt_session_set_input(qrt_session* session, size_t index, const void* data, size_t bytes,
                                 qrt_error* error) {
  return guarded(error, [&]() -> Status {
    const End* end = nullptr;
    QRT_TRY(check_transfer(session, kInputs, index, data, bytes, &end));
    if (session->session->is_bound(*end))
      return qrt::error(Code::kInvalidArgument,
                        "input %zu is bound to the caller's memory, which is not written to: bind "
                        "NULL first",
                        index);
    memcpy(session->session->data(end->slot), data, bytes);
    return {};
  });
}

qrt_status qrt_session_get_output(const qrt_session* session, size_t index, void* data,
                                  size_t bytes, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    const End* end = nullptr;
    QRT_TRY(check_transfer(session, kOutputs, index, data, bytes, &end));
    memcpy(data, session->session->data(end->slot), bytes);
    return {};
  });
}

void* qrt_session_input_data(qrt_session* session, size_t index) {
  if (session == nullptr || index >= plan_of(session).inputs.size()) return nullptr;
  return session->session->data(plan_of(session).inputs[index].slot);
}

const void* qrt_session_output_data(const qrt_session* session, size_t index) {
  if (session == nullptr || index >= plan_of(session).outputs.size()) return nullptr;
  return session->session->data(plan_of(session).outputs[index].slot);
}

qrt_status qrt_session_bind_input(qrt_session* session, size_t index, const void* data,
                                  size_t capacity, qrt_error* error) {
  return guarded(error, [&] {
    auto* read_only = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
    return bind(session, kInputs, index, read_only, capacity);
  });
}

qrt_status qrt_session_bind_output(qrt_session* session, size_t index, void* data, size_t capacity,
                                   qrt_error* error) {
  return guarded(
      error, [&] { return bind(session, kOutputs, index, static_cast<uint8_t*>(data), capacity); });
}

qrt_status qrt_session_run(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  const qrt::ScopedFloatEnv env;
  return static_cast<qrt_status>(session->session->run());
}

void qrt_session_cancel(qrt_session* session) {
  if (session != nullptr) session->session->cancel();
}

qrt_status qrt_session_reset(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  const qrt::ScopedFloatEnv env;
  session->session->reset();
  return QRT_OK;
}

size_t qrt_session_memory(const qrt_session* session) {
  return session != nullptr ? session->session->memory_bytes() : 0;
}

size_t qrt_session_threads(const qrt_session* session) {
  return session != nullptr ? session->session->threads() : 0;
}

size_t qrt_session_op_count(const qrt_session* session) {
  return session != nullptr ? session->session->plan().steps.size() : 0;
}

qrt_status qrt_session_op_info(const qrt_session* session, size_t index, qrt_op_info* given) {
  if (index >= qrt_session_op_count(session)) return QRT_INVALID_ARGUMENT;
  const qrt::Session& s = *session->session;
  const PlannedStep& step = s.plan().steps[index];
  qrt_op_info info = {};
  info.name = text(step.op->name());
  info.type = qrt::find_op(step.op->options_type())->name;
  info.source_op = text(step.op->source_op());
  info.kernel = step.kernel;
  info.level = qrt::arithmetic_level(*step.op);
  info.macs = step.macs * s.plan().slices;
  info.runs_in =
      step.leader == nullptr ? index : static_cast<size_t>(step.leader - s.plan().steps.data());
  const qrt::StepBytes bytes = qrt::step_bytes(s.plan(), step);
  info.bytes = bytes.all;
  info.constant_bytes = bytes.constants;
  if (const qrt::Profile* profile = s.profile()) {
    info.total_ns = profile->total_ns(index);
    info.runs = profile->runs();
  }
  constexpr size_t kFirst = offsetof(qrt_op_info, runs_in) + sizeof info.runs_in;
  return qrt::write_struct(&info, kFirst, sizeof info, given);
}

void qrt_session_profile_reset(qrt_session* session) {
  if (session != nullptr && session->session->profile() != nullptr) {
    session->session->profile()->reset();
  }
}

size_t qrt_session_tensor_count(const qrt_session* session) {
  return session != nullptr ? session->written.size() : 0;
}

qrt_status qrt_session_tensor(const qrt_session* session, size_t index, qrt_tensor_info* info,
                              const void** data) {
  if (index >= qrt_session_tensor_count(session)) return QRT_INVALID_ARGUMENT;
  const uint32_t tensor = session->written[index];
  if (data != nullptr) *data = session->session->data(tensor);
  if (info == nullptr) return QRT_OK;
  return qrt::write_tensor_info(session_info(session, tensor), info);
}
