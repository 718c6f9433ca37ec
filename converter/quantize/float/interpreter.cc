// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/interpreter.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>

#include "converter/quantize/float/operators.h"
#include "runtime/allowed_isas.h"
#include "runtime/pool.h"

namespace qrt::quantize {

struct Interpreter::Impl {
  struct PreparedNode {
    Node node;
    Operator run;
    std::vector<int> inputs, outputs;  // values; -1: absent
    std::vector<int> last_uses;        // values that nothing reads behind this node
  };

  // Returns a machine for one node on the calling thread. Machines that are not in use keep their memory for
  // the next one; thread_local ones would end the program where the system has no memory to register them.
  std::unique_ptr<Machine> idle_machine() {
    {
      const std::lock_guard<std::mutex> lock(idle_mutex);
      if (!idle.empty()) {
        std::unique_ptr<Machine> machine = std::move(idle.back());
        idle.pop_back();
        return machine;
      }
    }
    auto made = std::make_unique<Machine>();
    made->gemm = machine.gemm;
    made->math = machine.math;
    made->limits = machine.limits;
    made->constants = machine.constants;
    return made;
  }

  // The result takes the place of operand 0 where nobody needs that any more.
  static bool reuse_operand(const PreparedNode& step, std::vector<Tensor>* made,
                            std::vector<const Tensor*>* inputs, std::vector<Tensor>* results) {
    if (inputs->empty() || (*inputs)[0] == nullptr || !(*inputs)[0]->is_real() ||
        std::count(step.last_uses.begin(), step.last_uses.end(), step.inputs[0]) == 0 ||
        !works_in_place(step.run, *inputs))
      return false;
    Tensor* operand = &(*made)[static_cast<size_t>(step.inputs[0])];
    // Not ours to overwrite: the caller's, or a constant.
    if (operand != (*inputs)[0]) return false;
    (*results)[0] = std::move(*operand);
    std::replace(inputs->begin(), inputs->end(), static_cast<const Tensor*>(operand),
                 static_cast<const Tensor*>(&(*results)[0]));
    return true;
  }

  int value(const std::string& name) {
    if (name.empty()) return -1;
    return numbers.emplace(name, static_cast<int>(numbers.size())).first->second;
  }

  Machine machine;
  std::mutex idle_mutex;
  std::vector<std::unique_ptr<Machine>> idle;  // of run_node()
  std::shared_ptr<Pool> pool;                  // null: one thread
  std::vector<Value> inputs, outputs;
  std::map<std::string, Tensor> constants;
  std::unordered_map<std::string, int> numbers;
  std::vector<PreparedNode> steps;
};

Interpreter::Interpreter() = default;
Interpreter::~Interpreter() = default;

namespace {

Status no_float_form(const Node& node) {
  return error(Code::kUnsupported, "%s: no float form: end the model in front of it (--outputs)",
               node.label().c_str());
}

}  // namespace

Status Interpreter::create(const FloatModel& model, int threads, const char* isa) {
  Result<IsaSet> isas = allowed_isas(isa);
  if (!isas.ok()) return std::move(isas.status());
  if (threads < 1 || threads > static_cast<int>(kMaxThreads))
    return error(Code::kInvalidArgument, "%d threads, expected 1 to %zu", threads, kMaxThreads);
  impl_ = std::make_unique<Impl>();
  Impl& m = *impl_;
  m.machine.gemm = select_gemm(*isas);
  m.machine.math = select_float(*isas);
  if (m.machine.math == nullptr)
    return error(Code::kUnsupported, "this build has no float functions (QRT_INTEGER_ONLY)");
  m.machine.parallel.threads = static_cast<size_t>(threads);
  if (threads > 1) {
    Result<std::shared_ptr<Pool>> pool = Pool::create(static_cast<size_t>(threads));
    if (!pool.ok()) return std::move(pool.status());
    m.pool = std::move(*pool);
    m.machine.parallel.team = m.pool->team();
  }
  m.machine.limits = model.limits;
  m.inputs = model.inputs;
  m.outputs = model.outputs;
  m.constants = model.constants;
  m.machine.constants = &m.constants;
  for (const Node& node : model.nodes) {
    Impl::PreparedNode step;
    step.node = node;
    step.run = find_operator(node.domain, node.op);
    if (step.run == nullptr) return no_float_form(node);
    for (const std::string& name : node.inputs) step.inputs.push_back(m.value(name));
    for (const std::string& name : node.outputs) step.outputs.push_back(m.value(name));
    m.steps.push_back(std::move(step));
  }
  std::vector<bool> needed(m.numbers.size() + m.outputs.size(), false);
  for (const Value& v : m.outputs) needed[static_cast<size_t>(m.value(v.name))] = true;
  for (size_t i = m.steps.size(); i-- > 0;)
    for (const std::vector<int>* list : {&m.steps[i].inputs, &m.steps[i].outputs})
      for (int v : *list) {
        if (v < 0 || needed[static_cast<size_t>(v)]) continue;
        needed[static_cast<size_t>(v)] = true;
        m.steps[i].last_uses.push_back(v);
      }
  return Status();
}

namespace {

Status check_feed(const Value& input, const std::map<std::string, Tensor>& feeds,
                  const Tensor** feed) {
  const auto found = feeds.find(input.name);
  if (found == feeds.end())
    return error(Code::kInvalidArgument, "input '%s' has no data", input.name.c_str());
  *feed = &found->second;
  const Tensor& t = found->second;
  bool fits = t.element == input.element && t.shape.size() == input.shape.size();
  for (size_t d = 0; fits && d < t.shape.size(); ++d)
    fits = input.shape[d] < 0 || t.shape[d] == input.shape[d];
  if (fits) return Status();
  return error(Code::kInvalidModel, "input '%s' is %s %s, got %s %s", input.name.c_str(),
               element_name(input.element), to_string(input.shape).c_str(), element_name(t.element),
               to_string(t.shape).c_str());
}

Status run_step(const Node& node, Operator run, const std::vector<const Tensor*>& inputs,
                std::vector<Tensor>* outputs, Machine* machine) {
  Call call(node, inputs, outputs, machine);
  try {
    Status status = run(call);
    return is_made_shape(status) ? Status() : std::move(status);
  } catch (const std::bad_alloc&) {
    return error(Code::kOutOfMemory, "%s: not enough memory", node.label().c_str());
  }
}

}  // namespace

Status Interpreter::run(const std::map<std::string, Tensor>& feeds, const Observer& observer,
                        std::map<std::string, Tensor>* outputs) {
  return run(feeds, nullptr, observer, outputs);
}

Status Interpreter::run_shapes(const std::map<std::string, Tensor>& feeds,
                               const std::set<std::string>& exact, const Observer& observer) {
  return run(feeds, &exact, observer, nullptr);
}

Status Interpreter::run(const std::map<std::string, Tensor>& feeds,
                        const std::set<std::string>* exact, const Observer& observer,
                        std::map<std::string, Tensor>* outputs) {
  Impl& m = *impl_;
  std::vector<const Tensor*> values(m.numbers.size(), nullptr);
  std::vector<Tensor> made(m.numbers.size());
  int64_t alive = 0;  // elements of these
  m.machine.terms_left = m.machine.limits.terms;
  for (const auto& [name, tensor] : m.constants)
    if (const auto found = m.numbers.find(name); found != m.numbers.end())
      values[static_cast<size_t>(found->second)] = &tensor;
  for (const Value& input : m.inputs) {
    const Tensor* feed = nullptr;
    QRT_TRY(check_feed(input, feeds, &feed));
    if (const auto found = m.numbers.find(input.name); found != m.numbers.end())
      values[static_cast<size_t>(found->second)] = feed;
  }
  for (const Impl::PreparedNode& step : m.steps) {
    std::vector<const Tensor*> inputs;
    for (int v : step.inputs) {
      inputs.push_back(v < 0 ? nullptr : values[static_cast<size_t>(v)]);
      if (v >= 0 && inputs.back() == nullptr)
        return error(Code::kInvalidModel, "%s reads '%s', which nothing defines",
                     step.node.label().c_str(), step.node.inputs[inputs.size() - 1].c_str());
    }
    std::vector<Tensor> results(step.outputs.size());
    if (Impl::reuse_operand(step, &made, &inputs, &results)) alive -= results[0].size();
    m.machine.values_left = m.machine.limits.values - alive;
    m.machine.makes_shapes = exact != nullptr && exact->count(step.node.outputs[0]) == 0;
    Status status;
    const auto run = [&] { status = run_step(step.node, step.run, inputs, &results, &m.machine); };
    if (m.pool == nullptr) {
      run();
    } else {
      m.pool->lead(m.machine.parallel.threads, run);
    }
    QRT_TRY(std::move(status));
    for (size_t i = 0; i < results.size(); ++i) {
      if (step.outputs[i] < 0) continue;
      alive += results[i].size();
      const auto v = static_cast<size_t>(step.outputs[i]);
      made[v] = std::move(results[i]);
      values[v] = &made[v];
      if (observer) observer(step.node.outputs[i], made[v]);
    }
    for (int v : step.last_uses) {
      Tensor& gone = made[static_cast<size_t>(v)];
      if (values[static_cast<size_t>(v)] == &gone && !gone.shape.empty()) alive -= gone.size();
      m.machine.buffers.give(std::move(gone.reals));
      gone = Tensor();
    }
  }
  if (outputs != nullptr) outputs->clear();
  for (const Value& output : m.outputs) {
    const auto v = static_cast<size_t>(m.numbers.at(output.name));
    if (values[v] == nullptr)
      return error(Code::kInvalidModel, "output '%s' is written by no node", output.name.c_str());
    if (outputs != nullptr) (*outputs)[output.name] = *values[v];
  }
  for (Tensor& t : made) m.machine.buffers.give(std::move(t.reals));
  return Status();
}

Status Interpreter::run_node(const Node& node, const std::vector<const Tensor*>& inputs,
                             std::vector<Tensor>* outputs) const {
  const Operator run = find_operator(node.domain, node.op);
  if (run == nullptr) return no_float_form(node);
  std::unique_ptr<Machine> machine = impl_->idle_machine();
  machine->terms_left = machine->limits.terms;
  machine->values_left = machine->limits.values;
  outputs->clear();
  outputs->resize(node.outputs.size());
  Status status = run_step(node, run, inputs, outputs, machine.get());
  const std::lock_guard<std::mutex> lock(impl_->idle_mutex);
  impl_->idle.push_back(std::move(machine));
  return status;
}

}  // namespace qrt::quantize
