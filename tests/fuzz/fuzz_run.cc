#include "qrt_model_generated.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {
namespace {

// The model without its claims about weights that loading takes on trust: a file that lies there
// gives other results with the kernels that rely on them, and may.
std::vector<uint8_t> without_claims(const fb::Model& file, size_t size) {
  const std::unique_ptr<fb::ModelT> model(file.UnPack());
  for (const auto& op : model->operators) {
    if (auto* o = op->options.AsConv2D()) o->pair_safe = false;
    if (auto* o = op->options.AsFullyConnected()) o->pair_safe = false;
  }
  flatbuffers::FlatBufferBuilder fbb;
  // Slack behind the last buffer; and not less file than before, since that bounds widening.
  fbb.CreateVector(std::vector<uint8_t>(kSlack + size));
  fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, model.get()));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

void fuzz_run(const uint8_t* data, size_t size) {
  Status status;
  ModelPtr model = load(data, size, &status);
  if (model == nullptr) return;
  run_once(model, size);
  const std::vector<uint8_t> honest = without_claims(model->file(), size);
  model = load(honest.data(), honest.size(), &status);
  if (model == nullptr)
    failed(std::string("a verified model, written again, is refused: ") + status.message());
  compare_runs(model, size);
}

}  // namespace qrt::fuzz
