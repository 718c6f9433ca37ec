// SPDX-License-Identifier: Apache-2.0
// Status and Result: how qrt reports errors. A success costs one null pointer. Nothing throws.
#ifndef QRT_RUNTIME_STATUS_H_
#define QRT_RUNTIME_STATUS_H_

#include <memory>
#include <string>
#include <utility>

namespace qrt {

// Values equal qrt_status in runtime/include/qrt/qrt.h.
enum class Code : int {
  kOk = 0,
  kInvalidArgument = 1,  // the caller's mistake
  kInvalidModel = 2,     // the bytes are not a model qrt can trust
  kUnsupported = 3,      // valid, but this build cannot run it
  kOutOfMemory = 4,
  kIoError = 5,
  kInternal = 6,  // a bug of qrt
  kCancelled = 7,
  kOutOfRange = 8,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : state_(new State{code, std::move(message)}) {}
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;

  bool ok() const { return state_ == nullptr; }
  Code code() const { return state_ ? state_->code : Code::kOk; }
  const char* message() const { return state_ ? state_->message.c_str() : ""; }

  // Returns the status with "where: " before its message.
  Status at(const std::string& where) && {
    if (state_) state_->message = where + ": " + state_->message;
    return std::move(*this);
  }

 private:
  struct State {
    Code code;
    std::string message;
  };
  std::unique_ptr<State> state_;
};

#if defined(__MINGW32__)  // whose "printf" is that of msvcrt.dll, without %zu
#define QRT_PRINTF gnu_printf
#else
#define QRT_PRINTF printf
#endif

// printf-style message.
Status error(Code code, const char* format, ...) __attribute__((format(QRT_PRINTF, 2, 3)));

#undef QRT_PRINTF

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return status_.ok(); }
  Status& status() { return status_; }
  T& value() { return value_; }
  T& operator*() { return value_; }
  T* operator->() { return &value_; }

 private:
  Status status_;
  T value_{};
};

}  // namespace qrt

#define QRT_TRY(expression)                            \
  do {                                                 \
    ::qrt::Status qrt_try_status_ = (expression);      \
    if (!qrt_try_status_.ok()) return qrt_try_status_; \
  } while (0)

// Rejects a model: returns kInvalidModel with a printf-style message unless the condition holds.
#define QRT_MODEL_CHECK(condition, ...)                                             \
  do {                                                                              \
    if (!(condition)) return ::qrt::error(::qrt::Code::kInvalidModel, __VA_ARGS__); \
  } while (0)

// Checks that what follows from a caller's sizes is not too large, as QRT_MODEL_CHECK checks what a file says.
#define QRT_SIZE_CHECK(condition, ...)                                             \
  do {                                                                             \
    if (!(condition)) return ::qrt::error(::qrt::Code::kOutOfMemory, __VA_ARGS__); \
  } while (0)

#endif  // QRT_RUNTIME_STATUS_H_
