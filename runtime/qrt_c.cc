// The C ABI: null checks, an exception guard, and translation between the C structs and the
// runtime's types. Nothing else is decided here.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <new>
#include <utility>

#include "qrt/qrt.h"
#include "runtime/infer.h"
#include "runtime/session.h"
#include "runtime/verify.h"

#define QRT_STRING_(x) #x
#define QRT_STRING(x) QRT_STRING_(x)

struct qrt_model {
  std::shared_ptr<const qrt::VerifiedModel> verified;
};

struct qrt_session {
  std::unique_ptr<qrt::Session> session;
  std::vector<uint32_t> written;  // tensors that operators wrote, in execution order
};

static_assert(QRT_MAX_RANK == qrt::kMaxTensorRank);
static_assert(QRT_INTERNAL == static_cast<int>(qrt::Code::kInternal));
static_assert(QRT_FLOAT4E2M1 == static_cast<int>(qrt::DType::kFloat4E2M1));

namespace {

using qrt::Code;
using qrt::DType;
using qrt::ModelBytes;
using qrt::Plan;
using qrt::PlannedStep;
using qrt::Result;
using qrt::SessionOptions;
using qrt::Status;
using qrt::TensorType;
using qrt::VerifiedModel;

void set_message(qrt_error* error, const char* message) {
  if (error != nullptr) snprintf(error->message, sizeof error->message, "%s", message);
}

// Runs body() and reports its Status. Nothing in qrt throws but failed allocations.
template <class Body>
qrt_status guarded(qrt_error* error, Body body) {
  set_message(error, "");
  try {
    const Status status = body();
    set_message(error, status.message());
    return static_cast<qrt_status>(status.code());
  } catch (const std::bad_alloc&) {
    set_message(error, "out of memory");
    return QRT_OUT_OF_MEMORY;
  } catch (...) {
    set_message(error, "unexpected exception");
    return QRT_INTERNAL;
  }
}

Status null_argument(const char* name) {
  return qrt::error(Code::kInvalidArgument, "%s is NULL", name);
}

const char* text(const flatbuffers::String* s) { return s != nullptr ? s->c_str() : ""; }

template <class T>
const T* data_of(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? v->data() : nullptr;
}

Status load(Result<ModelBytes> bytes, qrt_model** model) {
  if (!bytes.ok()) return std::move(bytes.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = qrt::verify(std::move(*bytes));
  if (!verified.ok()) return std::move(verified.status());
  *model = new qrt_model{std::move(*verified)};
  return {};
}

// `type` gives the dimensions to show, which may hold -1; `bytes` those of the concrete shape.
qrt_tensor_info tensor_info(const qrt::fb::Tensor& tensor, const TensorType& type, size_t bytes) {
  qrt_tensor_info info = {};
  info.name = text(tensor.name());
  info.dtype = static_cast<qrt_dtype>(type.dtype);
  info.rank = type.shape.rank();
  std::copy(type.shape.begin(), type.shape.end(), info.dims);
  info.bytes = bytes;
  info.quantization.axis = -1;
  if (const qrt::fb::Quantization* q = tensor.quantization()) {
    info.quantization.scale = data_of(q->scale());
    info.quantization.zero_point = data_of(q->zero_point());
    info.quantization.count = q->scale() != nullptr ? q->scale()->size() : 0;
    info.quantization.axis = q->axis();
  }
  return info;
}

qrt_status model_info(const qrt_model* model, const flatbuffers::Vector<uint32_t>& tensors,
                      size_t index, qrt_tensor_info* info) {
  if (index >= tensors.size() || info == nullptr) return QRT_INVALID_ARGUMENT;
  const VerifiedModel& m = *model->verified;
  const qrt::fb::Tensor& tensor = m.tensor(tensors.Get(static_cast<uint32_t>(index)));
  const TensorType concrete = qrt::stored_type(tensor, static_cast<int64_t>(m.default_batch()));
  *info = tensor_info(tensor, qrt::stored_type(tensor, -1), qrt::tensor_bytes(concrete));
  return QRT_OK;
}

const qrt::fb::Model& file_of(const qrt_session* session) {
  return session->session->plan().model->file();
}

qrt_tensor_info session_info(const qrt_session* session, uint32_t tensor) {
  const Plan& plan = session->session->plan();
  return tensor_info(plan.model->tensor(tensor), plan.types[tensor], plan.slot_bytes(tensor));
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

// The caller's struct may be older (shorter) or newer (longer) than this library's.
Status read_options(const qrt_session_options* given, qrt_session_options* options) {
  qrt_session_options_init(options);
  if (given == nullptr) return {};
  const size_t size = given->struct_size;
  constexpr size_t kFirst = offsetof(qrt_session_options, parallel_context) + sizeof(void*);
  if (size < kFirst) {
    return qrt::error(Code::kInvalidArgument,
                      "options.struct_size is %zu, expected at least %zu: call "
                      "qrt_session_options_init() first",
                      size, kFirst);
  }
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(given);
  for (size_t i = sizeof *options; i < size; ++i) {
    if (bytes[i] != 0) {
      return qrt::error(Code::kInvalidArgument,
                        "options has fields that this version of qrt does not know");
    }
  }
  memcpy(options, given, std::min(size, sizeof *options));
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

// ---- library ----

const char* qrt_version(void) {
  return QRT_STRING(QRT_VERSION_MAJOR) "." QRT_STRING(QRT_VERSION_MINOR) "." QRT_STRING(
      QRT_VERSION_PATCH) " (" QRT_COMMIT
                         ", "
#if defined(__clang__)
                         "clang " __clang_version__
#else
                         "g++ " __VERSION__
#endif
                         ")";
}

const char* qrt_status_name(qrt_status status) {
  switch (status) {
    case QRT_OK: return "OK";
    case QRT_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case QRT_INVALID_MODEL: return "INVALID_MODEL";
    case QRT_UNSUPPORTED: return "UNSUPPORTED";
    case QRT_OUT_OF_MEMORY: return "OUT_OF_MEMORY";
    case QRT_IO_ERROR: return "IO_ERROR";
    case QRT_INTERNAL: return "INTERNAL";
  }
  return "unknown";
}

const char* qrt_dtype_name(qrt_dtype dtype) { return qrt::dtype_name(static_cast<DType>(dtype)); }

size_t qrt_dtype_size(qrt_dtype dtype) { return qrt::dtype_bytes(static_cast<DType>(dtype)); }

const char* qrt_isa(size_t index) {
  qrt::Isa isa;
  for (int i = 0; qrt::isa_at(i, &isa); ++i) {
    if (qrt::has(qrt::detected_isas(), isa) && index-- == 0) return qrt::isa_name(isa);
  }
  return nullptr;
}

// ---- model ----

qrt_status qrt_model_load_file(const char* path, qrt_model** model, qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (path == nullptr) return null_argument("path");
    if (model == nullptr) return null_argument("model");
    return load(ModelBytes::map_file(path), model).at(path);
  });
}

qrt_status qrt_model_load_memory(const void* data, size_t size, unsigned flags, qrt_model** model,
                                 qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (data == nullptr) return null_argument("data");
    if (model == nullptr) return null_argument("model");
    if ((flags & ~unsigned{QRT_LOAD_COPY}) != 0) {
      return qrt::error(Code::kInvalidArgument, "flags are 0x%x, expected 0 or QRT_LOAD_COPY",
                        flags);
    }
    return load(
        flags & QRT_LOAD_COPY ? ModelBytes::copy(data, size) : ModelBytes::borrow(data, size),
        model);
  });
}

void qrt_model_destroy(qrt_model* model) { delete model; }

size_t qrt_model_input_count(const qrt_model* model) {
  return model != nullptr ? model->verified->file().inputs()->size() : 0;
}

size_t qrt_model_output_count(const qrt_model* model) {
  return model != nullptr ? model->verified->file().outputs()->size() : 0;
}

qrt_status qrt_model_input_info(const qrt_model* model, size_t index, qrt_tensor_info* info) {
  if (model == nullptr) return QRT_INVALID_ARGUMENT;
  return model_info(model, *model->verified->file().inputs(), index, info);
}

qrt_status qrt_model_output_info(const qrt_model* model, size_t index, qrt_tensor_info* info) {
  if (model == nullptr) return QRT_INVALID_ARGUMENT;
  return model_info(model, *model->verified->file().outputs(), index, info);
}

size_t qrt_model_default_batch(const qrt_model* model) {
  return model != nullptr && model->verified->has_batch() ? model->verified->default_batch() : 0;
}

const char* qrt_model_metadata(const qrt_model* model, const char* key) {
  if (model == nullptr || key == nullptr) return nullptr;
  const qrt::fb::Model& file = model->verified->file();
  const struct {
    const char* key;
    const flatbuffers::String* value;
  } fields[] = {{"producer", file.producer()},
                {"source_format", file.source_format()},
                {"source_producer", file.source_producer()},
                {"reference", file.reference()},
                {"name", file.name()}};
  for (const auto& field : fields) {
    if (strcmp(key, field.key) == 0) return field.value != nullptr ? field.value->c_str() : nullptr;
  }
  if (file.metadata() == nullptr) return nullptr;
  for (const qrt::fb::KeyValue* pair : *file.metadata()) {
    if (strcmp(key, text(pair->key())) == 0) return text(pair->value());
  }
  return nullptr;
}

// ---- session ----

void qrt_session_options_init(qrt_session_options* options) {
  if (options == nullptr) return;
  *options = qrt_session_options{};
  options->struct_size = sizeof *options;
}

qrt_status qrt_session_create(const qrt_model* model, const qrt_session_options* options,
                              qrt_session** session, qrt_error* error) {
  if (session != nullptr) *session = nullptr;
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    if (session == nullptr) return null_argument("session");
    qrt_session_options o;
    QRT_TRY(read_options(options, &o));
    SessionOptions internal;
    internal.batch = o.batch;
    internal.threads = o.threads;
    internal.isa = o.isa;
    internal.kernels = o.kernels;
    internal.profile = o.profile != 0;
    internal.keep_all = o.keep_all != 0;
    internal.pool = static_cast<pthreadpool*>(o.pthreadpool);
    internal.parallel = o.parallel;
    internal.parallel_context = o.parallel_context;
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
  session->session->run();
  return QRT_OK;
}

qrt_status qrt_session_reset(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  session->session->reset();
  return QRT_OK;
}

size_t qrt_session_memory(const qrt_session* session) {
  return session != nullptr ? session->session->memory_bytes() : 0;
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
