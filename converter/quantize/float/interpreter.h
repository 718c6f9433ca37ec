// SPDX-License-Identifier: Apache-2.0
// Runs a float model: the same bits on every CPU, instruction set, compiler and number of threads.
// Sums of products are those of gemm.h, functions those of kernels/float_fallback. An operator is
// within 1e-5 of ONNX Runtime's, relative to the greatest element of its result.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_INTERPRETER_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_INTERPRETER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "runtime/status.h"

namespace qrt::quantize {

class Interpreter {
 public:
  // Sees every value that a node writes, once, in the order of execution; the reference is good
  // during the call.
  using Observer = std::function<void(const std::string& name, const Tensor& value)>;

  Interpreter();
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Prepares a model, which is copied as far as it is needed. threads >= 1. isa: the best
  // instruction set to use, null: the environment's QRT_ISA, or this CPU's.
  Status create(const FloatModel& model, int threads, const char* isa = nullptr);

  // Runs the model. feeds: every input of the model. outputs: by name, null where only the observer
  // matters. Fails with kInvalidArgument for feeds that are missing or of another type or shape;
  // kUnsupported or kInvalidModel where a node cannot be run on what it got; kOutOfMemory.
  Status run(const std::map<std::string, Tensor>& feeds, const Observer& observer,
             std::map<std::string, Tensor>* outputs);

  // Runs the model for the shapes of its values, and the elements of those that `exact` names: the others may be zeros.
  Status run_shapes(const std::map<std::string, Tensor>& feeds, const std::set<std::string>& exact,
                    const Observer& observer);

  // Runs one node on given inputs (null: absent), constants among them, on the calling thread
  // alone. Several threads may call it at once.
  Status run_node(const Node& node, const std::vector<const Tensor*>& inputs,
                  std::vector<Tensor>* outputs) const;

 private:
  struct Impl;
  Status run(const std::map<std::string, Tensor>& feeds, const std::set<std::string>* exact,
             const Observer& observer, std::map<std::string, Tensor>* outputs);

  std::unique_ptr<Impl> impl_;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_INTERPRETER_H_
