#include "converter/sizes/check_sizes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "converter/convert.h"
#include "converter/levels.h"
#include "runtime/session.h"

namespace qrt::convert {
namespace {

using Bytes = std::vector<uint8_t>;

Result<std::shared_ptr<const VerifiedModel>> load(const Bytes& file) {
  Result<ModelBytes> bytes = ModelBytes::borrow(file.data(), file.size());
  if (!bytes.ok()) return std::move(bytes.status());
  return verify(std::move(*bytes));
}

// Numbers that make ordinary activations: floats between -4 and 4, any bytes.
void fill(uint8_t* data, const TensorType& type, std::mt19937* random) {
  const auto elements = static_cast<size_t>(type.shape.elements());
  if (type.dtype == DType::kFloat32) {
    std::uniform_real_distribution<float> real(-4.0f, 4.0f);
    for (size_t i = 0; i < elements; ++i) {
      const float value = real(*random);
      memcpy(data + i * sizeof value, &value, sizeof value);
    }
    return;
  }
  // Integers that may be indices stay small.
  const size_t width = dtype_bytes(type.dtype);
  for (size_t i = 0; i < tensor_bytes(type); ++i)
    data[i] =
        width > 2 && i % width != 0 ? 0 : static_cast<uint8_t>((*random)() & (width > 2 ? 3 : 255));
}

struct Output {
  TensorType type;
  Bytes data;
};

// Compares outputs; of a model that is float in parts, whose fixed form may round otherwise, floats by their
// signal-to-noise ratio.
bool are_equal(const std::vector<Output>& a, const std::vector<Output>& b, bool rounds) {
  constexpr double kLeastRatio = 1e4;  // 40 dB
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type.dtype != b[i].type.dtype || a[i].type.shape != b[i].type.shape) return false;
    if (a[i].data == b[i].data) continue;
    if (!rounds || a[i].type.dtype != DType::kFloat32) return false;
    double signal = 0, noise = 0;
    for (size_t at = 0; at < a[i].data.size(); at += sizeof(float)) {
      float x, y;
      memcpy(&x, &a[i].data[at], sizeof x);
      memcpy(&y, &b[i].data[at], sizeof y);
      if (x == y || (x != x && y != y)) continue;
      signal += static_cast<double>(y) * static_cast<double>(y);
      noise += (static_cast<double>(x) - static_cast<double>(y)) *
               (static_cast<double>(x) - static_cast<double>(y));
    }
    if (!(noise * kLeastRatio <= signal)) return false;
  }
  return true;
}

// Runs a model on the numbers that follow from a seed.
Status run(const std::shared_ptr<const VerifiedModel>& model, const SymbolSizes& sizes,
           std::vector<Output>* out) {
  SessionOptions options;
  options.threads = 1;
  options.sizes = sizes;
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  std::mt19937 random(1);
  for (const End& input : plan.inputs)
    fill((*session)->data(input.slot), plan.types[input.slot], &random);
  QRT_TRY((*session)->run());
  for (const End& output : plan.outputs) {
    const TensorType& type = plan.types[output.slot];
    const uint8_t* data = (*session)->data(output.slot);
    out->push_back({type, Bytes(data, data + tensor_bytes(type))});
  }
  return Status();
}

enum class Verdict { kEqual, kRefusedByBoth, kRefused, kWrong };

class Checker {
 public:
  Checker(const FileAtSizes& file_at, Graph* graph) : file_at_(file_at), graph_(graph) {
    for (const Symbol& s : graph->symbols) own_.push_back(s.value);
  }

  Status run() {
    QRT_TRY(write_model(*graph_, &file_));
    Result<std::shared_ptr<const VerifiedModel>> model = load(file_);
    if (!model.ok()) return std::move(model.status());
    model_ = *model;
    rounds_ = !operators_above(file_, 1).empty();
    for (size_t s = 0; s < own_.size(); ++s) QRT_TRY(check_alone(s));
    return check_together();
  }

 private:
  // Compares at sizes which the file allows.
  Status judge(const Sizes& sizes, Verdict* verdict) {
    std::vector<Output> got, want;
    Bytes fixed;
    const Status ran = convert::run(model_, sizes, &got);
    Status made = file_at_(sizes, &fixed);
    const bool is_refused = made.code() == Code::kUnsupported || made.code() == Code::kInvalidModel;
    if (!made.ok() && !is_refused) return made;
    if (made.ok()) {
      Result<std::shared_ptr<const VerifiedModel>> model = load(fixed);
      if (!model.ok()) return std::move(model.status());
      made = convert::run(*model, {}, &want);
    }
    if (made.ok())
      *verdict = !ran.ok()                       ? Verdict::kRefused
                 : are_equal(got, want, rounds_) ? Verdict::kEqual
                                                 : Verdict::kWrong;
    else
      *verdict = ran.ok() ? Verdict::kWrong : Verdict::kRefusedByBoth;
    return Status();
  }

  bool is_legal(size_t symbol, int64_t size) const {
    const Symbol& s = graph_->symbols[symbol];
    return size >= s.least && size <= s.most && (size - s.least) % s.step == 0;
  }

  // One symbol at a time, small and large; where that is wrong, the symbol's limits exclude it.
  Status check_alone(size_t symbol) {
    Symbol& s = graph_->symbols[symbol];
    if (s.least == s.most) return Status();
    const bool is_large = file_.size() > kLargeFile;
    std::vector<int64_t> candidates = {1,  2,  3,  4,  5,  6,  7,  8,  9,   10,
                                       12, 15, 16, 17, 31, 32, 33, 64, 100, 127};
    if (is_large) candidates = {1, 2, 3, 7, 8, 16, 33};
    candidates.push_back(s.most < INT32_MAX ? s.most : 4 * s.value + 1);
    for (const TurningPoint& t : graph_->turning_points)
      if (t.dimension > 0 && candidates.size() < (is_large ? 12 : 60))
        for (const int64_t near : {-1, 0, 1})
          candidates.push_back((t.at + near) * s.value / t.dimension);
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::vector<int64_t> right, wrong;
    for (const int64_t size : candidates) {
      if (!is_legal(symbol, size) || size > kMostSize) continue;
      Sizes sizes = own_;
      sizes[symbol] = size;
      Verdict verdict;
      QRT_TRY(judge(sizes, &verdict));
      if (verdict == Verdict::kEqual) right.push_back(size);
      if (verdict == Verdict::kWrong) wrong.push_back(size);
    }
    right.push_back(s.value);
    std::sort(right.begin(), right.end());
    if (wrong.empty()) return Status();
    const auto exclude = [&](int64_t least, int64_t most, int64_t step) {
      const auto allows = [&](int64_t size) {
        return size >= least && size <= most && (size - least) % step == 0;
      };
      if (std::any_of(wrong.begin(), wrong.end(), allows) || !allows(s.value)) return false;
      s.least = least;
      s.most = most;
      s.step = step;
      return true;
    };
    if (exclude(std::max(s.least, wrong.back() + 1), s.most, s.step)) return Status();
    // The sizes below the first wrong one above the file's own, if all others are below it.
    const auto above = std::upper_bound(wrong.begin(), wrong.end(), s.value);
    if (above != wrong.end()) {
      const auto last = std::lower_bound(right.begin(), right.end(), *above);
      const int64_t most = last == right.begin() ? s.value : *std::prev(last);
      const int64_t least = above == wrong.begin() ? s.least : *std::prev(above) + 1;
      if (s.step == 1 && exclude(least, most, 1)) return Status();
    }
    for (const int64_t step : {2, 4, 8, 16, 32, 64})
      if (s.value % step == 0 && exclude((s.least + step - 1) / step * step, s.most, step))
        return Status();
    return error(Code::kUnsupported,
                 "its open dimensions cannot stay open: at %s = %lld the rules found give other "
                 "results than the source; give sizes by --input-shape NAME=1x3x224x224",
                 s.name.c_str(), static_cast<long long>(wrong.front()));
  }

  // All symbols at once, at random.
  Status check_together() {
    const int tries = file_.size() > kLargeFile ? 4 : 12;
    std::mt19937 random(2);
    for (int i = 0; i < tries; ++i) {
      Sizes sizes;
      for (const Symbol& s : graph_->symbols) {
        const int64_t most =
            std::min({s.most, std::max(s.least, std::min<int64_t>(s.least + 80 * s.step, 256)),
                      s.is_first ? s.least + 3 : kMostSize});
        const int64_t steps = std::max<int64_t>(0, (most - s.least) / s.step);
        sizes.push_back(s.least +
                        static_cast<int64_t>(random() % static_cast<uint64_t>(steps + 1)) * s.step);
      }
      Verdict verdict;
      QRT_TRY(judge(sizes, &verdict));
      if (verdict != Verdict::kWrong) continue;
      std::string at;
      for (size_t s = 0; s < sizes.size(); ++s)
        at += (at.empty() ? "" : ", ") + graph_->symbols[s].name + " = " + std::to_string(sizes[s]);
      return error(Code::kUnsupported,
                   "its open dimensions cannot stay open: at %s the rules found give other results "
                   "than the source; give sizes by --input-shape NAME=1x3x224x224",
                   at.c_str());
    }
    return Status();
  }

  static constexpr int64_t kMostSize = 1 << 14;
  // Files beyond this size are compared at fewer sizes, because each comparison imports the source again.
  static constexpr size_t kLargeFile = size_t{4} << 20;

  const FileAtSizes& file_at_;
  Graph* const graph_;
  Sizes own_;
  Bytes file_;
  std::shared_ptr<const VerifiedModel> model_;
  bool rounds_ = false;  // some of its operators are float
};

}  // namespace

Status check_sizes(const FileAtSizes& file_at, Graph* graph) {
  return Checker(file_at, graph).run();
}

}  // namespace qrt::convert
