// The converter's middle: an imported graph into its final form.
#include "converter/convert.h"
#include "converter/passes/passes.h"
#include "converter/sizes/open_sizes.h"

namespace qrt::convert {

Status run_passes(Graph* graph, const std::function<void(const char*)>& progress) {
  const struct {
    const char* name;
    void (*run)(Graph*);
  } passes[] = {
      {"drop_dead", drop_dead},
      {"fold_constants", fold_constants},
      {"fuse_dynamic_scales", fuse_dynamic_scales},
      {"fuse_gelu", fuse_gelu},
      {"move_transposes", move_transposes},
      {"simplify_gathers", simplify_gathers},
      {"fold_pads", fold_pads},
      {"drop_taps", drop_taps},
      {"fold_flatten", fold_flatten},
      {"fold_reductions", fold_reductions},
      {"simplify_reshapes", simplify_reshapes},
      {"fuse_functions", fuse_functions},
      {"fuse_luts", fuse_luts},
      {"one_channel_depthwise", one_channel_depthwise},
      {"join_pixels", join_pixels},
      {"open_batch", open_batch},
      {"split_wide_weights", split_wide_weights},
  };
  const auto earlier = [&](Graph* import) {
    for (const auto& pass : passes) {
      if (pass.run == open_batch) break;
      pass.run(import);
    }
  };
  for (const auto& pass : passes) {
    if (progress) progress(pass.name);
    pass.run(graph);
    if (pass.run == open_batch && graph->import_at) {
      if (progress) progress("open_sizes");
      QRT_TRY(open_sizes(earlier, graph));
    }
  }
  if (progress) progress("pack_weights");
  return pack_weights(graph);
}

}  // namespace qrt::convert
