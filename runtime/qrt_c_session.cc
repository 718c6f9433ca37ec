// SPDX-License-Identifier: Apache-2.0
// The C ABI of sessions; see qrt_c.cc.
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <bitset>
#include <utility>

#include "kernels/built.h"
#include "runtime/allowed_isas.h"
#include "runtime/infer.h"
#include "runtime/layout.h"
#include "runtime/ops/found.h"
#include "runtime/platform/pthreadpools.h"
#include "runtime/qrt_c.h"
#include "runtime/text.h"

namespace {

using qrt::Code;
using qrt::guarded;
using qrt::ModelTensor;
using qrt::null_argument;
using qrt::Plan;
using qrt::PlannedStep;
using qrt::Result;
using qrt::SessionOptions;
using qrt::Status;
using qrt::TensorFacts;
using qrt::text;
using qrt::VerifiedModel;

const Plan& plan_of(const qrt_session* session) { return session->session->plan(); }

TensorFacts facts_of(const Plan& plan, uint32_t tensor) {
  return qrt::tensor_facts(plan.model->tensor(tensor), plan.types[tensor], plan.slot_bytes(tensor));
}

// The inputs or the outputs of a plan, and the word for one of them in messages.
struct ModelTensors {
  qrt::PlanVector<ModelTensor> Plan::*ends;
  const char* role;
};
constexpr ModelTensors kInputs = {&Plan::inputs, "input"}, kOutputs = {&Plan::outputs, "output"};

Status find_model_tensor(const qrt_session* session, const ModelTensors& of, size_t index,
                         const ModelTensor** end) {
  if (session == nullptr) return null_argument("session");
  const qrt::PlanVector<ModelTensor>& ends = plan_of(session).*of.ends;
  if (index >= ends.size()) {
    return qrt::error(Code::kInvalidArgument, "there is no %s %zu: the model has %zu", of.role,
                      index, ends.size());
  }
  *end = &ends[index];
  return {};
}

// The length of a copy into an input or from an output, in bytes or in elements of a type.
struct Extent {
  size_t count;
  int dtype;  // kAnyType: bytes
};
constexpr int kAnyType = INT32_MIN;

Status check_extent(const qrt::TensorType& type, const ModelTensors& of, size_t index,
                    const Extent& given) {
  const bool is_bytes = given.dtype == kAnyType;
  if (!is_bytes && given.dtype != static_cast<int>(type.dtype))
    return qrt::error(Code::kInvalidArgument, "%s %zu holds %s, not %s", of.role, index,
                      qrt::dtype_name(type.dtype),
                      qrt_dtype_name(static_cast<qrt_dtype>(given.dtype)));
  const size_t expected =
      is_bytes ? qrt::tensor_bytes(type) : static_cast<size_t>(type.shape.elements());
  if (given.count == expected) return {};
  return qrt::error(
      Code::kInvalidArgument,
      is_bytes ? "%s %zu takes %zu bytes, not %zu" : "%s %zu has %zu elements, not %zu", of.role,
      index, expected, given.count);
}

// Copies `data` into an input, or an output into `data`.
qrt_status transfer(const qrt_session* session, const ModelTensors& of, size_t index, void* data,
                    const Extent& extent, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    const ModelTensor* end = nullptr;
    QRT_TRY(find_model_tensor(session, of, index, &end));
    const size_t bytes = plan_of(session).slot_bytes(end->slot);
    if (data == nullptr && bytes != 0) return null_argument("data");
    if (!session->session->has_memory(*end))
      return qrt::error(Code::kInvalidArgument, "%s %zu is external and has no memory: bind it",
                        of.role, index);
    const bool is_input = of.ends == kInputs.ends;
    if (is_input && session->session->is_bound(*end))
      return qrt::error(Code::kInvalidArgument,
                        "input %zu is bound to the caller's memory, which is not written to: bind "
                        "NULL first",
                        index);
    QRT_TRY(check_extent(plan_of(session).types[end->slot], of, index, extent));
    if (bytes != 0 && is_input) memcpy(session->session->data_to_fill(*end), data, bytes);
    if (bytes != 0 && !is_input) memcpy(data, session->session->model_tensor_data(*end), bytes);
    return {};
  });
}

// Copies `data` into a state, or a state into `data`.
qrt_status transfer_state(const qrt_session* session, size_t index, void* data, size_t bytes,
                          bool is_set, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    if (session == nullptr) return null_argument("session");
    const Plan& plan = plan_of(session);
    if (index >= plan.variables.size())
      return qrt::error(Code::kInvalidArgument, "there is no state %zu: the model has %zu", index,
                        plan.variables.size());
    const uint32_t slot = plan.variables[index]->tensor();
    if (bytes != plan.slot_bytes(slot))
      return qrt::error(Code::kInvalidArgument, "state %zu takes %zu bytes, not %zu", index,
                        plan.slot_bytes(slot), bytes);
    if (data == nullptr && bytes != 0) return null_argument("data");
    uint8_t* memory = session->session->data(slot);
    if (bytes != 0) memcpy(is_set ? memory : data, is_set ? data : memory, bytes);
    return {};
  });
}

Status bind(qrt_session* session, const ModelTensors& of, size_t index, uint8_t* data,
            size_t capacity) {
  const ModelTensor* end = nullptr;
  QRT_TRY(find_model_tensor(session, of, index, &end));
  const size_t bytes = plan_of(session).slot_bytes(end->slot);
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % QRT_BUFFER_ALIGNMENT != 0)
    return qrt::error(Code::kInvalidArgument,
                      "%s %zu takes memory aligned to %d, this is %zu bytes behind such an address",
                      of.role, index, QRT_BUFFER_ALIGNMENT,
                      reinterpret_cast<uintptr_t>(data) % QRT_BUFFER_ALIGNMENT);
  if (data != nullptr && capacity < bytes)
    return qrt::error(Code::kInvalidArgument, "%s %zu takes %zu bytes, the buffer has %zu", of.role,
                      index, bytes, capacity);
  return session->session->bind(*end, data, capacity - bytes >= QRT_BUFFER_PADDING);
}

// "'batch', 'seq'"
std::string names_of(const std::vector<qrt::OpenDim>& dims) {
  std::string names;
  for (const qrt::OpenDim& dim : dims)
    names += (names.empty() ? "'" : ", '") + qrt::escaped(dim.name, 40) + "'";
  return names;
}

// Finds an open dimension by its name. A fixed batch is found by the name of the batch, too.
Status find_dim(const std::vector<qrt::OpenDim>& dims, const char* name, qrt::OpenDim* dim) {
  const auto found = std::find_if(dims.begin(), dims.end(),
                                  [&](const qrt::OpenDim& d) { return strcmp(d.name, name) == 0; });
  if (found != dims.end()) {
    *dim = *found;
    return {};
  }
  if (strcmp(name, qrt::kBatchName) == 0) {
    *dim = {qrt::kBatchName, 1, 1, INT32_MAX, 1, -1};
    return {};
  }
  const std::string shown = qrt::escaped(name, 100);
  if (dims.empty())
    return qrt::error(Code::kInvalidArgument,
                      "the model has no open dimension '%s': all its shapes are fixed",
                      shown.c_str());
  return qrt::error(Code::kInvalidArgument, "the model has no open dimension '%s': it has %s",
                    shown.c_str(), names_of(dims).c_str());
}

// Replaces sizes in *sizes by those that the caller names. `batch` is the batch of the options, or
// 0 for none. `what` names the array in messages.
Status read_dims(const VerifiedModel& model, const std::vector<qrt::OpenDim>& dims,
                 const char* what, const qrt_dim* given, size_t count, size_t batch,
                 qrt::SessionSizes* sizes) {
  if (count != 0 && given == nullptr) return null_argument(what);
  if (sizes->symbols.empty()) sizes->symbols = qrt::default_sizes(model.file());
  std::bitset<qrt::kMaxSymbols> is_named;
  bool is_batch_named = false;
  const auto set = [&](const char* name, int64_t value) -> Status {
    qrt::OpenDim dim;
    QRT_TRY(find_dim(dims, name, &dim));
    if (dim.symbol >= 0) {
      const auto symbol = static_cast<uint32_t>(dim.symbol);
      QRT_TRY(qrt::check_size(*model.file().symbols()->Get(symbol), value));
    } else if (value < dim.least || value > dim.most) {
      return qrt::error(Code::kOutOfRange, "the size of '%s' is %lld, expected 1 to %d", name,
                        static_cast<long long>(value), INT32_MAX);
    }
    const size_t symbol = static_cast<size_t>(dim.symbol);
    const int64_t before =
        dim.symbol >= 0 ? sizes->symbols[symbol] : static_cast<int64_t>(sizes->batch);
    if ((dim.symbol >= 0 ? is_named[symbol] : is_batch_named) && before != value)
      return qrt::error(Code::kInvalidArgument, "'%s' is given two sizes: %lld and %lld",
                        qrt::escaped(name, 100).c_str(), static_cast<long long>(before),
                        static_cast<long long>(value));
    if (dim.symbol >= 0) {
      sizes->symbols[symbol] = value;
      is_named[symbol] = true;
    } else {
      sizes->batch = static_cast<size_t>(value);
      is_batch_named = true;
    }
    return {};
  };
  // The plan refuses a batch that is no valid size.
  const bool is_symbol = std::any_of(dims.begin(), dims.end(), [](const qrt::OpenDim& dim) {
    return dim.symbol >= 0 && strcmp(dim.name, qrt::kBatchName) == 0;
  });
  if (batch != 0 && is_symbol) {
    const size_t most = INT32_MAX;
    QRT_TRY(set(qrt::kBatchName, static_cast<int64_t>(std::min(batch, most + 1))));
  } else if (batch != 0) {
    sizes->batch = batch;
    is_batch_named = true;
  }
  for (size_t i = 0; i < count; ++i) {
    if (given[i].name == nullptr) return null_argument("the name of a dimension");
    QRT_TRY(set(given[i].name, given[i].value));
  }
  return {};
}

Status read_indices(const size_t* indices, size_t count, const char* name,
                    std::vector<size_t>* result) {
  if (count != 0 && indices == nullptr) return null_argument(name);
  result->assign(indices, indices + count);
  return {};
}

Status without_open_dims() {
  return qrt::error(Code::kUnsupported,
                    "other sizes of a session are not built into this library (QRT_OPS: OpenDims)");
}

Status session_options(const VerifiedModel& model, const qrt_session_options* given,
                       qrt_session_options* o, SessionOptions* options) {
  constexpr size_t kFirst = offsetof(qrt_session_options, log_context) + sizeof(void*);
  QRT_TRY(qrt::read_struct(given, kFirst, sizeof *o, o));
  qrt::SessionSizes sizes;
  const std::vector<qrt::OpenDim> dims = qrt::open_dims(model);
  QRT_TRY(read_dims(model, dims, "options.dims", o->dims, o->dim_count, o->batch, &sizes));
  options->batch = sizes.batch;
  options->sizes = sizes.symbols;
  options->reserves = o->max_dim_count != 0;
  if (!qrt::built::kOpenDims && options->reserves) return without_open_dims();
  options->most = std::move(sizes);
  QRT_TRY(
      read_dims(model, dims, "options.max_dims", o->max_dims, o->max_dim_count, 0, &options->most));
  options->has_own_plans = o->private_plans != 0;
  options->threads = o->threads;
  options->isa = o->isa;
  options->kernels = o->kernels;
  options->profile = o->profile != 0;
  options->keep_all = o->keep_all != 0;
  if ((o->pthreadpool != nullptr) + (o->parallel != nullptr) + (o->pool != nullptr) > 1)
    return qrt::error(Code::kInvalidArgument,
                      "options name two pools: set one of pool, pthreadpool and parallel");
  if (o->pthreadpool != nullptr && !qrt::platform::has_pthreadpools())
    return qrt::error(Code::kUnsupported,
                      "options.pthreadpool: this libqrt was built without pthreadpool; set pool or "
                      "parallel instead");
  if (o->pool != nullptr) options->pool = o->pool->pool;
  QRT_TRY(read_indices(o->external_inputs, o->external_input_count, "options.external_inputs",
                       &options->external_inputs));
  QRT_TRY(read_indices(o->external_outputs, o->external_output_count, "options.external_outputs",
                       &options->external_outputs));
  options->callers_pool = static_cast<pthreadpool*>(o->pthreadpool);
  options->parallel = o->parallel;
  options->parallel_context = o->parallel_context;
  options->max_memory = o->max_memory;
  if (o->release != nullptr && o->allocate == nullptr)
    return qrt::error(Code::kInvalidArgument,
                      "options have a function to release memory, but none "
                      "to allocate it");
  options->allocator = {o->allocate, o->release, o->allocator_context};
  return {};
}

// Returns the batch of a plan: the size of dimension -1, or of the symbol with the batch's name.
size_t batch_of(const Plan& plan, const std::vector<qrt::OpenDim>& dims) {
  for (const qrt::OpenDim& dim : dims)
    if (dim.symbol >= 0 && strcmp(dim.name, qrt::kBatchName) == 0)
      return static_cast<size_t>(plan.sizes[static_cast<size_t>(dim.symbol)]);
  return plan.batch;
}

// Sets *facts, to which the infos of a session with this plan point. `layouts` are those of the
// inputs.
void describe(const Plan& plan, const std::vector<qrt::OpenDim>& dims,
              const std::vector<qrt_layout>& layouts, qrt::SessionFacts* facts) {
  const qrt::fb::Model& file = plan.model->file();
  facts->inputs.clear(), facts->outputs.clear(), facts->written.clear();
  facts->written_facts.clear(), facts->dims.clear(), facts->states.clear();
  for (const uint32_t t : *file.inputs()) facts->inputs.push_back(facts_of(plan, t));
  for (size_t i = 0; i < layouts.size(); ++i) facts->inputs[i].layout = layouts[i];
  for (const uint32_t t : *file.outputs()) facts->outputs.push_back(facts_of(plan, t));
  for (const qrt::fb::Variable* v : plan.variables)
    facts->states.push_back(facts_of(plan, v->tensor()));
  if (plan.keep_all)
    for (const PlannedStep& step : plan.steps)
      for (const uint32_t t : step.outputs) {
        facts->written.push_back(t);
        facts->written_facts.push_back(facts_of(plan, t));
      }
  for (const qrt::OpenDim& dim : dims)
    facts->dims.push_back({dim.name, dim.symbol >= 0 ? plan.sizes[static_cast<size_t>(dim.symbol)]
                                                     : static_cast<int64_t>(plan.batch)});
}

// Warns where a session could not follow its options or the environment.
void warn_of(const qrt_session& session, const qrt_session_options& o, qrt_error* error) {
  const auto warn = [&](const std::string& message) {
    qrt::warn(o.log, o.log_context, error, message.c_str());
  };
  const Plan& plan = session.session->plan();
  if (const std::string ignored = qrt::isa_warning(); o.isa == nullptr && !ignored.empty())
    warn("warning: " + ignored);
  warn(qrt::thread_warning(plan.threads, session.session->threads()));
  if (plan.is_frugal)
    warn("max_memory has no room for the tables of the fastest convolutions: slower ones are used");
}

qrt_session_info info_of(const Plan& plan, const std::vector<qrt::OpenDim>& dims,
                         size_t block_bytes, const qrt::Allocator& allocator) {
  qrt_session_info info = {};
  qrt::Isa isa;
  for (int i = 0; qrt::isa_at(i, &isa); ++i)
    if (qrt::has(plan.isas, isa)) info.isa = qrt::isa_name(isa);
  info.threads = plan.threads;
  info.batch = batch_of(plan, dims);
  info.block_bytes = block_bytes;
  info.block_alignment = qrt::block_alignment(block_bytes, allocator);
  info.shared_memory = plan.provider == nullptr ? plan.table_bytes : 0;
  return info;
}

qrt_status write_session_info(const qrt_session_info& info, qrt_session_info* given) {
  constexpr size_t kFirst = offsetof(qrt_session_info, block_alignment) + sizeof(size_t);
  return qrt::write_struct(&info, kFirst, sizeof info, given);
}

}  // namespace

// ---- session ----

qrt_status qrt_session_create(const qrt_model* model, const qrt_session_options* options,
                              qrt_session** session, qrt_error* error) {
  if (session != nullptr) *session = nullptr;
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    if (session == nullptr) return null_argument("session");
    qrt_session_options o;
    SessionOptions internal;
    QRT_TRY(session_options(*model->verified, options, &o, &internal));
    Result<std::unique_ptr<qrt::Session>> created = qrt::Session::create(model->verified, internal);
    if (!created.ok()) return std::move(created.status());
    auto result = std::make_unique<qrt_session>();
    result->session = std::move(*created);
    result->dims = qrt::open_dims(*model->verified);
    result->layouts = qrt::input_layouts(model->verified->file());
    describe(plan_of(result.get()), result->dims, result->layouts, &result->facts);
    if (result->session->has_own_plans())
      result->next_facts = result->facts;  // keeps next_facts from growing later
    warn_of(*result, o, error);
    *session = result.release();
    return {};
  });
}

void qrt_session_destroy(qrt_session* session) { delete session; }

qrt_status qrt_session_get_info(const qrt_session* session, qrt_session_info* given) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  qrt_session_info info = info_of(plan_of(session), session->dims, session->session->block_bytes(),
                                  session->session->allocator());
  info.memory = session->session->memory_bytes();
  if (session->session->has_own_plans()) info.shared_memory = 0;
  info.threads = session->session->threads();
  info.dims = session->facts.dims.data();
  info.dim_count = session->facts.dims.size();
  return write_session_info(info, given);
}

qrt_status qrt_session_needed_memory(const qrt_model* model, const qrt_session_options* options,
                                     qrt_session_info* info, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    if (model == nullptr) return null_argument("model");
    if (info == nullptr) return null_argument("info");
    qrt_session_options o;
    SessionOptions internal;
    QRT_TRY(session_options(*model->verified, options, &o, &internal));
    Result<qrt::Session::Design> design = qrt::Session::design(model->verified, internal);
    if (!design.ok()) return std::move(design.status());
    qrt_session_info made = info_of(*design->plan, qrt::open_dims(*model->verified),
                                    design->block_bytes, internal.allocator);
    made.memory = design->bytes();
    if (design->own_plans != nullptr) made.shared_memory = 0;
    if (write_session_info(made, info) != QRT_OK)
      return qrt::error(Code::kInvalidArgument,
                        "info.struct_size is %zu: call qrt_struct_init() first", info->struct_size);
    return {};
  });
}

qrt_status qrt_session_reshape(qrt_session* session, const qrt_dim* dims, size_t dim_count,
                               qrt_error* error) {
  return guarded(error, [&]() -> Status {
    if (session == nullptr) return null_argument("session");
    if (!qrt::built::kOpenDims) return without_open_dims();
    const Plan& before = plan_of(session);
    qrt::SessionSizes sizes = {before.batch, before.sizes};
    QRT_TRY(read_dims(*before.model, session->dims, "dims", dims, dim_count, 0, &sizes));
    if (sizes.batch == before.batch && sizes.symbols == before.sizes) return {};
    auto plan = session->session->plan_at(sizes);
    if (!plan.ok()) return std::move(plan.status());
    describe(**plan, session->dims, session->layouts, &session->next_facts);
    QRT_TRY(session->session->reshape(std::move(*plan)));
    std::swap(session->facts, session->next_facts);
    return {};
  });
}

qrt_status qrt_session_input_info(const qrt_session* session, size_t index, qrt_tensor_info* info) {
  if (session == nullptr || index >= session->facts.inputs.size()) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(session->facts.inputs[index], info);
}

qrt_status qrt_session_output_info(const qrt_session* session, size_t index,
                                   qrt_tensor_info* info) {
  if (session == nullptr || index >= session->facts.outputs.size()) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(session->facts.outputs[index], info);
}

qrt_status qrt_session_set_input(qrt_session* session, size_t index, qrt_dtype dtype,
                                 const void* data, size_t count, qrt_error* error) {
  return transfer(session, kInputs, index, const_cast<void*>(data),
                  {count, std::max(qrt::code_of(dtype), -1)}, error);
}

qrt_status qrt_session_get_output(const qrt_session* session, size_t index, qrt_dtype dtype,
                                  void* data, size_t count, qrt_error* error) {
  return transfer(session, kOutputs, index, data, {count, std::max(qrt::code_of(dtype), -1)},
                  error);
}

qrt_status qrt_session_set_input_bytes(qrt_session* session, size_t index, const void* data,
                                       size_t bytes, qrt_error* error) {
  return transfer(session, kInputs, index, const_cast<void*>(data), {bytes, kAnyType}, error);
}

qrt_status qrt_session_get_output_bytes(const qrt_session* session, size_t index, void* data,
                                        size_t bytes, qrt_error* error) {
  return transfer(session, kOutputs, index, data, {bytes, kAnyType}, error);
}

void* qrt_session_input_data(qrt_session* session, size_t index) {
  if (session == nullptr || index >= plan_of(session).inputs.size()) return nullptr;
  return session->session->model_tensor_data(plan_of(session).inputs[index]);
}

const void* qrt_session_output_data(const qrt_session* session, size_t index) {
  if (session == nullptr || index >= plan_of(session).outputs.size()) return nullptr;
  return session->session->model_tensor_data(plan_of(session).outputs[index]);
}

size_t qrt_session_output_count(const qrt_session* session, size_t index) {
  const void* data = qrt_session_output_data(session, index);
  if (data == nullptr) return 0;
  const Plan& plan = plan_of(session);
  const qrt::Shape& shape = plan.types[plan.outputs[index].slot].shape;
  const qrt::fb::Model& model = plan.model->file();
  const uint32_t tensor = model.outputs()->Get(static_cast<uint32_t>(index));
  return qrt::found_entries(model, tensor, shape, data);
}

qrt_status qrt_session_bind_input(qrt_session* session, size_t index, const void* data,
                                  size_t capacity, qrt_error* error) {
  return guarded(error, [&] {
    auto* read_only = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
    return bind(session, kInputs, index, read_only, capacity);
  });
}

qrt_status qrt_session_bind_output(qrt_session* session, size_t index, void* data, size_t capacity,
                                   qrt_error* error) {
  return guarded(
      error, [&] { return bind(session, kOutputs, index, static_cast<uint8_t*>(data), capacity); });
}

qrt_status qrt_session_run(qrt_session* session, qrt_error* error) {
  return guarded(error, [&]() -> Status {
    if (session == nullptr) return null_argument("session");
    return session->session->run();
  });
}

void qrt_session_cancel(qrt_session* session) {
  if (session != nullptr) session->session->cancel();
}

qrt_status qrt_session_reset(qrt_session* session) {
  if (session == nullptr) return QRT_INVALID_ARGUMENT;
  const qrt::ScopedFloatEnv env;
  session->session->reset();
  return QRT_OK;
}

size_t qrt_session_state_count(const qrt_session* session) {
  return session != nullptr ? session->facts.states.size() : 0;
}

qrt_status qrt_session_state_info(const qrt_session* session, size_t index, qrt_tensor_info* info) {
  if (index >= qrt_session_state_count(session)) return QRT_INVALID_ARGUMENT;
  return qrt::write_tensor_info(session->facts.states[index], info);
}

size_t qrt_session_find_state(const qrt_session* session, const char* name) {
  if (session == nullptr || name == nullptr) return SIZE_MAX;
  const std::vector<TensorFacts>& states = session->facts.states;
  for (size_t i = 0; i < states.size(); ++i)
    if (strcmp(states[i].name, name) == 0) return i;
  return SIZE_MAX;
}

qrt_status qrt_session_get_state(const qrt_session* session, size_t index, void* data, size_t bytes,
                                 qrt_error* error) {
  return transfer_state(session, index, data, bytes, false, error);
}

qrt_status qrt_session_set_state(qrt_session* session, size_t index, const void* data, size_t bytes,
                                 qrt_error* error) {
  return transfer_state(session, index, const_cast<void*>(data), bytes, true, error);
}

size_t qrt_session_op_count(const qrt_session* session) {
  return session != nullptr ? session->session->plan().steps.size() : 0;
}

qrt_status qrt_session_op_info(const qrt_session* session, size_t index, qrt_op_info* given) {
  if (index >= qrt_session_op_count(session)) return QRT_INVALID_ARGUMENT;
  const qrt::Session& s = *session->session;
  const PlannedStep& step = s.plan().steps[index];
  qrt_op_info info = {};
  info.name = text(step.op->name());
  info.type = qrt::find_op(step.op->options_type())->name;
  info.source_op = text(step.op->source_op());
  info.kernel = step.kernel;
  info.level = qrt::arithmetic_level(*step.op);
  info.macs = step.macs * s.plan().micro_batches;
  info.runs_in =
      step.leader == nullptr ? index : static_cast<size_t>(step.leader - s.plan().steps.data());
  const qrt::StepBytes bytes = qrt::step_bytes(s.plan(), step);
  info.bytes = bytes.all;
  info.constant_bytes = bytes.constants;
  if (const qrt::Profile* profile = s.profile()) {
    info.total_ns = profile->total_ns(index);
    info.runs = profile->runs();
  }
  constexpr size_t kFirst = offsetof(qrt_op_info, runs_in) + sizeof info.runs_in;
  return qrt::write_struct(&info, kFirst, sizeof info, given);
}

void qrt_session_profile_reset(qrt_session* session) {
  if (session != nullptr && session->session->profile() != nullptr) {
    session->session->profile()->reset();
  }
}

size_t qrt_session_tensor_count(const qrt_session* session) {
  return session != nullptr ? session->facts.written.size() : 0;
}

qrt_status qrt_session_tensor(const qrt_session* session, size_t index, qrt_tensor_info* info,
                              const void** data) {
  if (index >= qrt_session_tensor_count(session)) return QRT_INVALID_ARGUMENT;
  if (data != nullptr) *data = session->session->data(session->facts.written[index]);
  if (info == nullptr) return QRT_OK;
  return qrt::write_tensor_info(session->facts.written_facts[index], info);
}
