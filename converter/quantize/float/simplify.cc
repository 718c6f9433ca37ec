// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/names.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

void make_names_unique(FloatModel* model) {
  Names names;
  for (Node& node : model->nodes)
    node.name = names.take(node.name.empty() ? node.outputs[0] : node.name, 1);
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
