// SPDX-License-Identifier: Apache-2.0
// qrt for C++17: owning handles, typed spans and errors over qrt.h, header only. Adds no behaviour; what
// a function does is said in qrt.h.
//
//   const qrt::Model model = qrt::Model::load_file("model.qrt");
//   qrt::Session session(model);
//   session.set_input("image", pixels);  // a vector, an array, a span
//   session.run();
//   for (float p : session.output<float>("scores")) ...
//
// Inputs and outputs are named by their index or by their name. Failures throw qrt::Error. Every function
// that can fail has a form that returns a qrt::Outcome instead, called try_...; programs without
// exceptions (-fno-exceptions) have these alone:
//
//   qrt::Model model;
//   if (qrt::Outcome s = qrt::Model::try_load_file("model.qrt", &model); !s.ok()) puts(s.message());
#ifndef QRT_QRT_HPP_
#define QRT_QRT_HPP_

#include <qrt/qrt.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define QRT_HAS_EXCEPTIONS 1
#else
#define QRT_HAS_EXCEPTIONS 0
#endif

namespace qrt {
inline namespace api {

// The outcome of a call that does not throw.
class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(qrt_status code, const char* message) : code_(code) {
    std::snprintf(error_.message, sizeof error_.message, "%s",
                  message[0] != '\0' || code == QRT_OK ? message : qrt_status_name(code));
  }
  bool ok() const { return code_ == QRT_OK; }
  qrt_status code() const { return code_; }
  // "" or a warning where ok().
  const char* message() const { return error_.message; }

 private:
  qrt_status code_ = QRT_OK;
  qrt_error error_{};
};

#if QRT_HAS_EXCEPTIONS
class Error : public std::runtime_error {
 public:
  Error(qrt_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  qrt_status status() const { return status_; }

 private:
  qrt_status status_;
};
#endif

// Elements in the memory of others. Converts to std::span.
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
#ifdef __cpp_lib_span
  operator std::span<T>() const { return {data_, size_}; }
#endif

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// An input, an output or a state: its index, or the name of the first that has it.
class Key {
 public:
  template <class Index, class = std::enable_if_t<std::is_integral_v<Index>>>
  Key(Index index) : index_(static_cast<std::size_t>(index)) {}
  Key(const char* name) : name_(name) {}
  Key(const std::string& name) : name_(name.c_str()) {}
  const char* name() const { return name_; }  // nullptr: by index
  std::size_t index() const { return index_; }

 private:
  const char* name_ = nullptr;
  std::size_t index_ = 0;
};

namespace detail {

// Calls a function of qrt.h that takes a qrt_error last.
template <class Function, class... Arguments>
Outcome call(Function function, Arguments... arguments) {
  qrt_error error{};
  const qrt_status code = function(arguments..., &error);
  return Outcome(code, error.message);
}

#if QRT_HAS_EXCEPTIONS
inline void check(const Outcome& status) {
  if (!status.ok()) throw Error(status.code(), status.message());
}
#endif

// Returns whether T is how elements of `dtype` are read. 16-bit floats are read as uint16_t, bools,
// float8 and packed elements as bytes.
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
Outcome check_type(const qrt_tensor_info& info) {
  if (fits<T>(info.dtype)) return {};
  const std::string message = std::string("'") + info.name + "' holds " +
                              qrt_dtype_name(info.dtype) + ", another type was asked for";
  return Outcome(QRT_INVALID_ARGUMENT, message.c_str());
}

// Sets *span to the tensor's memory; an external tensor has none until it is bound.
template <class T, class Void>
Outcome span_of(const qrt_tensor_info& info, Void* data, Span<T>* span) {
  Outcome status = check_type<std::remove_const_t<T>>(info);
  if (!status.ok()) return status;
  if (data == nullptr) {
    const std::string message =
        std::string("'") + info.name + "' is external and has no memory: bind it";
    return Outcome(QRT_INVALID_ARGUMENT, message.c_str());
  }
  *span = {static_cast<T*>(data), info.bytes / sizeof(T)};
  return {};
}

struct Deleter {
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
  void operator()(qrt_pool* pool) const { qrt_pool_destroy(pool); }
};

template <class Info>
Info empty_info() {
  Info info{};
  qrt_struct_init(&info);
  return info;
}

// The inputs or outputs of a model or a session, or its states, and what messages call them.
template <class Handle>
struct Ends {
  qrt_status (*get)(const Handle*, std::size_t, qrt_tensor_info*);
  const Handle* handle;
  const char* role;

  Outcome find(const Key& key, std::size_t* index, qrt_tensor_info* info) const {
    *info = empty_info<qrt_tensor_info>();
    *index = key.index();
    if (key.name() == nullptr) {
      if (get(handle, *index, info) == QRT_OK) return {};
      const std::string message = std::string("no such ") + role + ": " + std::to_string(*index);
      return Outcome(QRT_INVALID_ARGUMENT, message.c_str());
    }
    for (*index = 0; get(handle, *index, info) == QRT_OK; ++*index)
      if (std::strcmp(info->name, key.name()) == 0) return {};
    const std::string message = std::string("no ") + role + " is called '" + key.name() + "'";
    return Outcome(QRT_INVALID_ARGUMENT, message.c_str());
  }
#if QRT_HAS_EXCEPTIONS
  qrt_tensor_info info(const Key& key) const {
    std::size_t index;
    qrt_tensor_info info;
    check(find(key, &index, &info));
    return info;
  }
#endif
};

}  // namespace detail

struct LoadOptions : qrt_load_options {
  LoadOptions(unsigned with_flags = 0) : qrt_load_options(detail::empty_info<qrt_load_options>()) {
    flags = with_flags;
  }
};

// Movable. May be used by several threads at once.
class Model {
 public:
  Model() = default;  // none, until a try_load_...() puts one there

  static Outcome try_load_file(const std::string& path, Model* model,
                               const LoadOptions& options = LoadOptions()) {
    return model->take([&](auto... out) {
      return detail::call(qrt_model_load_file, path.c_str(), &options, out...);
    });
  }
  static Outcome try_load_memory(const void* data, std::size_t size, Model* model,
                                 const LoadOptions& options = LoadOptions()) {
    return model->take([&](auto... out) {
      return detail::call(qrt_model_load_memory, data, size, &options, out...);
    });
  }
  // Loads from an open file; see qrt_model_load_fd().
  static Outcome try_load_fd(int fd, std::uint64_t offset, std::uint64_t length, Model* model,
                             const LoadOptions& options = LoadOptions()) {
    return model->take([&](auto... out) {
      return detail::call(qrt_model_load_fd, fd, offset, length, &options, out...);
    });
  }

  std::size_t input_count() const { return qrt_model_input_count(get()); }
  std::size_t output_count() const { return qrt_model_output_count(get()); }
  qrt_model_info info() const {
    auto info = detail::empty_info<qrt_model_info>();
    (void)qrt_model_get_info(get(), &info);
    return info;
  }
  Outcome try_input_info(const Key& key, qrt_tensor_info* info) const {
    std::size_t index;
    return inputs().find(key, &index, info);
  }
  Outcome try_output_info(const Key& key, qrt_tensor_info* info) const {
    std::size_t index;
    return outputs().find(key, &index, info);
  }
  std::optional<std::string_view> metadata(const char* key) const {
    const char* value = qrt_model_metadata(get(), key);
    if (value == nullptr) return std::nullopt;
    return value;
  }
  // Dimensions that the model leaves open.
  std::size_t dim_count() const { return qrt_model_dim_count(get()); }
  Outcome try_dim_info(std::size_t i, qrt_dim_info* info) const {
    *info = detail::empty_info<qrt_dim_info>();
    return Outcome(qrt_model_dim_info(get(), i, info), "no such dimension");
  }
  // The first of that name.
  std::optional<std::size_t> find_input(const char* name) const {
    return index(qrt_model_find_input(get(), name));
  }
  std::optional<std::size_t> find_output(const char* name) const {
    return index(qrt_model_find_output(get(), name));
  }

#if QRT_HAS_EXCEPTIONS
  static Model load_file(const std::string& path, const LoadOptions& options = LoadOptions()) {
    Model model;
    detail::check(try_load_file(path, &model, options));
    return model;
  }
  static Model load_memory(const void* data, std::size_t size,
                           const LoadOptions& options = LoadOptions()) {
    Model model;
    detail::check(try_load_memory(data, size, &model, options));
    return model;
  }
  static Model load_fd(int fd, std::uint64_t offset = 0, std::uint64_t length = 0,
                       const LoadOptions& options = LoadOptions()) {
    Model model;
    detail::check(try_load_fd(fd, offset, length, &model, options));
    return model;
  }
  qrt_tensor_info input_info(const Key& key) const { return inputs().info(key); }
  qrt_tensor_info output_info(const Key& key) const { return outputs().info(key); }
  qrt_dim_info dim_info(std::size_t i) const {
    qrt_dim_info info;
    detail::check(try_dim_info(i, &info));
    return info;
  }
#endif

  qrt_model* get() const { return handle_.get(); }

 private:
  template <class Load>
  Outcome take(const Load& load) {
    qrt_model* model = nullptr;
    Outcome status = load(&model);
    handle_.reset(model);
    return status;
  }
  detail::Ends<qrt_model> inputs() const { return {qrt_model_input_info, get(), "input"}; }
  detail::Ends<qrt_model> outputs() const { return {qrt_model_output_info, get(), "output"}; }
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
  Pool() = default;  // none, until try_create() puts one there
  static Outcome try_create(std::size_t threads, Pool* pool) {
    qrt_pool* created = nullptr;
    Outcome status = detail::call(qrt_pool_create, threads, &created);
    pool->handle_.reset(created);
    return status;
  }
#if QRT_HAS_EXCEPTIONS
  explicit Pool(std::size_t threads) { detail::check(try_create(threads, this)); }
#endif
  std::size_t threads() const { return qrt_pool_threads(get()); }
  qrt_pool* get() const { return handle_.get(); }

 private:
  std::unique_ptr<qrt_pool, detail::Deleter> handle_;
};

struct SessionOptions : qrt_session_options {
  SessionOptions() : qrt_session_options(detail::empty_info<qrt_session_options>()) {}
};

// Movable. One thread at a time. May outlive its model.
class Session {
 public:
  Session() = default;  // none, until try_create() puts one there
  static Outcome try_create(const Model& model, Session* session,
                            const SessionOptions& options = SessionOptions()) {
    qrt_session* created = nullptr;
    Outcome status = detail::call(qrt_session_create, model.get(), &options, &created);
    session->handle_.reset(created);
    return status;
  }

  // Tells what a session with these options would be and hold, without making it.
  static Outcome try_needed_memory(const Model& model, qrt_session_info* info,
                                   const SessionOptions& options = SessionOptions()) {
    *info = detail::empty_info<qrt_session_info>();
    return detail::call(qrt_session_needed_memory, model.get(), &options, info);
  }

  Outcome try_input_info(const Key& key, qrt_tensor_info* info) const {
    std::size_t index;
    return inputs().find(key, &index, info);
  }
  Outcome try_output_info(const Key& key, qrt_tensor_info* info) const {
    std::size_t index;
    return outputs().find(key, &index, info);
  }
  qrt_session_info info() const {
    auto info = detail::empty_info<qrt_session_info>();
    (void)qrt_session_get_info(get(), &info);
    return info;
  }

  // Elements of the input's type: what has data() and size(), such as std::vector, std::span and Span.
  template <class Values>
  Outcome try_set_input(const Key& key, const Values& values) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(values.data())>>;
    std::size_t index;
    qrt_tensor_info info;
    Outcome status = inputs().find(key, &index, &info);
    if (status.ok()) status = detail::check_type<T>(info);
    if (!status.ok()) return status;
    return detail::call(qrt_session_set_input_bytes, get(), index,
                        static_cast<const void*>(values.data()), values.size() * sizeof(T));
  }
  template <class Values>
  Outcome try_get_output(const Key& key, Values&& values) const {
    using T = std::remove_pointer_t<decltype(values.data())>;
    std::size_t index;
    qrt_tensor_info info;
    Outcome status = outputs().find(key, &index, &info);
    if (status.ok()) status = detail::check_type<T>(info);
    if (!status.ok()) return status;
    return detail::call(qrt_session_get_output_bytes, get(), index,
                        static_cast<void*>(values.data()), values.size() * sizeof(T));
  }
  Outcome try_set_input_bytes(const Key& key, const void* data, std::size_t bytes) {
    return at(inputs(), key, [&](std::size_t i) {
      return detail::call(qrt_session_set_input_bytes, get(), i, data, bytes);
    });
  }
  Outcome try_get_output_bytes(const Key& key, void* data, std::size_t bytes) const {
    return at(outputs(), key, [&](std::size_t i) {
      return detail::call(qrt_session_get_output_bytes, get(), i, data, bytes);
    });
  }

  // Binds the caller's memory instead of the session's, from the next run on; nullptr: the session's
  // again. qrt_session_bind_input() says what it has to be like, and how long it stays.
  Outcome try_bind_input(const Key& key, const void* data, std::size_t capacity) {
    return at(inputs(), key, [&](std::size_t i) {
      return detail::call(qrt_session_bind_input, get(), i, data, capacity);
    });
  }
  Outcome try_bind_output(const Key& key, void* data, std::size_t capacity) {
    return at(outputs(), key, [&](std::size_t i) {
      return detail::call(qrt_session_bind_output, get(), i, data, capacity);
    });
  }

  // Sets *span to the buffer of an input, the session's own or the one that is bound; T must be its
  // element type.
  template <class T>
  Outcome try_input(const Key& key, Span<T>* span) {
    std::size_t index;
    qrt_tensor_info info;
    Outcome status = inputs().find(key, &index, &info);
    if (!status.ok()) return status;
    return detail::span_of(info, qrt_session_input_data(get(), index), span);
  }
  template <class T>
  Outcome try_output(const Key& key, Span<const T>* span) const {
    std::size_t index;
    qrt_tensor_info info;
    Outcome status = outputs().find(key, &index, &info);
    if (!status.ok()) return status;
    return detail::span_of(info, qrt_session_output_data(get(), index), span);
  }
  // Returns how many entries of an output the last run has filled (qrt_session_output_count()); 0 where there is no such output.
  std::size_t output_count(const Key& key) const {
    std::size_t index;
    qrt_tensor_info info;
    if (!outputs().find(key, &index, &info).ok()) return 0;
    return qrt_session_output_count(get(), index);
  }

  // Goes on at other sizes of open dimensions: {{"seq", 17}}. Spans and infos are no longer valid.
  Outcome try_reshape(const qrt_dim* dims, std::size_t count) {
    return detail::call(qrt_session_reshape, get(), dims, count);
  }
  Outcome try_reshape(std::initializer_list<qrt_dim> dims) {
    return try_reshape(dims.begin(), dims.size());
  }

  Outcome try_run() { return detail::call(qrt_session_run, get()); }

  // Cancels, from another thread, the run in progress, or the next one: it ends with QRT_CANCELLED.
  void cancel() { qrt_session_cancel(get()); }

  // Gives everything that the model keeps between runs its initial value again.
  void reset() { (void)qrt_session_reset(get()); }

  // Give the tensors that the model keeps between runs; see qrt_session_get_state().
  std::size_t state_count() const { return qrt_session_state_count(get()); }
  Outcome try_state_info(const Key& key, qrt_tensor_info* info) const {
    std::size_t index;
    return states().find(key, &index, info);
  }
  Outcome try_get_state(const Key& key, void* data, std::size_t bytes) const {
    return at(states(), key, [&](std::size_t i) {
      return detail::call(qrt_session_get_state, get(), i, data, bytes);
    });
  }
  Outcome try_set_state(const Key& key, const void* data, std::size_t bytes) {
    return at(states(), key, [&](std::size_t i) {
      return detail::call(qrt_session_set_state, get(), i, data, bytes);
    });
  }

  std::size_t op_count() const { return qrt_session_op_count(get()); }
  Outcome try_op_info(std::size_t i, qrt_op_info* info) const {
    *info = detail::empty_info<qrt_op_info>();
    return Outcome(qrt_session_op_info(get(), i, info), "no such operator");
  }
  void profile_reset() { qrt_session_profile_reset(get()); }

#if QRT_HAS_EXCEPTIONS
  explicit Session(const Model& model, const SessionOptions& options = SessionOptions()) {
    detail::check(try_create(model, this, options));
  }
  static qrt_session_info needed_memory(const Model& model,
                                        const SessionOptions& options = SessionOptions()) {
    qrt_session_info info;
    detail::check(try_needed_memory(model, &info, options));
    return info;
  }
  qrt_tensor_info input_info(const Key& key) const { return inputs().info(key); }
  qrt_tensor_info output_info(const Key& key) const { return outputs().info(key); }
  template <class Values>
  void set_input(const Key& key, const Values& values) {
    detail::check(try_set_input(key, values));
  }
  template <class Values>
  void get_output(const Key& key, Values&& values) const {
    detail::check(try_get_output(key, values));
  }
  void set_input_bytes(const Key& key, const void* data, std::size_t bytes) {
    detail::check(try_set_input_bytes(key, data, bytes));
  }
  void get_output_bytes(const Key& key, void* data, std::size_t bytes) const {
    detail::check(try_get_output_bytes(key, data, bytes));
  }
  void bind_input(const Key& key, const void* data, std::size_t capacity) {
    detail::check(try_bind_input(key, data, capacity));
  }
  void bind_output(const Key& key, void* data, std::size_t capacity) {
    detail::check(try_bind_output(key, data, capacity));
  }
  template <class T>
  Span<T> input(const Key& key) {
    Span<T> span;
    detail::check(try_input(key, &span));
    return span;
  }
  template <class T>
  Span<const T> output(const Key& key) const {
    Span<const T> span;
    detail::check(try_output(key, &span));
    return span;
  }
  void reshape(const qrt_dim* dims, std::size_t count) { detail::check(try_reshape(dims, count)); }
  void reshape(std::initializer_list<qrt_dim> dims) { detail::check(try_reshape(dims)); }
  void run() { detail::check(try_run()); }
  qrt_tensor_info state_info(const Key& key) const { return states().info(key); }
  void get_state(const Key& key, void* data, std::size_t bytes) const {
    detail::check(try_get_state(key, data, bytes));
  }
  void set_state(const Key& key, const void* data, std::size_t bytes) {
    detail::check(try_set_state(key, data, bytes));
  }
  qrt_op_info op_info(std::size_t i) const {
    qrt_op_info info;
    detail::check(try_op_info(i, &info));
    return info;
  }
#endif

  qrt_session* get() const { return handle_.get(); }

 private:
  detail::Ends<qrt_session> inputs() const { return {qrt_session_input_info, get(), "input"}; }
  detail::Ends<qrt_session> outputs() const { return {qrt_session_output_info, get(), "output"}; }
  detail::Ends<qrt_session> states() const { return {qrt_session_state_info, get(), "state"}; }
  template <class Use>
  static Outcome at(const detail::Ends<qrt_session>& ends, const Key& key, const Use& use) {
    std::size_t index;
    qrt_tensor_info info;
    Outcome status = ends.find(key, &index, &info);
    return status.ok() ? use(index) : status;
  }
  std::unique_ptr<qrt_session, detail::Deleter> handle_;
};

}  // namespace api
}  // namespace qrt

#endif  // QRT_QRT_HPP_
