// SPDX-License-Identifier: Apache-2.0
// The common part of the C ABI's files: the handles, and how errors and tensors become C structs.
#ifndef QRT_RUNTIME_QRT_C_H_
#define QRT_RUNTIME_QRT_C_H_

#include <string.h>

#include <list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "qrt/qrt.h"
#include "runtime/float_env.h"
#include "runtime/session.h"
#include "runtime/verify.h"

namespace qrt {

// The data that infos point to, for every input and output of a model or tensor of a session.
struct TensorFacts {
  qrt_quantization quantization;
  Shape dims;  // may hold -1
  DType dtype;
  size_t bytes;  // size at the concrete shape
  const char* name;
  qrt_layout layout;
  const char* const* dim_names;
};
static_assert(sizeof(TensorFacts) <= kTensorFactsBytes);

// The name that the batch has among the open dimensions.
constexpr char kBatchName[] = "batch";

// A dimension that a model leaves open: the batch, or a symbol. Its name is in the file, or a
// constant of the library.
struct OpenDim {
  const char* name = kBatchName;
  int64_t value = 1, least = 1, most = 1, step = 1;
  int64_t symbol = -1;  // its number, or -1: the batch that is dimension -1
};
std::vector<OpenDim> open_dims(const VerifiedModel& model);

}  // namespace qrt

struct qrt_model {
  explicit qrt_model(std::shared_ptr<const qrt::VerifiedModel> model);
  std::shared_ptr<const qrt::VerifiedModel> verified;
  std::vector<qrt::TensorFacts> inputs, outputs;
  std::vector<qrt::OpenDim> dims;
  // The strings and lists that qrt_tensor_info.dim_names point to.
  std::list<std::string> names;
  std::list<std::vector<const char*>> name_lists;
};

struct qrt_pool {
  std::shared_ptr<qrt::Pool> pool;
};

namespace qrt {

// The data that a session's infos point to.
struct SessionFacts {
  std::vector<TensorFacts> inputs, outputs, states;
  std::vector<uint32_t> written;  // tensors that operators wrote, in execution order
  std::vector<TensorFacts> written_facts;
  std::vector<qrt_dim> dims;
};

}  // namespace qrt

struct qrt_session {
  std::unique_ptr<qrt::Session> session;
  std::vector<qrt::OpenDim> dims;   // the model's open dimensions
  std::vector<qrt_layout> layouts;  // layouts of the inputs
  // Facts of the present plan, and memory for those of the next.
  qrt::SessionFacts facts, next_facts;
};

namespace qrt {

void set_message(qrt_error* error, const char* message);

// Runs body() in the library's floating-point state and reports its Status. Nothing in qrt throws but
// failed allocations. Tables are made while a model is loaded and a session is created, so the state
// matters there as much as in a run. A body that succeeds may have left a warning in *error.
template <class Body>
qrt_status guarded(qrt_error* error, Body body) {
  const ScopedFloatEnv env;
  set_message(error, "");
  try {
    const Status status = body();
    if (!status.ok()) set_message(error, status.message());
    return static_cast<qrt_status>(status.code());
  } catch (const std::bad_alloc&) {
    set_message(error, "out of memory");
    return QRT_OUT_OF_MEMORY;
  } catch (...) {
    set_message(error, "unexpected exception");
    return QRT_INTERNAL;
  }
}

Status null_argument(const char* name);

// Copies a caller's options struct, which begins with its size and may be older (shorter, but at least
// `first` bytes) or newer (longer, with nothing behind) than this library's of `known` bytes. NULL:
// the defaults.
Status read_struct(const void* given, size_t first, size_t known, void* options);

// Gives the caller an info struct, which begins with its size: as many of `known` bytes of `info` as
// it has, and 0 in those behind that this library does not know. QRT_INVALID_ARGUMENT for a null
// pointer and a size below `first`.
qrt_status write_struct(const void* info, size_t first, size_t known, void* given);

// "" for none.
inline const char* text(const flatbuffers::String* s) { return s != nullptr ? s->c_str() : ""; }

// Returns a tensor's facts for C callers. `type` has the dimensions to show, which may be -1;
// `bytes` counts those of the concrete shape.
TensorFacts tensor_facts(const fb::Tensor& tensor, const TensorType& type, size_t bytes);

// Pointers in the info live as long as `facts`.
qrt_status write_tensor_info(const TensorFacts& facts, qrt_tensor_info* given);

// Tells a warning to a caller's hook, if there is one, and leaves it in *error.
void warn(qrt_log_fn log, void* context, qrt_error* error, const char* message);

// Returns a warning, or "" where all the threads that were wanted have started.
std::string thread_warning(size_t wanted, size_t started);

// Returns an enum as a C caller passes it: any number, which C++ must not read as the enum.
template <class Enum>
int code_of(const Enum& value) {
  int code;
  static_assert(sizeof code == sizeof value);
  memcpy(&code, &value, sizeof code);
  return code;
}

}  // namespace qrt

#endif  // QRT_RUNTIME_QRT_C_H_
