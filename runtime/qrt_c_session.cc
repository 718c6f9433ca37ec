// The C ABI of sessions; see qrt_c.cc.
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "runtime/infer.h"
#include "runtime/qrt_c.h"

namespace {

using qrt::Code;
using qrt::guarded;
using qrt::null_argument;
using qrt::Plan;
using qrt::PlannedStep;
using qrt::Result;
using qrt::SessionOptions;
using qrt::Status;
using qrt::text;

const qrt::fb::Model& file_of(const qrt_session* session) {
  return session->session->plan().model->file();
}

qrt_tensor_info session_info(const qrt_session* session, uint32_t tensor) {
  const Plan& plan = session->session->plan();
  return qrt::tensor_info(plan.model->tensor(tensor), plan.types[tensor], plan.slot_bytes(tensor));
}

uint32_t input_slot(const qrt_session* session, size_t index) {
  return file_of(session).inputs()->Get(static_cast<uint32_t>(index));
}

Status check_transfer(const void* session, const void* data, size_t index, size_t count,
                      const char* role) {
  if (session == nullptr) return null_argument("session");
  if (data == nullptr) return null_argument("data");
  if (index >= count) {
    return qrt::error(Code::kInvalidArgument, "there is no %s %zu: the model has %zu", role, index,
                      count);
  }
  return {};
}

Status check_bytes(size_t bytes, size_t expected, const char* role, size_t index) {
  if (bytes == expected) return {};
  return qrt::error(Code::kInvalidArgument, "%s %zu takes %zu bytes, not %zu", role, index,
                    expected, bytes);
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
  options->pool = static_cast<pthreadpool*>(o.pthreadpool);
  options->parallel = o.parallel;
  options->parallel_context = o.parallel_context;
  options->max_memory = o.max_memory;
  return {};
}

// Bytes of a step's operands: of weights in 4 or 2 bits the unpacked ones, of other constants as
// they stand in the file, of tensors in memory.
void count_bytes(const Plan& plan, const PlannedStep& step, qrt_op_info* info) {
  if (step.run == nullptr && step.leader == nullptr) return;  // all is in place
  for (const auto* operands : {&step.inputs, &step.outputs}) {
    for (uint32_t t : *operands) {
      const qrt::fb::Tensor& tensor = plan.model->tensor(t);
      const bool constant = qrt::is_constant(tensor);
      const uint64_t unpacked = plan.model->unpacked().of(t).bytes;
      const uint64_t bytes =
          unpacked != 0 ? unpacked
          : constant    ? plan.model->file().buffers()->Get(tensor.buffer())->data()->size()
                        : plan.slot_bytes(t);
      info->bytes += bytes;
      if (constant) info->constant_bytes += bytes;
    }
  }
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
  if (session == nullptr || info == nullptr || index >= file_of(session).inputs()->size()) {
    return QRT_INVALID_ARGUMENT;
  }
  *info = session_info(session, input_slot(session, index));
  return QRT_OK;
}

qrt_status qrt_session_output_info(const qrt_session* session, size_t index,
                                   qrt_tensor_info* info) {
  if (session == nullptr || info == nullptr || index >= file_of(session).outputs()->size()) {
    return QRT_INVALID_ARGUMENT;
  }
  *info = session_info(session, file_of(session).outputs()->Get(static_cast<uint32_t>(index)));
  return QRT_OK;
}

qrt_status qrt_session_set_input(qrt_session* session, size_t index, const void* data, size_t bytes,
                                 qrt_error* error) {
  return guarded(error, [&]() -> Status {
    const size_t count = session != nullptr ? file_of(session).inputs()->size() : 0;
    QRT_TRY(check_transfer(session, data, index, count, "input"));
    const uint32_t slot = input_slot(session, index);
    QRT_TRY(check_bytes(bytes, session->session->plan().slot_bytes(slot), "input", index));
    memcpy(session->session->data(slot), data, bytes);
    return {};
  });
}

qrt_status qrt_session_get_output(const qrt_session* session, size_t index, void* data,
                                  size_t bytes, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    const size_t count = session != nullptr ? file_of(session).outputs()->size() : 0;
    QRT_TRY(check_transfer(session, data, index, count, "output"));
    const uint32_t slot = session->session->plan().output_slots[index];
    QRT_TRY(check_bytes(bytes, session->session->plan().slot_bytes(slot), "output", index));
    memcpy(data, session->session->data(slot), bytes);
    return {};
  });
}

void* qrt_session_input_data(qrt_session* session, size_t index) {
  if (session == nullptr || index >= file_of(session).inputs()->size()) return nullptr;
  return session->session->data(input_slot(session, index));
}

const void* qrt_session_output_data(const qrt_session* session, size_t index) {
  if (session == nullptr || index >= file_of(session).outputs()->size()) return nullptr;
  return session->session->data(session->session->plan().output_slots[index]);
}

qrt_status qrt_session_run(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  return session->session->run() ? QRT_OK : QRT_CANCELLED;
}

void qrt_session_cancel(qrt_session* session) {
  if (session != nullptr) session->session->cancel();
}

qrt_status qrt_session_reset(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
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

qrt_status qrt_session_op_info(const qrt_session* session, size_t index, qrt_op_info* info) {
  if (info == nullptr || index >= qrt_session_op_count(session)) return QRT_INVALID_ARGUMENT;
  const qrt::Session& s = *session->session;
  const PlannedStep& step = s.plan().steps[index];
  *info = qrt_op_info{};
  info->name = text(step.op->name());
  info->type = qrt::find_op(step.op->options_type())->name;
  info->source_op = text(step.op->source_op());
  info->kernel = step.kernel;
  info->level = qrt::arithmetic_level(*step.op);
  info->macs = step.macs * s.plan().slices;
  info->runs_in =
      step.leader == nullptr ? index : static_cast<size_t>(step.leader - s.plan().steps.data());
  count_bytes(s.plan(), step, info);
  if (const qrt::Profile* profile = s.profile()) {
    info->total_ns = profile->total_ns(index);
    info->runs = profile->runs();
  }
  return QRT_OK;
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
  if (info != nullptr) *info = session_info(session, tensor);
  if (data != nullptr) *data = session->session->data(tensor);
  return QRT_OK;
}
