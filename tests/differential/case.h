// SPDX-License-Identifier: Apache-2.0
// One way to run a model, through the C API as a program calls it.
#ifndef QRT_TESTS_DIFFERENTIAL_CASE_H_
#define QRT_TESTS_DIFFERENTIAL_CASE_H_

#include <qrt/qrt.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/differential/float_mode.h"

namespace qrt::differential {

using Bytes = std::vector<uint8_t>;

// The calls that a program makes, each of which finds a floating-point state of its own.
enum Call { kLoad, kCreate, kBind, kRun, kReset, kCallCount };
const char* call_name(Call call);

struct Case {
  const char* isa = "scalar";
  size_t threads = 1;
  FloatMode modes[kCallCount];
  bool binds = true;  // the caller's memory as inputs and outputs; else copies in and out
};
std::string describe(const Case& c);

// Ends the process with a message, which names the model and where its file was written.
[[noreturn]] void failed(const std::string& message);
// Sets the model that messages name.
void set_current_model(const std::string& name, const Bytes* file);

struct DeleteHandle {
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
  void operator()(qrt_pool* pool) const { qrt_pool_destroy(pool); }
};
using ModelPtr = std::unique_ptr<qrt_model, DeleteHandle>;
using SessionPtr = std::unique_ptr<qrt_session, DeleteHandle>;
using PoolPtr = std::unique_ptr<qrt_pool, DeleteHandle>;

// Loads a model; null where it is refused.
ModelPtr load(const Bytes& file, const FloatMode& mode);

SessionPtr create(const qrt_model* model, const char* isa, size_t threads, const FloatMode& mode,
                  qrt_pool* pool = nullptr);

// Buffers with what the library may read behind them.
class Buffers {
 public:
  explicit Buffers(const std::vector<size_t>& sizes);
  uint8_t* at(size_t i) { return start_[i]; }
  size_t size(size_t i) const { return sizes_[i]; }
  size_t count() const { return sizes_.size(); }
  static size_t capacity(size_t size) { return size + QRT_BUFFER_PADDING; }

 private:
  std::vector<size_t> sizes_;
  std::vector<Bytes> memory_;
  std::vector<uint8_t*> start_;
};

// Returns random inputs of a session, which depend on the seed alone; outputs are 0.
Buffers make_inputs(const qrt_session* session, uint64_t seed);
Buffers make_outputs(const qrt_session* session);

// Runs with copied inputs, and returns the outputs one behind the other.
Bytes run_with_copies(qrt_session* session, const FloatMode& mode, Buffers* inputs);

// The results of a model: the outputs of a run, of a second one, and of one after qrt_session_reset(), one
// behind the other, and what the session says of its memory.
struct Result {
  Bytes outputs;
  size_t memory = 0, needed_memory = 0;
};
Result run_case(const Bytes& file, const Case& c, uint64_t seed);

// Returns whether runs of the model take milliseconds and megabytes at most.
bool is_small(const qrt_model* model);

}  // namespace qrt::differential

#endif  // QRT_TESTS_DIFFERENTIAL_CASE_H_
