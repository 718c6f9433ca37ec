// SPDX-License-Identifier: Apache-2.0
#include "bench/sessions.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

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
  // 0 is a valid index into every table, if the integers are indices.
  if (info.dtype == QRT_INT64 || info.dtype == QRT_INT32) {
    memset(qrt_session_input_data(session->get(), i), 0, info.bytes);
    return;
  }
  auto* bytes = static_cast<uint8_t*>(qrt_session_input_data(session->get(), i));
  for (size_t b = 0; b < info.bytes; ++b) bytes[b] = static_cast<uint8_t>(next());
}

Status read_inputs(const Model& model, Options* options) {
  if (options->inputs.empty()) return {};
  auto arrays = std::make_shared<tool::Inputs>();
  arrays->set_dims(options->dims);
  QRT_TRY(arrays->read_any(model, options->inputs));
  if (options->batch == 0) options->batch = arrays->batch();
  if (arrays->steps() > 0 || (arrays->batch() != 0 && arrays->batch() != options->batch))
    return error(
        Code::kInvalidModel,
        "--input: the files hold a batch of %zu%s, expected one run of batch %zu (--batch)",
        arrays->batch(), arrays->steps() > 0 ? " and a sequence" : "",
        options->batch != 0 ? options->batch : model.info().default_batch);
  options->dims = arrays->dims();
  options->arrays = std::move(arrays);
  return {};
}

Status fill_inputs(const Model& model, const Options& options, Session* session) {
  if (options.arrays != nullptr) return options.arrays->put(0, session);
  for (size_t i = 0; i < model.input_count(); ++i) fill_input(session, i);
  return {};
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
