// What the files of the C ABI share: the handles, and how errors and tensors become C structs.
#ifndef QRT_RUNTIME_QRT_C_H_
#define QRT_RUNTIME_QRT_C_H_

#include <memory>
#include <new>
#include <vector>

#include "qrt/qrt.h"
#include "runtime/float_env.h"
#include "runtime/session.h"
#include "runtime/verify.h"

struct qrt_model {
  std::shared_ptr<const qrt::VerifiedModel> verified;
};

struct qrt_pool {
  std::shared_ptr<qrt::Pool> pool;
};

struct qrt_session {
  std::unique_ptr<qrt::Session> session;
  std::vector<uint32_t> written;  // tensors that operators wrote, in execution order
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

// All 0 but for the size, which stands first. NULL is allowed.
void init_struct(void* options, size_t size);

// Copies a caller's options struct, which begins with its size and may be older (shorter, but at least
// `first` bytes) or newer (longer, with nothing behind) than this library's of `known` bytes. NULL:
// `options` stays as `init`, the function to be called before, has made it.
Status read_struct(const char* init, const void* given, size_t first, size_t known, void* options);

// Gives the caller an info struct, which begins with its size: as many of `known` bytes of `info` as
// it has, and 0 in those behind that this library does not know. QRT_INVALID_ARGUMENT for a null
// pointer and a size below `first`.
qrt_status write_struct(const void* info, size_t first, size_t known, void* given);

// "" for none.
inline const char* text(const flatbuffers::String* s) { return s != nullptr ? s->c_str() : ""; }

// `type` gives the dimensions to show, which may hold -1; `bytes` those of the concrete shape.
qrt_tensor_info tensor_info(const fb::Tensor& tensor, const TensorType& type, size_t bytes);

qrt_status write_tensor_info(const qrt_tensor_info& info, qrt_tensor_info* given);

}  // namespace qrt

#endif  // QRT_RUNTIME_QRT_C_H_
