// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/normalize_opset.h"

#include <algorithm>

namespace qrt::quantize {
namespace {

class Normalizer {
 public:
  Normalizer(int64_t opset, Node node, FloatModel* model, GraphEditor* editor)
      : opset_(opset), node_(std::move(node)), model_(model), editor_(editor) {}

  Status run() {
    const std::string& op = node_.op;
    if (!node_.domain.empty()) return keep();
    if (op == "Upsample" || op == "Resize") return resize();
    if (op == "Clip" && opset_ < 11) {
      real_input("min", 1);
      real_input("max", 2);
    } else if (op == "Pad" && opset_ < 11) {
      integers_input("pads", 1);
      real_input("value", 2);
    } else if (op == "Slice" && opset_ < 10) {
      integers_input("starts", 1);
      integers_input("ends", 2);
      integers_input("axes", 3);
    } else if ((op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") && opset_ < 13) {
      integers_input("axes", 1);
    } else if (op.rfind("Reduce", 0) == 0 && opset_ < 18) {
      integers_input("axes", 1);
    } else if (op == "Split") {
      integers_input("split", 1);
      if (!node_.has_input(1)) node_.set("num_outputs", static_cast<int64_t>(node_.outputs.size()));
    } else if ((op == "Softmax" || op == "LogSoftmax") && opset_ < 13) {
      // Rows of all dimensions from the axis on. simplify() takes this attribute away.
      node_.set("axis", node_.integer("axis", 1));
      node_.set("flatten", int64_t{1});
    } else if (op == "BatchNormalization") {
      return batch_normalization();
    } else if (op == "Dropout") {
      return dropout();
    } else if (op == "Swish") {
      return swish();
    }
    return keep();
  }

 private:
  Status keep() {
    while (!node_.inputs.empty() && node_.inputs.back().empty()) node_.inputs.pop_back();
    editor_->append(std::move(node_));
    return Status();
  }

  void constant_input(const char* what, size_t at, Tensor value) {
    const std::string name = editor_->fresh_name(node_.outputs[0] + "/" + what);
    model_->constants[name] = std::move(value);
    if (node_.inputs.size() <= at) node_.inputs.resize(at + 1);
    node_.inputs[at] = name;
    node_.attributes.erase(what);
  }
  void integers_input(const char* attribute, size_t at) {
    if (node_.has(attribute))
      constant_input(attribute, at, integer_tensor(node_.integers(attribute)));
  }
  void real_input(const char* attribute, size_t at) {
    if (node_.has(attribute))
      constant_input(attribute, at, real_tensor({}, {node_.real(attribute, 0)}));
  }

  // Normalises Upsample and the Resize of opset 10, which have no region of interest and count
  // positions from the corner.
  Status resize() {
    if (node_.op == "Resize" && opset_ >= 11) return keep();
    if (opset_ < 9 && node_.has("scales")) {
      const auto& scales = node_.attributes["scales"].reals;
      constant_input("scales", 1, real_tensor({static_cast<int64_t>(scales.size())}, scales));
    }
    if (!node_.has_input(1))
      return error(Code::kInvalidModel, "%s: no scales", node_.label().c_str());
    const Tensor* scales = model_->constant(node_.inputs[1]);
    const bool shrinks =
        scales != nullptr && scales->is_real() &&
        std::any_of(scales->reals.begin(), scales->reals.end(), [](float s) { return s < 1; });
    node_.inputs = {node_.inputs[0], "", node_.inputs[1]};
    node_.op = "Resize";
    node_.set("coordinate_transformation_mode", std::string("asymmetric"));
    node_.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
    return keep();
  }

  Status batch_normalization() {
    if (node_.integer("spatial", 1) == 0)
      return error(Code::kUnsupported, "%s: one mean for each element (spatial = 0)",
                   node_.label().c_str());
    if (node_.integer("training_mode", 0) != 0 || (node_.outputs.size() > 1 && opset_ >= 14))
      return error(Code::kUnsupported,
                   "%s: training mode; export the model for inference (model.eval())",
                   node_.label().c_str());
    node_.outputs.resize(1);
    return keep();
  }

  Status dropout() {
    node_.op = "Identity";
    node_.inputs.resize(1);
    node_.outputs.resize(1);  // a reader of the mask finds nothing
    node_.attributes.clear();
    return keep();
  }

  // x * sigmoid(alpha * x)
  Status swish() {
    const float alpha = node_.real("alpha", 1.0f);
    const std::string x = node_.inputs.empty() ? "" : node_.inputs[0];
    Node sigmoid = node_, product = node_;
    sigmoid.attributes.clear();
    product.attributes.clear();
    if (alpha != 1.0f) {
      Node scaled = sigmoid;
      scaled.op = "Mul";
      scaled.name += "/scaled";
      const std::string factor = editor_->fresh_name(node_.outputs[0] + "/alpha");
      model_->constants[factor] = real_tensor({}, {alpha});
      scaled.inputs = {x, factor};
      scaled.outputs = {editor_->fresh_name(node_.outputs[0] + "/scaled")};
      sigmoid.inputs = scaled.outputs;
      editor_->append(std::move(scaled));
    }
    sigmoid.op = "Sigmoid";
    sigmoid.name += "/sigmoid";
    sigmoid.outputs = {editor_->fresh_name(node_.outputs[0] + "/sigmoid")};
    product.op = "Mul";
    product.inputs = {x, sigmoid.outputs[0]};
    editor_->append(std::move(sigmoid));
    editor_->append(std::move(product));
    return Status();
  }

  const int64_t opset_;
  Node node_;
  FloatModel* const model_;
  GraphEditor* const editor_;
};

}  // namespace

Status append_normalized(int64_t opset, Node node, FloatModel* model, GraphEditor* editor) {
  return Normalizer(opset, std::move(node), model, editor).run();
}

}  // namespace qrt::quantize
