#include "bench/sessions.h"

#include <cstdlib>
#include <cstring>

#include "kernels/isa.h"
#include "runtime/tools/dims.h"
#include "runtime/tools/inputs.h"

namespace qrt::bench {

std::string best_isa(const std::string& cap) {
  IsaSet set = detected_isas();
  const char* environment = getenv("QRT_ISA");
  const std::string limit = !cap.empty() ? cap : environment != nullptr ? environment : "";
  Isa isa;
  if (!limit.empty() && parse_isa(limit.c_str(), &isa)) set = capped(set, isa);
  std::string best = isa_name(Isa::kScalar);
  for (int i = 0; isa_at(i, &isa); ++i)
    if (has(set, isa)) best = isa_name(isa);
  return best;
}

Session make_session(const Model& model, const Options& options, size_t batch, bool profile,
                     qrt_pool* pool) {
  SessionOptions o;
  o.batch = batch;
  tool::Dims dims = options.dims;
  dims.put_in(&o);
  o.threads = options.threads;
  o.isa = options.isa.empty() ? nullptr : options.isa.c_str();
  o.profile = profile;
  o.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
  o.pool = pool;
  return Session(model, o);
}

void fill_input(Session* session, size_t i) {
  const qrt_tensor_info info = session->input_info(i);
  uint64_t state = 88172645463325252u + i;
  const auto next = [&] {  // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
  };
  if (info.dtype == QRT_FLOAT32) {
    for (float& v : session->input<float>(i))
      v = static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f;
    return;
  }
  // Indices of every table, where they are any.
  if (info.dtype == QRT_INT64 || info.dtype == QRT_INT32) {
    memset(qrt_session_input_data(session->get(), i), 0, info.bytes);
    return;
  }
  auto* bytes = static_cast<uint8_t*>(qrt_session_input_data(session->get(), i));
  for (size_t b = 0; b < info.bytes; ++b) bytes[b] = static_cast<uint8_t>(next());
}

Status fill_inputs(const Model& model, const Options& options, Session* session) {
  if (options.inputs.empty()) {
    for (size_t i = 0; i < model.input_count(); ++i) fill_input(session, i);
    return {};
  }
  tool::Inputs inputs;
  inputs.set_dims(options.dims);
  QRT_TRY(inputs.read_any(model, options.inputs));
  const size_t batch = options.batch != 0 ? options.batch : model.info().default_batch;
  if (inputs.steps() > 0 || (inputs.batch() != 0 && inputs.batch() != batch))
    return error(
        Code::kInvalidModel,
        "--input: the files hold a batch of %zu%s, expected one run of batch %zu (--batch)",
        inputs.batch(), inputs.steps() > 0 ? " and a sequence" : "", batch);
  const qrt_session_info info = session->info();
  for (size_t i = 0; i < info.dim_count; ++i)
    if (const int64_t size = inputs.dims().size_of(info.dims[i].name);
        size != 0 && size != info.dims[i].value)
      return error(Code::kInvalidModel,
                   "--input: '%s' is %lld in the files, expected %lld (--dims)", info.dims[i].name,
                   static_cast<long long>(size), static_cast<long long>(info.dims[i].value));
  return inputs.put(0, session);
}

void run(Session* session) {
  const Outcome status = session->try_run();
  if (status.ok()) return;
  if (status.code() != QRT_OUT_OF_RANGE || session->state_count() == 0)
    throw Error(status.code(), status.message());
  session->reset();
  session->run();
}

}  // namespace qrt::bench
