// SPDX-License-Identifier: Apache-2.0
// The layers that a graph is made of, and how often each is chosen.
#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

const OnnxBuilder& GraphMaker::make() {
  struct Kind {
    int weight;
    const char* name;
    Layer layer;
  };
  static const std::vector<Kind> kLayers = {
      {14, "conv", &GraphMaker::conv},
      {4, "conv_transpose", &GraphMaker::conv_transpose},
      {6, "gemm", &GraphMaker::gemm},
      {7, "matmul", &GraphMaker::matmul},
      {4, "matmul_computed", &GraphMaker::matmul_computed},
      {12, "binary", &GraphMaker::binary},
      {7, "binary_constant", &GraphMaker::binary_constant},
      {2, "select", &GraphMaker::select},
      {2, "where", &GraphMaker::where},
      {9, "unary", &GraphMaker::unary},
      {5, "relu_or_clip", &GraphMaker::relu_or_clip},
      {6, "max_pool", &GraphMaker::max_pool},
      {5, "average_pool", &GraphMaker::average_pool},
      {3, "global_pool", &GraphMaker::global_pool},
      {4, "reduce", &GraphMaker::reduce},
      {4, "softmax", &GraphMaker::softmax},
      {2, "arg_max", &GraphMaker::arg_max},
      {1, "top_k", &GraphMaker::top_k},
      {5, "concat", &GraphMaker::concat},
      {14, "moved", &GraphMaker::moved},
      {3, "split", &GraphMaker::split},
      {5, "resize", &GraphMaker::resize},
      {2, "resize_integers", &GraphMaker::resize_integers},
      {2, "camera", &GraphMaker::camera},
      {2, "batch_norm", &GraphMaker::batch_norm},
      {1, "instance_norm", &GraphMaker::instance_norm},
      {4, "requantise", &GraphMaker::requantise},
      {4, "residual_block", &GraphMaker::residual_block},
      {3, "separable_block", &GraphMaker::separable_block},
      {4, "grouped_block", &GraphMaker::grouped_block},
      {2, "squeeze_block", &GraphMaker::squeeze_block},
      {2, "attention_block", &GraphMaker::attention_block},
      {2, "split_block", &GraphMaker::split_block},
      {4, "qlinear_conv", &GraphMaker::qlinear_conv},
      {3, "qlinear_matmul", &GraphMaker::qlinear_matmul},
      {2, "qgemm", &GraphMaker::qgemm},
      {4, "qlinear_binary", &GraphMaker::qlinear_binary},
      {2, "qlinear_unary", &GraphMaker::qlinear_unary},
      {3, "qlinear_pool", &GraphMaker::qlinear_pool},
      {2, "qlinear_concat", &GraphMaker::qlinear_concat},
      {1, "qlinear_softmax", &GraphMaker::qlinear_softmax},
      {3, "integer_product", &GraphMaker::integer_product},
      {3, "integer_math", &GraphMaker::integer_math},
      {2, "qlinear_where", &GraphMaker::qlinear_where},
      {2, "take", &GraphMaker::take},
      {4, "edge", &GraphMaker::edge},
      {2, "per_axis", &GraphMaker::per_axis},
      {3, "dynamic_layer", &GraphMaker::dynamic_layer},
      {2, "parameters_of_the_run", &GraphMaker::parameters_of_the_run},
      {3, "qlinear_matmul_computed", &GraphMaker::qlinear_matmul_computed},
      {3, "subgraph", &GraphMaker::subgraph}};
  std::vector<Kind> kinds;
  int total = 0;
  for (const Kind& kind : kLayers) {
    if (!options_.only.empty() && options_.only != kind.name) continue;
    kinds.push_back(kind);
    total += kind.weight;
  }
  if (kinds.empty()) return b_;
  const int layers = static_cast<int>(dice_.integer(1, options_.layers));
  for (int made = 0, tried = 0; made < layers && tried < 50; ++tried) {
    int64_t at = dice_.integer(0, total - 1);
    for (const Kind& kind : kinds) {
      if ((at -= kind.weight) >= 0) continue;
      made += (this->*kind.layer)();
      break;
    }
  }
  finish_outputs();
  respell();
  return b_;
}

}  // namespace qrt::random_onnx
