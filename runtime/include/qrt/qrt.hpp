// qrt for C++17: owning handles, typed spans and exceptions over qrt.h, header only. Adds no
// behaviour; what a function does is said in qrt.h. Failures throw qrt::Error; programs without
// exceptions use qrt.h.
//
//   const qrt::Model model = qrt::Model::load_file("model.qrt");
//   qrt::Session session(model);
//   qrt::Span<float> x = session.input<float>(0);
//   std::copy(image.begin(), image.end(), x.begin());
//   session.run();
//   for (float p : session.output<float>(0)) ...
#ifndef QRT_QRT_HPP_
#define QRT_QRT_HPP_

#include <qrt/qrt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

namespace qrt {
inline namespace api {

class Error : public std::runtime_error {
 public:
  Error(qrt_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  qrt_status status() const { return status_; }

 private:
  qrt_status status_;
};

// Elements of the memory that a session reads or writes. Converts to std::span.
template <class T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
#ifdef __cpp_lib_span
  operator std::span<T>() const { return {data_, size_}; }
#endif

 private:
  T* data_;
  std::size_t size_;
};

namespace detail {

inline void check(qrt_status status, const char* message) {
  if (status == QRT_OK) return;
  throw Error(status, message != nullptr && message[0] != '\0' ? message : qrt_status_name(status));
}

// True if T is how elements of `dtype` are read. 16-bit floats are read as uint16_t, bools, float8
// and packed elements as bytes.
template <class T>
constexpr bool fits(qrt_dtype dtype) {
  switch (dtype) {
    case QRT_UINT8:
    case QRT_BOOL:
    case QRT_INT4:
    case QRT_UINT4:
    case QRT_INT2:
    case QRT_UINT2:
    case QRT_FLOAT8E4M3FN:
    case QRT_FLOAT8E4M3FNUZ:
    case QRT_FLOAT8E5M2:
    case QRT_FLOAT8E5M2FNUZ:
    case QRT_FLOAT8E8M0:
    case QRT_FLOAT4E2M1: return std::is_same_v<T, std::uint8_t>;
    case QRT_INT8: return std::is_same_v<T, std::int8_t>;
    case QRT_INT16: return std::is_same_v<T, std::int16_t>;
    case QRT_UINT16:
    case QRT_FLOAT16:
    case QRT_BFLOAT16: return std::is_same_v<T, std::uint16_t>;
    case QRT_INT32: return std::is_same_v<T, std::int32_t>;
    case QRT_UINT32: return std::is_same_v<T, std::uint32_t>;
    case QRT_INT64: return std::is_same_v<T, std::int64_t>;
    case QRT_FLOAT32: return std::is_same_v<T, float>;
  }
  return false;
}

template <class T>
void check_type(const qrt_tensor_info& info) {
  if (!fits<T>(info.dtype)) {
    throw Error(QRT_INVALID_ARGUMENT, std::string("'") + info.name + "' holds " +
                                          qrt_dtype_name(info.dtype) +
                                          ", another type was asked for");
  }
}

// External ones have no memory until they are bound.
template <class T>
T* check_memory(T* data, const qrt_tensor_info& info) {
  if (data == nullptr) {
    throw Error(QRT_INVALID_ARGUMENT,
                std::string("'") + info.name + "' is external and has no memory: bind it");
  }
  return data;
}

struct Deleter {
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
  void operator()(qrt_pool* pool) const { qrt_pool_destroy(pool); }
};

// Of a model or a session.
template <class Handle>
qrt_tensor_info tensor_info(qrt_status (*get)(const Handle*, std::size_t, qrt_tensor_info*),
                            const Handle* handle, std::size_t i, const char* message) {
  qrt_tensor_info info{};
  qrt_tensor_info_init(&info);
  check(get(handle, i, &info), message);
  return info;
}

}  // namespace detail

struct LoadOptions : qrt_load_options {
  LoadOptions() { qrt_load_options_init(this); }
};

// Movable. May be used by several threads at once.
class Model {
 public:
  static Model load_file(const std::string& path, const LoadOptions& options = LoadOptions()) {
    qrt_model* model = nullptr;
    qrt_error error{};
    detail::check(qrt_model_load_file_with(path.c_str(), &options, &model, &error), error.message);
    return Model(model);
  }
  static Model load_memory(const void* data, std::size_t size, unsigned flags = 0) {
    qrt_model* model = nullptr;
    qrt_error error{};
    detail::check(qrt_model_load_memory(data, size, flags, &model, &error), error.message);
    return Model(model);
  }

  static Model load_memory(const void* data, std::size_t size, const LoadOptions& options) {
    qrt_model* model = nullptr;
    qrt_error error{};
    detail::check(qrt_model_load_memory_with(data, size, &options, &model, &error), error.message);
    return Model(model);
  }

  // Of an open file; see qrt_model_load_fd().
  static Model load_fd(int fd, std::uint64_t offset = 0, std::uint64_t length = 0,
                       const LoadOptions& options = LoadOptions()) {
    qrt_model* model = nullptr;
    qrt_error error{};
    detail::check(qrt_model_load_fd(fd, offset, length, &options, &model, &error), error.message);
    return Model(model);
  }

  std::size_t input_count() const { return qrt_model_input_count(get()); }
  std::size_t output_count() const { return qrt_model_output_count(get()); }
  qrt_tensor_info input_info(std::size_t i) const {
    return detail::tensor_info(qrt_model_input_info, get(), i, "no such input");
  }
  qrt_tensor_info output_info(std::size_t i) const {
    return detail::tensor_info(qrt_model_output_info, get(), i, "no such output");
  }
  std::size_t default_batch() const { return qrt_model_default_batch(get()); }
  std::optional<std::string_view> metadata(const char* key) const {
    const char* value = qrt_model_metadata(get(), key);
    if (value == nullptr) return std::nullopt;
    return value;
  }
  // The first of that name.
  std::optional<std::size_t> find_input(const char* name) const {
    return index(qrt_model_find_input(get(), name));
  }
  std::optional<std::size_t> find_output(const char* name) const {
    return index(qrt_model_find_output(get(), name));
  }
  int level() const { return qrt_model_level(get()); }

  qrt_model* get() const { return handle_.get(); }

 private:
  explicit Model(qrt_model* model) : handle_(model) {}
  static std::optional<std::size_t> index(std::size_t found) {
    if (found == SIZE_MAX) return std::nullopt;
    return found;
  }
  std::unique_ptr<qrt_model, detail::Deleter> handle_;
};

// Threads that sessions share: options.pool = pool.get(). Movable. May be used by several threads at
// once, and destroyed before its sessions.
class Pool {
 public:
  explicit Pool(std::size_t threads) {
    qrt_pool* pool = nullptr;
    qrt_error error{};
    detail::check(qrt_pool_create(threads, &pool, &error), error.message);
    handle_.reset(pool);
  }
  std::size_t threads() const { return qrt_pool_threads(get()); }
  qrt_pool* get() const { return handle_.get(); }

 private:
  std::unique_ptr<qrt_pool, detail::Deleter> handle_;
};

struct SessionOptions : qrt_session_options {
  SessionOptions() { qrt_session_options_init(this); }
};

// Movable. One thread at a time. May outlive its model.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = SessionOptions()) {
    qrt_session* session = nullptr;
    qrt_error error{};
    detail::check(qrt_session_create(model.get(), &options, &session, &error), error.message);
    handle_.reset(session);
  }

  // What a session with these options would hold, without making it.
  static std::size_t needed_memory(const Model& model,
                                   const SessionOptions& options = SessionOptions()) {
    std::size_t bytes = 0;
    qrt_error error{};
    detail::check(qrt_session_needed_memory(model.get(), &options, &bytes, &error), error.message);
    return bytes;
  }

  qrt_tensor_info input_info(std::size_t i) const {
    return detail::tensor_info<qrt_session>(qrt_session_input_info, get(), i, "no such input");
  }
  qrt_tensor_info output_info(std::size_t i) const {
    return detail::tensor_info<qrt_session>(qrt_session_output_info, get(), i, "no such output");
  }

  void set_input(std::size_t i, const void* data, std::size_t bytes) {
    qrt_error error{};
    detail::check(qrt_session_set_input(get(), i, data, bytes, &error), error.message);
  }
  void get_output(std::size_t i, void* data, std::size_t bytes) const {
    qrt_error error{};
    detail::check(qrt_session_get_output(get(), i, data, bytes, &error), error.message);
  }

  // The caller's memory instead of the session's, from the next run on; nullptr: the session's again.
  // What it has to be like, and how long it stays, says qrt_session_bind_input().
  void bind_input(std::size_t i, const void* data, std::size_t capacity) {
    qrt_error error{};
    detail::check(qrt_session_bind_input(get(), i, data, capacity, &error), error.message);
  }
  void bind_output(std::size_t i, void* data, std::size_t capacity) {
    qrt_error error{};
    detail::check(qrt_session_bind_output(get(), i, data, capacity, &error), error.message);
  }

  // The buffer of input i, the session's own or the one that is bound; T must be its element type.
  template <class T>
  Span<T> input(std::size_t i) {
    const qrt_tensor_info info = input_info(i);
    detail::check_type<T>(info);
    void* data = detail::check_memory(qrt_session_input_data(get(), i), info);
    return {static_cast<T*>(data), info.bytes / sizeof(T)};
  }
  template <class T>
  Span<const T> output(std::size_t i) const {
    const qrt_tensor_info info = output_info(i);
    detail::check_type<T>(info);
    const void* data = detail::check_memory(qrt_session_output_data(get(), i), info);
    return {static_cast<const T*>(data), info.bytes / sizeof(T)};
  }

  void run() {
    const qrt_status status = qrt_session_run(get());
    detail::check(status,
                  status == QRT_INVALID_ARGUMENT
                      ? "no session, or a buffer is not bound, or an output's overlaps another"
                      : nullptr);
  }

  // From another thread: the run in progress, or the next one, throws Error of QRT_CANCELLED.
  void cancel() { qrt_session_cancel(get()); }

  // What the model keeps between runs takes its initial value again.
  void reset() { detail::check(qrt_session_reset(get()), nullptr); }

  std::size_t memory() const { return qrt_session_memory(get()); }
  std::size_t threads() const { return qrt_session_threads(get()); }
  std::size_t op_count() const { return qrt_session_op_count(get()); }
  qrt_op_info op_info(std::size_t i) const {
    qrt_op_info info{};
    qrt_op_info_init(&info);
    detail::check(qrt_session_op_info(get(), i, &info), "no such operator");
    return info;
  }
  void profile_reset() { qrt_session_profile_reset(get()); }

  qrt_session* get() const { return handle_.get(); }

 private:
  std::unique_ptr<qrt_session, detail::Deleter> handle_;
};

}  // namespace api
}  // namespace qrt

#endif  // QRT_QRT_HPP_
