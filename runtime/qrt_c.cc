// SPDX-License-Identifier: Apache-2.0
// The C ABI: null checks, an exception guard, and translation between the C structs and the
// runtime's types. Nothing else is decided here. The library and models; sessions: qrt_c_session.cc.
#include "runtime/qrt_c.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/built.h"
#include "runtime/checksum.h"
#include "runtime/infer.h"
#include "runtime/layout.h"
#include "runtime/text.h"

#define QRT_STRING_(x) #x
#define QRT_STRING(x) QRT_STRING_(x)

static_assert(QRT_MAX_RANK >= qrt::kMaxTensorRank);
static_assert(QRT_OUT_OF_RANGE == static_cast<int>(qrt::Code::kOutOfRange));
static_assert(QRT_FLOAT4E2M1 == static_cast<int>(qrt::DType::kFloat4E2M1));

namespace qrt {

void set_message(qrt_error* error, const char* message) {
  if (error != nullptr)
    snprintf(error->message, sizeof error->message, "%s",
             shortened(message, sizeof error->message - 1).c_str());
}

Status null_argument(const char* name) {
  return qrt::error(Code::kInvalidArgument, "%s is NULL", name);
}

void warn(qrt_log_fn log, void* context, qrt_error* error, const char* message) {
  if (message[0] == '\0') return;
  if (log != nullptr) log(context, message);
  set_message(error, message);
}

std::string thread_warning(size_t wanted, size_t started) {
  if (started >= wanted) return "";
  return "the system started " + std::to_string(started) + " of " + std::to_string(wanted) +
         " threads";
}

Status read_struct(const void* given, size_t first, size_t known, void* options) {
  qrt_struct_init_size(options, known);
  if (given == nullptr) return {};
  size_t size;
  memcpy(&size, given, sizeof size);
  if (size < first) {
    return qrt::error(Code::kInvalidArgument,
                      "struct_size is %zu, expected at least %zu: call qrt_struct_init() first",
                      size, first);
  }
  const auto* bytes = static_cast<const uint8_t*>(given);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      return qrt::error(Code::kInvalidArgument,
                        "a struct has fields that this version of qrt does not know");
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

qrt_status write_tensor_info(const TensorFacts& facts, qrt_tensor_info* given) {
  qrt_tensor_info info = {};
  info.name = facts.name;
  info.dtype = static_cast<qrt_dtype>(facts.dtype);
  info.rank = facts.dims.rank();
  info.dims = facts.dims.begin();
  info.bytes = facts.bytes;
  info.quantization = &facts.quantization;
  info.layout = facts.layout;
  info.dim_names = facts.dim_names;
  constexpr size_t kFirst = offsetof(qrt_tensor_info, layout) + sizeof info.layout;
  return write_struct(&info, kFirst, sizeof info, given);
}

namespace {

template <class T>
const T* data_of(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? v->data() : nullptr;
}

}  // namespace

TensorFacts tensor_facts(const fb::Tensor& tensor, const TensorType& type, size_t bytes) {
  TensorFacts facts = {};
  facts.name = text(tensor.name());
  facts.dtype = type.dtype;
  facts.dims = type.shape;
  facts.bytes = bytes;
  facts.quantization.axis = -1;
  if (const fb::Quantization* q = tensor.quantization()) {
    facts.quantization.scale = data_of(q->scale());
    facts.quantization.zero_point = data_of(q->zero_point());
    facts.quantization.count = q->scale() != nullptr ? q->scale()->size() : 0;
    facts.quantization.axis = q->axis();
  }
  return facts;
}

}  // namespace qrt

namespace {

using qrt::Code;
using qrt::code_of;
using qrt::DType;
using qrt::guarded;
using qrt::ModelBytes;
using qrt::null_argument;
using qrt::Result;
using qrt::Status;
using qrt::TensorFacts;
using qrt::TensorType;
using qrt::text;
using qrt::VerifiedModel;

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
  constexpr size_t kFirst = offsetof(qrt_load_options, log_context) + sizeof(void*);
  QRT_TRY(qrt::read_struct(given, kFirst, sizeof *options, options));
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

void warn_of_copy(const qrt_load_options& options, size_t size, qrt_error* error) {
  char message[160];
  snprintf(message, sizeof message,
           "the model's %zu bytes were copied, because they do not begin at a multiple of %d", size,
           QRT_BUFFER_ALIGNMENT);
  qrt::warn(options.log, options.log_context, error, message);
}

Status load(Result<ModelBytes> bytes, const qrt_load_options& options, qrt_model** model) {
  if (!bytes.ok()) return std::move(bytes.status());
  if ((options.flags & QRT_LOAD_CHECK) != 0)
    QRT_TRY(qrt::check_checksum(bytes->data(), bytes->size()));
  Result<std::shared_ptr<const VerifiedModel>> verified =
      qrt::verify(std::move(*bytes), {limit_of(options)});
  if (!verified.ok()) return std::move(verified.status());
  *model = new qrt_model(std::move(*verified));
  return {};
}

size_t find(const qrt_model* model, const flatbuffers::Vector<uint32_t>& tensors,
            const char* name) {
  for (uint32_t i = 0; i < tensors.size(); ++i)
    if (strcmp(name, text(model->verified->tensor(tensors.Get(i)).name())) == 0) return i;
  return SIZE_MAX;
}

// Returns whether the size depends on no symbol.
bool is_constant_size(const qrt::fb::Size& size) {
  return std::all_of(size.functions()->begin(), size.functions()->end(),
                     [](const auto f) { return f != qrt::fb::SizeFunction::SYMBOL; });
}

// Puts -1 and a name in place of every open dimension.
void name_dims(qrt_model* model, const qrt::fb::Tensor& tensor, TensorFacts* facts) {
  const qrt::fb::Model& file = model->verified->file();
  std::vector<const char*>& names = model->name_lists.emplace_back(facts->dims.rank() + 1, nullptr);
  for (int i = 0; i < facts->dims.rank(); ++i) {
    const auto at = static_cast<uint32_t>(i);
    if (facts->dims[i] == -1) {
      names[at] = qrt::kBatchName;
    } else if (qrt::built::kOpenDims && tensor.sizes() != nullptr &&
               !is_constant_size(*tensor.sizes()->Get(at))) {
      const qrt::fb::Size& size = *tensor.sizes()->Get(at);
      const int64_t symbol = qrt::symbol_of(size);
      names[at] = symbol >= 0 ? text(file.symbols()->Get(static_cast<uint32_t>(symbol))->name())
                              : model->names.emplace_back(qrt::to_string(size, file)).c_str();
      facts->dims[i] = -1;
    }
  }
  facts->dim_names = names.data();
}

void add_facts(qrt_model* model, const flatbuffers::Vector<uint32_t>& tensors,
               std::vector<TensorFacts>* facts) {
  const VerifiedModel& m = *model->verified;
  facts->reserve(tensors.size());
  for (const uint32_t t : tensors) {
    const qrt::fb::Tensor& tensor = m.tensor(t);
    const TensorType concrete = qrt::stored_type(tensor, static_cast<int64_t>(m.default_batch()));
    facts->push_back(
        qrt::tensor_facts(tensor, qrt::stored_type(tensor, -1), qrt::tensor_bytes(concrete)));
    name_dims(model, tensor, &facts->back());
  }
}

}  // namespace

namespace qrt {

std::vector<OpenDim> open_dims(const VerifiedModel& model) {
  std::vector<OpenDim> dims;
  if (model.has_batch())
    dims.push_back({kBatchName, static_cast<int64_t>(model.default_batch()), 1, INT32_MAX, 1, -1});
  for (uint32_t i = 0; i < symbol_count(model.file()); ++i) {
    const fb::Symbol& s = *model.file().symbols()->Get(i);
    dims.push_back({text(s.name()), s.value(), s.least(), s.most(), s.step(), i});
  }
  return dims;
}

}  // namespace qrt

qrt_model::qrt_model(std::shared_ptr<const VerifiedModel> model) : verified(std::move(model)) {
  add_facts(this, *verified->file().inputs(), &inputs);
  add_facts(this, *verified->file().outputs(), &outputs);
  dims = qrt::open_dims(*verified);
  const std::vector<qrt_layout> layouts = qrt::input_layouts(verified->file());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].layout = layouts[i];
}

// ---- library ----

void qrt_struct_init_size(void* given, size_t struct_size) {
  if (given == nullptr || struct_size < sizeof struct_size) return;
  memset(given, 0, struct_size);
  memcpy(given, &struct_size, sizeof struct_size);
}

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
    case QRT_OUT_OF_RANGE: return "OUT_OF_RANGE";
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
    if (!created.ok()) return std::move(created.status());
    *pool = new qrt_pool{std::move(*created)};
    qrt::set_message(error, qrt::thread_warning(threads, (*pool)->pool->threads()).c_str());
    return {};
  });
}

size_t qrt_pool_threads(const qrt_pool* pool) {
  return pool != nullptr ? pool->pool->threads() : 0;
}

void qrt_pool_destroy(qrt_pool* pool) { delete pool; }

// ---- model ----

qrt_status qrt_model_load_file(const char* path, const qrt_load_options* options, qrt_model** model,
                               qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (path == nullptr) return null_argument("path");
    if (path[0] == '\0') return qrt::error(Code::kInvalidArgument, "path is empty");
    if (model == nullptr) return null_argument("model");
    qrt_load_options o;
    QRT_TRY(read_options(options, &o));
    return load(ModelBytes::map_file(path), o, model).at(path);
  });
}

qrt_status qrt_model_load_memory(const void* data, size_t size, const qrt_load_options* options,
                                 qrt_model** model, qrt_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Status {
    if (data == nullptr) return null_argument("data");
    if (model == nullptr) return null_argument("model");
    qrt_load_options o;
    QRT_TRY(read_options(options, &o));
    if ((o.flags & QRT_LOAD_COPY) != 0) return load(copy(data, size, o), o, model);
    if (ModelBytes::is_usable_in_place(data)) return load(ModelBytes::borrow(data, size), o, model);
    QRT_TRY(load(copy(data, size, o), o, model));
    warn_of_copy(o, size, error);
    return {};
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
    QRT_TRY(load(copy(bytes->data(), bytes->size(), o), o, model));
    warn_of_copy(o, bytes->size(), error);
    return {};
  });
}

void qrt_model_destroy(qrt_model* model) { delete model; }

size_t qrt_model_input_count(const qrt_model* model) {
  return model != nullptr ? model->inputs.size() : 0;
}

size_t qrt_model_output_count(const qrt_model* model) {
  return model != nullptr ? model->outputs.size() : 0;
}

qrt_status qrt_model_input_info(const qrt_model* model, size_t index, qrt_tensor_info* info) {
  if (index >= qrt_model_input_count(model)) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(model->inputs[index], info);
}

qrt_status qrt_model_output_info(const qrt_model* model, size_t index, qrt_tensor_info* info) {
  if (index >= qrt_model_output_count(model)) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(model->outputs[index], info);
}

size_t qrt_model_find_input(const qrt_model* model, const char* name) {
  if (model == nullptr || name == nullptr) return SIZE_MAX;
  return find(model, *model->verified->file().inputs(), name);
}

size_t qrt_model_find_output(const qrt_model* model, const char* name) {
  if (model == nullptr || name == nullptr) return SIZE_MAX;
  return find(model, *model->verified->file().outputs(), name);
}

size_t qrt_model_dim_count(const qrt_model* model) {
  return model != nullptr ? model->dims.size() : 0;
}

qrt_status qrt_model_dim_info(const qrt_model* model, size_t index, qrt_dim_info* given) {
  if (index >= qrt_model_dim_count(model)) return QRT_INVALID_ARGUMENT;
  const qrt::OpenDim& dim = model->dims[index];
  qrt_dim_info info = {};
  info.name = dim.name;
  info.default_size = dim.value;
  info.least = dim.least;
  info.most = dim.most;
  info.step = dim.step;
  constexpr size_t kFirst = offsetof(qrt_dim_info, step) + sizeof info.step;
  return qrt::write_struct(&info, kFirst, sizeof info, given);
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

qrt_status qrt_model_get_info(const qrt_model* model, qrt_model_info* given) {
  if (model == nullptr) return QRT_INVALID_ARGUMENT;
  const VerifiedModel& m = *model->verified;
  qrt_model_info info = {};
  info.name = qrt_model_metadata(model, "name");
  info.reference = qrt_model_metadata(model, "reference");
  for (const qrt::fb::Operator* op : *m.file().operators())
    info.level = std::max(info.level, qrt::arithmetic_level(*op));
  for (const qrt::OpenDim& dim : model->dims)
    if (strcmp(dim.name, qrt::kBatchName) == 0) info.default_batch = static_cast<size_t>(dim.value);
  info.op_count = m.file().operators()->size();
  info.file_bytes = m.file_bytes();
  info.shared_memory = m.plans().kept_bytes();
  constexpr size_t kFirst = offsetof(qrt_model_info, file_bytes) + sizeof info.file_bytes;
  return qrt::write_struct(&info, kFirst, sizeof info, given);
}
