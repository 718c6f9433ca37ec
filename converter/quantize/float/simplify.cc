#include <set>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

void make_names_unique(FloatModel* model) {
  std::set<std::string> taken;
  for (Node& node : model->nodes) {
    const std::string wish = node.name.empty() ? node.outputs[0] : node.name;
    node.name = wish;
    for (int i = 1; !taken.insert(node.name).second; ++i)
      node.name = wish + "_" + std::to_string(i);
  }
}

}  // namespace

Status simplify(FloatModel* model) {
  drop_unused(model);
  QRT_TRY(fold_constants(model));
  QRT_TRY(fold_shapes(model));
  QRT_TRY(fold_constants(model));
  drop_identities(model);
  unify_forms(model);
  unify_layer_norms(model);
  fold_batch_norms(model);
  merge_pads(model);
  split_transposed(model);
  make_names_unique(model);
  return fold_shapes(model);
}

}  // namespace qrt::quantize
