// The C ABI: null checks, an exception guard, and translation between the C structs and the
// runtime's types. Nothing else is decided here. The library and models; sessions: qrt_c_session.cc.
#include "runtime/qrt_c.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "runtime/checksum.h"
#include "runtime/infer.h"

#define QRT_STRING_(x) #x
#define QRT_STRING(x) QRT_STRING_(x)

static_assert(QRT_MAX_RANK == qrt::kMaxTensorRank);
static_assert(QRT_CANCELLED == static_cast<int>(qrt::Code::kCancelled));
static_assert(QRT_FLOAT4E2M1 == static_cast<int>(qrt::DType::kFloat4E2M1));

namespace qrt {

void set_message(qrt_error* error, const char* message) {
  if (error != nullptr) snprintf(error->message, sizeof error->message, "%s", message);
}

Status null_argument(const char* name) {
  return qrt::error(Code::kInvalidArgument, "%s is NULL", name);
}

void init_struct(void* options, size_t size) {
  if (options == nullptr || size < sizeof size) return;
  memset(options, 0, size);
  memcpy(options, &size, sizeof size);
}

Status read_struct(const char* init, const void* given, size_t first, size_t known, void* options) {
  if (given == nullptr) return {};
  size_t size;
  memcpy(&size, given, sizeof size);
  if (size < first) {
    return qrt::error(Code::kInvalidArgument,
                      "options.struct_size is %zu, expected at least %zu: call %s() first", size,
                      first, init);
  }
  const auto* bytes = static_cast<const uint8_t*>(given);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      return qrt::error(Code::kInvalidArgument,
                        "options has fields that this version of qrt does not know");
    }
  }
  memcpy(options, given, std::min(size, known));
  return {};
}

qrt_status write_struct(const void* info, size_t first, size_t known, void* given) {
  if (given == nullptr) return QRT_INVALID_ARGUMENT;
  size_t size;
  memcpy(&size, given, sizeof size);
  if (size < first) return QRT_INVALID_ARGUMENT;
  uint8_t* to = static_cast<uint8_t*>(given) + sizeof size;
  const size_t copied = std::min(size, known);
  memcpy(to, static_cast<const uint8_t*>(info) + sizeof size, copied - sizeof size);
  memset(static_cast<uint8_t*>(given) + copied, 0, size - copied);
  return QRT_OK;
}

qrt_status write_tensor_info(const qrt_tensor_info& info, qrt_tensor_info* given) {
  constexpr size_t kFirst = offsetof(qrt_tensor_info, quantization) + sizeof(qrt_quantization);
  return write_struct(&info, kFirst, sizeof info, given);
}

namespace {

template <class T>
const T* data_of(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? v->data() : nullptr;
}

}  // namespace

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

}  // namespace qrt

namespace {

using qrt::Code;
using qrt::DType;
using qrt::guarded;
using qrt::ModelBytes;
using qrt::null_argument;
using qrt::Result;
using qrt::Status;
using qrt::TensorType;
using qrt::text;
using qrt::VerifiedModel;

// An enum as a C caller passes it: any number, which C++ must not read as the enum.
template <class Enum>
int code_of(const Enum& value) {
  int code;
  static_assert(sizeof code == sizeof value);
  memcpy(&code, &value, sizeof code);
  return code;
}

bool to_dtype(const qrt_dtype& dtype, DType* type) {
  const int code = code_of(dtype);
  *type = static_cast<DType>(code);
  return code >= 0 && code < qrt::kDTypeCount;
}

// 0: no limit.
size_t limit_of(const qrt_load_options& options) {
  return options.max_memory != 0 ? options.max_memory : SIZE_MAX;
}

Status read_options(const qrt_load_options* given, qrt_load_options* options) {
  qrt_load_options_init(options);
  constexpr size_t kFirst = offsetof(qrt_load_options, max_memory) + sizeof(size_t);
  QRT_TRY(qrt::read_struct("qrt_load_options_init", given, kFirst, sizeof *options, options));
  if ((options->flags & ~unsigned{QRT_LOAD_COPY | QRT_LOAD_CHECK}) != 0) {
    return qrt::error(Code::kInvalidArgument,
                      "flags are 0x%x, expected QRT_LOAD_COPY, QRT_LOAD_CHECK or neither",
                      options->flags);
  }
  return {};
}

Result<ModelBytes> copy(const void* data, size_t size, const qrt_load_options& options) {
  if (size > limit_of(options) && size <= qrt::kMaxFileBytes)
    return qrt::error(Code::kOutOfMemory, "a copy takes %zu bytes, max_memory allows %zu", size,
                      limit_of(options));
  return ModelBytes::copy(data, size);
}

Status load(Result<ModelBytes> bytes, const qrt_load_options& options, qrt_model** model) {
  if (!bytes.ok()) return std::move(bytes.status());
  if ((options.flags & QRT_LOAD_CHECK) != 0)
    QRT_TRY(qrt::check_checksum(bytes->data(), bytes->size()));
  Result<std::shared_ptr<const VerifiedModel>> verified =
      qrt::verify(std::move(*bytes), {limit_of(options)});
  if (!verified.ok()) return std::move(verified.status());
  *model = new qrt_model{std::move(*verified)};
  return {};
}

size_t find(const qrt_model* model, const flatbuffers::Vector<uint32_t>& tensors,
            const char* name) {
  for (uint32_t i = 0; i < tensors.size(); ++i)
    if (strcmp(name, text(model->verified->tensor(tensors.Get(i)).name())) == 0) return i;
  return SIZE_MAX;
}

qrt_status model_info(const qrt_model* model, const flatbuffers::Vector<uint32_t>& tensors,
                      size_t index, qrt_tensor_info* info) {
  if (index >= tensors.size()) return QRT_INVALID_ARGUMENT;
  const VerifiedModel& m = *model->verified;
  const qrt::fb::Tensor& tensor = m.tensor(tensors.Get(static_cast<uint32_t>(index)));
  const TensorType concrete = qrt::stored_type(tensor, static_cast<int64_t>(m.default_batch()));
  return qrt::write_tensor_info(
      qrt::tensor_info(tensor, qrt::stored_type(tensor, -1), qrt::tensor_bytes(concrete)), info);
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

int qrt_version_number(void) { return QRT_VERSION_NUMBER; }

const char* qrt_status_name(qrt_status status) {
  switch (code_of(status)) {
    case QRT_OK: return "OK";
    case QRT_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case QRT_INVALID_MODEL: return "INVALID_MODEL";
    case QRT_UNSUPPORTED: return "UNSUPPORTED";
    case QRT_OUT_OF_MEMORY: return "OUT_OF_MEMORY";
    case QRT_IO_ERROR: return "IO_ERROR";
    case QRT_INTERNAL: return "INTERNAL";
    case QRT_CANCELLED: return "CANCELLED";
  }
  return "unknown";
}

const char* qrt_dtype_name(qrt_dtype dtype) {
  DType type;
  return to_dtype(dtype, &type) ? qrt::dtype_name(type) : "unknown";
}

size_t qrt_dtype_size(qrt_dtype dtype) {
  DType type;
  return to_dtype(dtype, &type) ? qrt::dtype_bytes(type) : 0;
}

const char* qrt_isa(size_t index) {
  qrt::Isa isa;
  for (int i = 0; qrt::isa_at(i, &isa); ++i) {
    if (qrt::has(qrt::detected_isas(), isa) && index-- == 0) return qrt::isa_name(isa);
  }
  return nullptr;
}

// ---- threads ----

qrt_status qrt_pool_create(size_t threads, qrt_pool** pool, qrt_error* error) {
  if (pool != nullptr) *pool = nullptr;
  return guarded(error, [&]() -> Status {
    if (pool == nullptr) return null_argument("pool");
    Result<std::shared_ptr<qrt::Pool>> created = qrt::Pool::create(threads);
    if (created.ok()) *pool = new qrt_pool{std::move(*created)};
    return std::move(created.status());
  });
}

size_t qrt_pool_threads(const qrt_pool* pool) {
  return pool != nullptr ? pool->pool->threads() : 0;
}

void qrt_pool_destroy(qrt_pool* pool) { delete pool; }

// ---- model ----

void qrt_load_options_init_size(qrt_load_options* options, size_t struct_size) {
  qrt::init_struct(options, struct_size);
}

qrt_status qrt_model_load_file(const char* path, qrt_model** model, qrt_error* error) {
  return qrt_model_load_file_with(path, nullptr, model, error);
}

qrt_status qrt_model_load_file_with(const char* path, const qrt_load_options* options,
                                    qrt_model** model, qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (path == nullptr) return null_argument("path");
    if (model == nullptr) return null_argument("model");
    qrt_load_options o;
    QRT_TRY(read_options(options, &o));
    return load(ModelBytes::map_file(path), o, model).at(path);
  });
}

qrt_status qrt_model_load_memory(const void* data, size_t size, unsigned flags, qrt_model** model,
                                 qrt_error* error) {
  qrt_load_options options;
  qrt_load_options_init(&options);
  options.flags = flags;
  return qrt_model_load_memory_with(data, size, &options, model, error);
}

qrt_status qrt_model_load_memory_with(const void* data, size_t size,
                                      const qrt_load_options* options, qrt_model** model,
                                      qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (data == nullptr) return null_argument("data");
    if (model == nullptr) return null_argument("model");
    qrt_load_options o;
    QRT_TRY(read_options(options, &o));
    const bool copies = (o.flags & QRT_LOAD_COPY) != 0 || !ModelBytes::is_usable_in_place(data);
    return load(copies ? copy(data, size, o) : ModelBytes::borrow(data, size), o, model);
  });
}

qrt_status qrt_model_load_fd(int fd, uint64_t offset, uint64_t length,
                             const qrt_load_options* options, qrt_model** model, qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    qrt_load_options o;
    QRT_TRY(read_options(options, &o));
    Result<ModelBytes> bytes = ModelBytes::map(fd, offset, length);
    if (!bytes.ok()) return std::move(bytes.status());
    if (ModelBytes::is_usable_in_place(bytes->data())) return load(std::move(bytes), o, model);
    return load(copy(bytes->data(), bytes->size(), o), o, model);
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

size_t qrt_model_find_input(const qrt_model* model, const char* name) {
  if (model == nullptr || name == nullptr) return SIZE_MAX;
  return find(model, *model->verified->file().inputs(), name);
}

size_t qrt_model_find_output(const qrt_model* model, const char* name) {
  if (model == nullptr || name == nullptr) return SIZE_MAX;
  return find(model, *model->verified->file().outputs(), name);
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

const char* qrt_model_metadata_key(const qrt_model* model, size_t index) {
  if (model == nullptr) return nullptr;
  const auto* metadata = model->verified->file().metadata();
  if (metadata == nullptr || index >= metadata->size()) return nullptr;
  return text(metadata->Get(static_cast<uint32_t>(index))->key());
}

int qrt_model_level(const qrt_model* model) {
  int level = 0;
  if (model == nullptr) return level;
  for (const qrt::fb::Operator* op : *model->verified->file().operators())
    level = std::max(level, qrt::arithmetic_level(*op));
  return level;
}
