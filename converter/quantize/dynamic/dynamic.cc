// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/dynamic/dynamic.h"

#include <algorithm>

#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/dimensions.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/parse.h"
#include "converter/quantize/dynamic/rewrite.h"
#include "converter/quantize/float/refusals.h"
#include "converter/quantize/report/report.h"
#include "converter/quantize/samples/labels.h"
#include "google/protobuf/arena.h"
#include "onnx/onnx_pb.h"
#include "runtime/tools/budget.h"
#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

namespace file = convert::from_onnx;

// So many samples judge the model at most.
constexpr size_t kMostJudged = 512;

bool element_of(int type, Element* element) {
  switch (type) {
    case file::kFloat: *element = Element::kFloat; return true;
    case file::kInt64: *element = Element::kInt64; return true;
    case file::kInt32: *element = Element::kInt32; return true;
    case file::kBool: *element = Element::kBool; return true;
    case file::kUint8: *element = Element::kUint8; return true;
    case file::kInt8: *element = Element::kInt8; return true;
    default: return false;
  }
}

class DynamicWork {
 public:
  DynamicWork(const Settings& settings, const Progress& progress, Quantised* result)
      : settings_(settings), progress_(progress), result_(*result) {}

  Status run(const std::function<void(const convert::Report&)>& plan) {
    QRT_TRY(read());
    QRT_TRY(open_samples(settings_.calibration, settings_.images, edges_, &samples_));
    if (samples_->count() == 0) return error(Code::kInvalidModel, "--calibration: no samples");
    QRT_TRY(read_labels(settings_.labels, samples_->count(), &labels_));
    QRT_TRY(fix_shapes());
    Document real;
    QRT_TRY(serialise(&real.qdq));
    Conversion conversion;
    QRT_TRY(convert(real, {}, &conversion));
    QRT_TRY(real_.create(conversion.bytes, static_cast<size_t>(settings_.threads)));
    real.qdq.clear();
    Rewritten rewritten;
    QRT_TRY(rewrite_dynamic(settings_.overrides.exclude, &proto_, &rewritten));
    if (rewritten.nodes.empty())
      return error(Code::kUnsupported,
                   "no MatMul, Gemm, Conv or LSTM of the model has constant weights that could "
                   "become integers");
    QRT_TRY(serialise(&result_.document.qdq));
    std::map<std::string, std::string> notes = {
        {"quantized_by", std::string("qrt_quantize ") + kDynamicScheme}};
    QRT_TRY(convert(result_.document, notes, &conversion));
    result_.bytes = std::move(conversion.bytes);
    Findings& f = result_.findings;
    f.nodes = std::move(conversion.report);
    plan(f.nodes);
    QRT_TRY(integers_.create(result_.bytes, static_cast<size_t>(settings_.threads)));
    f.model = tool::with_stdin_named(settings_.model);
    f.scheme = kDynamicScheme;
    f.is_random = settings_.calibration == std::vector<std::string>{"random"};
    f.float_nodes = count_float_nodes(f.nodes);
    for (const convert::Finding& n : f.nodes.findings()) f.integer_nodes += n.is_node;
    f.integer_nodes -= f.float_nodes;
    f.remedies = {true, false};
    return compare(&f);
  }

 private:
  Status read() {
    Budget budget(0);
    QRT_TRY(file::parse_file(settings_.model, "model", "ModelProto", &proto_, &budget));
    QRT_MODEL_CHECK(proto_.has_graph(), "'%s' is not an ONNX model: it has no graph",
                    settings_.model.c_str());
    onnx::GraphProto& graph = *proto_.mutable_graph();
    file::open_dimensions(&graph);
    QRT_TRY(file::apply_edges(settings_.edges, &graph));
    file::ExternalFiles files(settings_.model);
    std::vector<std::string> paths = {settings_.model};
    for (onnx::TensorProto& t : *graph.mutable_initializer()) QRT_TRY(take_in(&files, &paths, &t));
    QRT_TRY(tool::check_outputs(settings_.outputs, paths));
    edges_.limits = RunLimits::of_files(Budget::of_files(paths).file_bytes(), settings_.budget);
    std::set<std::string> constants;
    for (const onnx::TensorProto& t : graph.initializer()) constants.insert(t.name());
    for (const onnx::ValueInfoProto& info : graph.input())
      if (constants.count(info.name()) == 0) QRT_TRY(add_value(info, &edges_.inputs));
    for (const onnx::ValueInfoProto& info : graph.output())
      QRT_TRY(add_value(info, &edges_.outputs));
    QRT_MODEL_CHECK(!edges_.inputs.empty(), "the model has no inputs");
    QRT_MODEL_CHECK(!edges_.outputs.empty(), "the model has no outputs");
    return {};
  }
  // Puts what lies in another file into the model.
  Status take_in(file::ExternalFiles* files, std::vector<std::string>* paths,
                 onnx::TensorProto* t) {
    if (t->data_location() != onnx::TensorProto::EXTERNAL) return {};
    if (file::packed_bits(t->data_type()) != 0)
      return error(Code::kUnsupported, "the tensor '%s' of %s lies in another file",
                   t->name().c_str(), file::element_type_name(t->data_type()));
    for (const auto& entry : t->external_data())
      if (entry.key() == "location")
        paths->push_back(file::external_path(settings_.model, entry.value()));
    file::ConstantPtr constant;
    QRT_TRY(file::read_constant(*t, files, &constant));
    t->clear_data_location();
    t->clear_external_data();
    t->set_raw_data(constant->data.data(), constant->data.size());
    return {};
  }
  static Status add_value(const onnx::ValueInfoProto& info, std::vector<Value>* values) {
    Value value;
    value.name = info.name();
    const auto& type = info.type().tensor_type();
    if (!element_of(type.elem_type(), &value.element) && type.elem_type() != file::kUndefined)
      return error(Code::kUnsupported, "'%s' is of %s, expected float32, bool or an integer",
                   info.name().c_str(), file::element_type_name(type.elem_type()));
    for (const auto& dim : type.shape().dim()) {
      value.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      value.dim_names.push_back(dim.has_dim_value() ? "" : dim.dim_param());
    }
    values->push_back(std::move(value));
    return {};
  }

  // Dimensions in which all samples have one size get it.
  Status fix_shapes() {
    std::vector<Shapes> shapes(std::min(samples_->count(), kMostJudged));
    for (size_t i = 0; i < shapes.size(); ++i) QRT_TRY(samples_->read_shapes(i, &shapes[i]));
    QRT_TRY(fix_input_shapes(shapes, &edges_));
    std::vector<std::string> given;
    for (onnx::ValueInfoProto& info : *proto_.mutable_graph()->mutable_input())
      for (const Value& input : edges_.inputs) {
        if (input.name != info.name()) continue;
        auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
        for (int d = 0; d < shape->dim_size(); ++d)
          if (const int64_t size = input.shape[static_cast<size_t>(d)]; size >= 0)
            shape->mutable_dim(d)->set_dim_value(size);
      }
    return {};
  }

  Status serialise(std::string* bytes) const {
    if (proto_.ByteSizeLong() > INT32_MAX)
      return error(Code::kUnsupported, "the model is beyond ONNX's 2 GB");
    *bytes = proto_.SerializeAsString();
    return {};
  }
  // Says of a refusal which nodes it is about.
  static Status convert(const Document& document, const std::map<std::string, std::string>& notes,
                        Conversion* conversion) {
    Status status = convert_document(document, {"", true}, notes, conversion);
    if (status.ok() || !conversion->report.has_refusals()) return status;
    Refusals refusals;
    for (const convert::Finding& f : conversion->report.findings())
      if (f.outcome == convert::Outcome::kRefused) refusals.add(f.op, f.node, f.rule, f.remedy);
    return refusals.status();
  }

  Status compare(Findings* f) {
    const size_t n = std::min(samples_->count(), kMostJudged);
    f->held_out_samples = f->judged_samples = n;
    f->min_sqnr = settings_.min_sqnr;
    for (size_t i = 0; i < n; ++i) {
      progress_("report", static_cast<double>(i) / static_cast<double>(n));
      Values feeds, real, got;
      QRT_TRY(samples_->read(i, &feeds));
      QRT_TRY(real_.run(feeds, &real));
      QRT_TRY(integers_.run(feeds, &got));
      const auto& outputs = edges_.outputs;
      f->held_out.all.add(real[outputs[0].name], got[outputs[0].name],
                          labels_.empty() ? -1 : labels_[i]);
      f->held_out.others.resize(outputs.size() - 1);
      for (size_t k = 1; k < outputs.size(); ++k) {
        f->held_out.others[k - 1].first = outputs[k].name;
        f->held_out.others[k - 1].second.add(real[outputs[k].name], got[outputs[k].name]);
      }
    }
    if (settings_.task != Task::kAuto && settings_.task != Task::kClasses)
      f->held_out.all.forget_classes();
    return {};
  }

  const Settings& settings_;
  const Progress& progress_;
  Quantised& result_;
  // On an arena: outside one protobuf's destructors fail where it ran out of memory in the middle.
  google::protobuf::Arena arena_;
  onnx::ModelProto& proto_ = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena_);
  FloatModel edges_;  // inputs and outputs alone
  std::unique_ptr<Samples> samples_;
  std::vector<int64_t> labels_;
  IntegerRunner real_, integers_;
};

}  // namespace

Status quantize_dynamic(const Settings& settings, const Progress& progress,
                        const std::function<void(const convert::Report&)>& plan,
                        Quantised* result) {
  return DynamicWork(settings, progress, result).run(plan);
}

}  // namespace qrt::quantize
