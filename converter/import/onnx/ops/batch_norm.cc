// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: a line of its own for each channel, in float, so that between DequantizeLinear
// and QuantizeLinear a table for each channel has ONNX Runtime's bits.
#include <cmath>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/ops/handlers.h"

namespace qrt::convert::from_onnx {

bool read_channel_affine(const Importer& importer, const NodeView& node, int64_t channels,
                         ChannelAffine* lines) {
  std::vector<float> values[4];  // scale, bias, mean, variance
  for (int i = 0; i < 4; ++i) {
    const Tensor& t = importer.input(node, i + 1);
    if (!t.is_constant() || !constant_floats(t, &values[i]) ||
        static_cast<int64_t>(values[i].size()) != channels)
      return false;
  }
  const float epsilon = node.real("epsilon", 1e-5f);
  lines->factor.clear();
  lines->addend.clear();
  for (size_t c = 0; c < values[0].size(); ++c) {
    // ONNX Runtime's order: the inverse first.
    const float inverse = 1.0f / std::sqrt(values[3][c] + epsilon);
    lines->factor.push_back(inverse * values[0][c]);
    lines->addend.push_back(values[1][c] - values[2][c] * lines->factor[c]);
  }
  return true;
}

Status import_batch_normalization(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_table()) return importer.refuse_float(node, 0);
  QRT_MODEL_CHECK(x.shape.rank() >= 2, "input '%s' has shape %s, expected [n, c, ...]",
                  node.input(0).c_str(), x.shape.to_string().c_str());
  for (int i = 1; i < node.output_count(); ++i)
    if (node.has_output(i))
      return importer.refuse(node, "it is in training mode", node.output(i),
                             "export the model for inference (in PyTorch model.eval())");
  if (node.integer("training_mode", 0) != 0)
    return importer.refuse(node, "it is in training mode", node.output(0),
                           "export the model for inference (in PyTorch model.eval())");
  if (node.integer("spatial", 1) == 0)
    return importer.refuse(node, "it normalises every element apart (spatial is 0)", node.output(0),
                           "export the model with spatial = 1, as every opset from 9 on has it");
  ChannelAffine lines;
  const int64_t channels = x.shape[1];
  if (!read_channel_affine(importer, node, channels, &lines))
    return importer.refuse(node,
                           "its scale, bias, mean and variance are not constants of " +
                               std::to_string(channels) + " elements",
                           node.output(0), "make them initialisers of the model");
  const auto line = [&](float v, size_t c) { return v * lines.factor[c] + lines.addend[c]; };
  bool taken;
  QRT_TRY(map_table_along(importer, node, 0, 1, static_cast<size_t>(channels), line, &taken));
  if (taken) return Status();
  return importer.refuse(node,
                         "input '" + node.input(0) +
                             "' has 16 bits or parameters for each index of another axis than 1: "
                             "its tables for each channel would be too large",
                         node.input(0), "quantise the input per tensor with 8 bits");
}

}  // namespace qrt::convert::from_onnx
