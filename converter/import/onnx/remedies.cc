#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {

std::string remedy_for_constant(const Importer& importer, const NodeView& node, int i) {
  const NodeView* maker = importer.producer(node.input(i));
  if (!maker)
    return "make '" + node.input(i) +
           "' an initialiser of the model: it is an input, another in every run";
  return "export the model so that '" + node.input(i) + "', which node " + maker->label() + " (" +
         maker->op_label() +
         ") computes in every run, is a constant: with the inputs' shapes fixed "
         "(--input-shape, or the exporter's own option) it often is";
}

std::string remedy_to_end_before(const NodeView& node) {
  return "end the model before it, --outputs " + node.input(0) + ", and compute the rest elsewhere";
}

}  // namespace qrt::convert::from_onnx
