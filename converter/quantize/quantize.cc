#include "converter/quantize/quantize.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/float/equalise.h"
#include "converter/quantize/integer_model.h"
#include "converter/quantize/ladder/simulation.h"
#include "converter/quantize/ladder/sweep.h"
#include "converter/quantize/ranges/rules.h"
#include "converter/quantize/report/tensors.h"
#include "converter/quantize/samples/labels.h"
#include "converter/quantize/schemes/qdq_writer.h"
#include "converter/quantize/schemes/roles.h"

namespace qrt::quantize {
namespace {

// Every so many samples one is held out for the report.
constexpr size_t kHeldOutEvery = 10;
// Of the calibration samples, so many at most are run again to compare outputs.
constexpr size_t kMostCompared = 128;
// Weights-only and activations-only are simulated on so many.
constexpr size_t kMostSimulated = 32;
// Rungs of the ladder are judged on so many samples at most.
constexpr size_t kMostJudged = 512;
// Whether equalised channels are better is told from the ranges of so many samples.
constexpr size_t kMostTrial = 32;
// Where every channel of the weights has its own scale, equalisation is for tensors whose channels are
// far apart: elsewhere its gain on few samples is chance.
constexpr double kMuchBetter = 0.8;
// Tensors are ranked for 16 bits on so many samples.
constexpr size_t kMostRanked = 8;

class Quantiser {
 public:
  Quantiser(const Settings& settings, const Progress& progress, Quantised* result)
      : settings_(settings), scheme_(*settings.scheme), progress_(progress), result_(*result) {}

  Status run(const std::function<void(const convert::Report&)>& plan) {
    QRT_TRY(read());
    QRT_TRY(make_placement());
    plan(result_.findings.nodes);
    if (settings_.ladder != Ladder::kNone) QRT_TRY(try_equalised());
    QRT_TRY(start(used_));
    QRT_TRY(check_calibration());
    QRT_TRY(climb());
    QRT_TRY(find_errors());
    QRT_TRY(build(parameters_));
    return compare();
  }

 private:
  Status read() {
    QRT_TRY(read_float_model(settings_.model, &model_));
    QRT_TRY(open_samples(settings_.calibration, settings_.images, model_, &samples_));
    const size_t n = samples_->count();
    if (n < 2)
      return error(Code::kInvalidModel,
                   "--calibration: %zu sample: give at least 2, better some hundred, of what the "
                   "model will see",
                   n);
    QRT_TRY(read_labels(settings_.labels, n, &labels_));
    const size_t every = std::min(kHeldOutEvery, n);
    for (size_t i = 0; i < n; ++i) (i % every == every - 1 ? held_out_ : used_).push_back(i);
    Values first;
    QRT_TRY(samples_->read(0, &first));
    std::map<std::string, Dims> shapes;
    for (const auto& [name, tensor] : first) shapes[name] = tensor.shape;
    QRT_TRY(fix_input_shapes(shapes, &model_));
    QRT_TRY(simplify(&model_));
    QRT_TRY(check_weights());
    return interpreter_.create(model_, settings_.threads);
  }
  Status check_weights() const {
    for (const auto& [name, t] : model_.constants)
      for (const float v : t.reals)
        if (v != v)
          return error(Code::kInvalidModel,
                       "the constant '%s' holds NaN: the training of this model failed, "
                       "or its file is damaged",
                       name.c_str());
    return {};
  }

  // Codings by the ranges of some samples, and weights for them.
  Status start(const std::vector<size_t>& which) {
    QRT_TRY(calibrate(model_, placement_, &interpreter_, samples_.get(), which, progress_,
                      &calibration_));
    parameters_ = Parameters();
    choices_.clear();
    choose_codings();
    quantise_layers(model_, placement_, scheme_, &parameters_);
    return {};
  }
  // The same function with channels of like size, if it is nearer to the float model when quantised.
  Status try_equalised() {
    FloatModel equalised = model_;
    int changed = 0;
    QRT_TRY(equalise(EqualiseOptions(), &equalised, &changed));
    if (changed == 0) return {};
    const size_t step = std::max<size_t>(used_.size() / kMostTrial, 1);
    std::vector<size_t> trial;
    for (size_t i = 0; i < used_.size() && trial.size() < kMostTrial; i += step)
      trial.push_back(used_[i]);
    Comparison before, after;
    QRT_TRY(start(trial));
    QRT_TRY(judge(parameters_, held_out_, &before));
    std::swap(model_, equalised);
    QRT_TRY(interpreter_.create(model_, settings_.threads));
    QRT_TRY(make_placement());
    QRT_TRY(start(trial));
    QRT_TRY(judge(parameters_, held_out_, &after));
    const double enough = scheme_.per_channel ? kMuchBetter : 1;
    const RungFinding rung = {"equalisation", before.noise(), after.noise(),
                              after.noise() < enough * before.noise()};
    result_.findings.rungs.push_back(rung);
    if (rung.is_kept) return {};
    std::swap(model_, equalised);
    QRT_TRY(interpreter_.create(model_, settings_.threads));
    return make_placement();
  }

  // Codings without samples, to ask the converter what it would make of each node.
  Parameters neutral_parameters() const {
    Parameters p;
    for (const auto& [name, root] : placement_.coded)
      if (name == root) p.codings[name] = coding_for(scheme_, scheme_.bits, {-4, 4});
    for (auto& [name, coding] : p.codings) fix_coding(name, &coding);
    for (const std::string& name : placement_.constants) p.constants[name] = constant_coding(name);
    quantise_layers(model_, placement_, scheme_, &p);
    return p;
  }
  // Places quantisation; what the converter refuses gets it on all sides, and is judged again.
  Status make_placement() {
    std::set<std::string>& forced = forced_;
    forced.clear();
    convert::Report& report = result_.findings.nodes;
    for (int round = 0;; ++round) {
      placement_ = place(model_, forced);
      std::string qdq;
      QRT_TRY(write_qdq(model_, placement_, neutral_parameters(), &qdq));
      QRT_TRY(judge_qdq(qdq, false, &report));
      const size_t before = forced.size();
      for (size_t i = 0; i < model_.nodes.size(); ++i)
        if (is_refused(model_.nodes[i], report) && placement_.float_nodes.count(i) == 0)
          for (const auto* names : {&model_.nodes[i].inputs, &model_.nodes[i].outputs})
            for (const std::string& name : *names)
              if (!name.empty() && !model_.constant(name)) forced.insert(name);
      if (forced.size() == before || round == 3) {
        if (report.has_refusals()) QRT_TRY(judge_qdq(qdq, true, &report));
        break;
      }
    }
    for (const convert::Finding& f : report.findings()) has_float_ |= f.level == "F";
    if (!report.has_refusals()) return {};
    return error(Code::kUnsupported, "%s: no node may be refused:\n%s", report.refusals().c_str(),
                 report.text(false).c_str());
  }
  static bool is_refused(const Node& node, const convert::Report& report) {
    const auto& all = report.findings();
    return std::any_of(all.begin(), all.end(), [&](const convert::Finding& f) {
      return f.node == node.name && f.outcome == convert::Outcome::kRefused;
    });
  }

  Status check_calibration() {
    bool any = false;
    for (const Value& input : model_.inputs) {
      const auto extent = calibration_.extents.find(input.name);
      any = any || extent == calibration_.extents.end() || extent->second.hi > extent->second.lo;
    }
    if (!any)
      return error(Code::kInvalidModel,
                   "--calibration: every value of every sample is 0: give samples of what the "
                   "model will see");
    return check_outputs();
  }
  // A model whose output is the same for all samples has nothing to be quantised.
  Status check_outputs() {
    Values first, other;
    for (size_t i = 0; i < std::min<size_t>(used_.size(), 8); ++i) {
      Values feeds;
      QRT_TRY(samples_->read(used_[i], &feeds));
      QRT_TRY(interpreter_.run(feeds, nullptr, i == 0 ? &first : &other));
      for (const auto& [name, y] : other)
        if (y.reals != first[name].reals || y.integers != first[name].integers) return {};
    }
    return error(Code::kInvalidModel,
                 "the model's output does not depend on its input: it is the same for the first "
                 "samples (are they prepared as in training?)");
  }

  // The result of a Softmax has the coding of ONNX Runtime's kernel.
  void fix_coding(const std::string& name, Coding* coding) const {
    for (const Node& n : model_.nodes) {
      if (n.outputs[0] != name || n.op != "Softmax" || scheme_.power_of_two) continue;
      coding->zero_point = coding->lowest();
      coding->scale = std::ldexp(1.0f, -coding->bits);
    }
  }
  Coding constant_coding(const std::string& name) const {
    Extent e;
    const Tensor& t = *model_.constant(name);
    e.add(t.reals.data(), t.reals.size());
    return coding_for(scheme_, scheme_.bits, {e.lo, e.hi});
  }
  void choose_codings() {
    for (const auto& [name, histogram] : calibration_.histograms) {
      if (!placement_.is_coded(name)) continue;
      choices_[name] = range_choices(histogram, scheme_, scheme_.bits);
      parameters_.codings[name] = choices_[name][0].coding;
      rules_[name] = choices_[name][0].rule;
      fix_coding(name, &parameters_.codings[name]);
    }
    for (const std::string& name : placement_.constants)
      parameters_.constants[name] = constant_coding(name);
  }

  Status convert(const Parameters& parameters, std::string* qdq, Conversion* conversion) const {
    QRT_TRY(write_qdq(model_, placement_, parameters, qdq));
    std::map<std::string, std::string> notes = {
        {"quantized_by", std::string("qrt_quantize ") + scheme_.name}};
    if (is_random()) notes["calibration"] = "random: for timing only";
    return convert_qdq(*qdq, notes, conversion);
  }
  Status build(const Parameters& parameters) {
    Conversion conversion;
    QRT_TRY(convert(parameters, &result_.qdq, &conversion));
    result_.bytes = std::move(conversion.bytes);
    result_.findings.nodes = std::move(conversion.report);
    return {};
  }

  // --- the ladder

  // How the integer model of some parameters does on some samples.
  Status judge(const Parameters& parameters, const std::vector<size_t>& which,
               Comparison* comparison) {
    std::string qdq;
    Conversion conversion;
    QRT_TRY(convert(parameters, &qdq, &conversion));
    IntegerRunner integers;
    QRT_TRY(integers.create(conversion.bytes, static_cast<size_t>(settings_.threads)));
    const std::string& output = model_.outputs[0].name;
    for (size_t i = 0; i < std::min(which.size(), kMostJudged); ++i) {
      Values feeds, got;
      QRT_TRY(samples_->read(which[i], &feeds));
      Tensor& real = judged_[which[i]];
      if (real.reals.empty()) {
        Values outputs;
        QRT_TRY(interpreter_.run(feeds, nullptr, &outputs));
        real = std::move(outputs[output]);
      }
      QRT_TRY(integers.run(feeds, &got));
      comparison->add(real, got[output], labels_.empty() ? -1 : labels_[which[i]]);
    }
    return {};
  }
  // Keeps what `change` does to the parameters if the held-out samples say that it helped.
  Status try_rung(const char* name, const std::function<Status(Parameters*)>& change) {
    Parameters changed = parameters_;
    QRT_TRY(change(&changed));
    Comparison after;
    QRT_TRY(judge(changed, held_out_, &after));
    RungFinding rung = {name, judgement_.noise(), after.noise(),
                        after.noise() < judgement_.noise()};
    if (rung.is_kept) {
      parameters_ = std::move(changed);
      judgement_ = after;
    }
    result_.findings.rungs.push_back(rung);
    return {};
  }
  Status sweep(const Sweep::Work& work, Parameters* parameters) {
    Sweep walk(model_, placement_, scheme_, &interpreter_);
    QRT_TRY(walk.run(samples_.get(), used_, work, progress_, parameters));
    for (const auto& [root, rule] : walk.rules()) rules_[root] = rule;
    return {};
  }
  Status climb() {
    if (settings_.ladder == Ladder::kNone && settings_.max_drop < 0) return {};
    QRT_TRY(judge(parameters_, held_out_, &judgement_));
    if (settings_.ladder != Ladder::kNone) {
      const auto rung = [&](const Sweep::Work& work) {
        return try_rung(work.name, [&](Parameters* p) { return sweep(work, p); });
      };
      QRT_TRY(rung({"ranges", &choices_, false, false}));
      QRT_TRY(rung({"weight rounding", nullptr, true, false}));
      QRT_TRY(rung({"bias correction", nullptr, false, true}));
    }
    return settings_.max_drop < 0 ? Status() : promote();
  }

  // --- 16 bits

  double drop(const Comparison& c) const {
    if (c.has_labels()) return (c.float_accuracy() - c.accuracy()) * 100;
    return c.is_classes() ? (1 - c.agreement()) * 100 : 0;
  }
  // The tensors whose roundings the outputs suffer from most, worst first.
  Status rank(std::vector<std::string>* roots) {
    std::map<std::string, double> noise;
    for (const auto& [root, coding] : parameters_.codings)
      if (coding.bits == 8 && placement_.is_coded(root)) noise[root] = 0;
    size_t done = 0;
    for (auto& [root, sum] : noise) {
      progress_("ranking", static_cast<double>(done++) / static_cast<double>(noise.size()));
      Simulation without(model_, placement_, parameters_, &interpreter_, {true, true, {root}});
      Comparison c;
      for (size_t i = 0; i < std::min(used_.size(), kMostRanked); ++i) {
        Values feeds, real, got;
        QRT_TRY(samples_->read(used_[i], &feeds));
        QRT_TRY(interpreter_.run(feeds, nullptr, &real));
        QRT_TRY(without.run(feeds, &got));
        c.add(real[model_.outputs[0].name], got[model_.outputs[0].name]);
      }
      sum = c.noise();
      roots->push_back(root);
    }
    std::stable_sort(roots->begin(), roots->end(), [&](const std::string& a, const std::string& b) {
      return noise[a] < noise[b];
    });
    return {};
  }
  // Twice as many tensors each time, until the drop is met on the samples held out and as many others
  // as are judged by.
  Status promote() {
    std::vector<size_t> which = held_out_;
    which.insert(which.end(), used_.begin(), used_.end());
    Comparison now;
    QRT_TRY(judge(parameters_, which, &now));
    if (drop(now) <= settings_.max_drop) return {};
    const double before = now.noise();
    std::vector<std::string> roots;
    QRT_TRY(rank(&roots));
    for (size_t n = 1, done = 0; done < roots.size() && drop(now) > settings_.max_drop; n *= 2) {
      for (; done < std::min(n, roots.size()); ++done) QRT_TRY(promote_one(roots[done]));
      now = Comparison();
      QRT_TRY(judge(parameters_, which, &now));
    }
    result_.findings.rungs.push_back({"16 bits", before, now.noise(), true});
    return {};
  }
  // Leaves a tensor alone whose readers have no form for 16 bits. A last product has one only if its
  // result is quantised, too.
  Status promote_one(const std::string& root) {
    for (const bool with_outputs : {false, true}) {
      Parameters changed = parameters_;
      Placement placement = placement_;
      if (with_outputs) {
        std::set<std::string> forced = forced_;
        for (const Value& v : model_.outputs) forced.insert(v.name);
        placement = place(model_, forced);
        for (const Value& v : model_.outputs)
          changed.codings[placement.coded[v.name]] = wide_coding(v.name);
      }
      changed.codings[root] = wide_coding(root);
      std::string qdq;
      convert::Report report;
      QRT_TRY(write_qdq(model_, placement, changed, &qdq));
      QRT_TRY(judge_qdq(qdq, has_float_, &report));
      if (report.has_refusals()) continue;
      parameters_ = std::move(changed);
      placement_ = std::move(placement);
      break;
    }
    return {};
  }
  Coding wide_coding(const std::string& root) const {
    const Extent& e = calibration_.extents.at(root);
    return coding_for(scheme_, 16, {e.lo, e.hi});
  }

  Status find_errors() {
    Sweep walk(model_, placement_, scheme_, &interpreter_);
    Parameters unchanged = parameters_;
    QRT_TRY(walk.run(samples_.get(), used_, {}, progress_, &unchanged));
    result_.findings.tensors =
        tensor_findings(model_, placement_, parameters_, calibration_, rules_, walk.errors());
    return {};
  }
  bool is_random() const { return settings_.calibration == std::vector<std::string>{"random"}; }

  Status compare_set(const std::vector<size_t>& which, IntegerRunner* integers,
                     Findings::Set* set) {
    Simulation weights(model_, placement_, parameters_, &interpreter_, {true, false, {}});
    Simulation activations(model_, placement_, parameters_, &interpreter_, {false, true, {}});
    const std::string& output = model_.outputs[0].name;
    for (size_t i = 0; i < std::min(which.size(), kMostCompared); ++i) {
      progress_("report", static_cast<double>(i) / static_cast<double>(which.size()));
      Values feeds, real, got;
      QRT_TRY(samples_->read(which[i], &feeds));
      QRT_TRY(interpreter_.run(feeds, nullptr, &real));
      const int64_t label = labels_.empty() ? -1 : labels_[which[i]];
      QRT_TRY(integers->run(feeds, &got));
      set->all.add(real[output], got[output], label);
      if (i >= kMostSimulated) continue;
      QRT_TRY(weights.run(feeds, &got));
      set->weights.add(real[output], got[output], label);
      QRT_TRY(activations.run(feeds, &got));
      set->activations.add(real[output], got[output], label);
    }
    return {};
  }
  Status compare() {
    IntegerRunner integers;
    QRT_TRY(integers.create(result_.bytes, static_cast<size_t>(settings_.threads)));
    Findings& f = result_.findings;
    f.model = settings_.model;
    f.scheme = scheme_.name;
    f.is_random = is_random();
    f.calibration_samples = used_.size();
    f.held_out_samples = held_out_.size();
    for (const convert::Finding& n : f.nodes.findings()) {
      if (!n.is_node) continue;
      (n.level == "F" ? f.float_nodes : f.integer_nodes) += 1;
    }
    QRT_TRY(compare_set(used_, &integers, &f.calibration));
    return compare_set(held_out_, &integers, &f.held_out);
  }

  const Settings& settings_;
  const Scheme& scheme_;
  const Progress& progress_;
  Quantised& result_;
  FloatModel model_;
  std::unique_ptr<Samples> samples_;
  std::vector<int64_t> labels_;
  std::vector<size_t> used_, held_out_;
  Interpreter interpreter_;
  Placement placement_;
  std::set<std::string> forced_;  // quantised because the converter asks for it
  bool has_float_ = false;        // some nodes run in float
  Calibration calibration_;
  std::map<std::string, std::vector<RangeChoice>> choices_;
  Parameters parameters_;
  std::map<std::string, Rule> rules_;  // that chose each coding
  std::map<size_t, Tensor> judged_;    // the float model's output for samples that are judged by
  Comparison judgement_;               // of parameters_, on those
};

}  // namespace

Status quantize(const Settings& settings, const Progress& progress,
                const std::function<void(const convert::Report&)>& plan, Quantised* result) {
  return Quantiser(settings, progress, result).run(plan);
}

}  // namespace qrt::quantize
