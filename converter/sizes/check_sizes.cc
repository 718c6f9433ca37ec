#include "converter/sizes/check_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "converter/convert.h"
#include "runtime/session.h"
#include "runtime/tools/budget.h"

namespace qrt::convert {
namespace {

using Bytes = std::vector<uint8_t>;

Result<std::shared_ptr<const VerifiedModel>> load(const Bytes& file) {
  Result<ModelBytes> bytes = ModelBytes::borrow(file.data(), file.size());
  if (!bytes.ok()) return std::move(bytes.status());
  return verify(std::move(*bytes));
}

// Fills a tensor with numbers that make ordinary activations: floats between -4 and 4, any bytes; and with integers from 0 to
// `most_index` where they are wider, since these may be indices or masks. REQUIRES: most_index is 0 or 1.
void fill(uint8_t* data, const TensorType& type, int most_index, std::mt19937* random) {
  const auto elements = static_cast<size_t>(type.shape.elements());
  if (type.dtype == DType::kFloat32) {
    std::uniform_real_distribution<float> real(-4.0f, 4.0f);
    for (size_t i = 0; i < elements; ++i) {
      const float value = real(*random);
      memcpy(data + i * sizeof value, &value, sizeof value);
    }
    return;
  }
  const size_t width = dtype_bytes(type.dtype);
  for (size_t i = 0; i < tensor_bytes(type); ++i)
    data[i] = width > 2 && i % width != 0
                  ? 0
                  : static_cast<uint8_t>((*random)() &
                                         (width > 2 ? static_cast<unsigned>(most_index) : 255u));
}

struct Output {
  TensorType type;
  Bytes data;
};

// Compares outputs. Their floats are equal to the last bit, too: both files have the same operators, in the same order.
bool are_equal(const std::vector<Output>& a, const std::vector<Output>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Output& x, const Output& y) {
           return x.type.dtype == y.type.dtype && x.type.shape == y.type.shape && x.data == y.data;
         });
}

// Bytes that a session may have at sizes at which a comparison is worth them: those of a small file, and more by
// the size of the source.
constexpr uint64_t kSessionBytes = uint64_t{128} << 20, kSessionBytesPerByte = 8;

SessionOptions options_at(const SymbolSizes& sizes, uint64_t source_bytes) {
  SessionOptions options;
  options.threads = 1;
  options.sizes = sizes;
  options.max_memory = static_cast<size_t>(
      std::min<uint64_t>(kSessionBytes + kSessionBytesPerByte * source_bytes, SIZE_MAX / 2));
  return options;
}

// Returns about how many nanoseconds a run takes, its inputs filled before it.
uint64_t steps_of_run(const Plan& plan) {
  constexpr uint64_t kMacsPerStep = 32, kStepsPerInputByte = 8;
  uint64_t steps = 0;
  for (const PlannedStep& step : plan.steps)
    steps += step.macs / kMacsPerStep + step_bytes(plan, step).all;
  for (const End& input : plan.inputs) steps += kStepsPerInputByte * plan.slot_bytes(input.slot);
  return steps;
}

// Runs a model on the numbers that follow from a seed.
Status run(const std::shared_ptr<const VerifiedModel>& model, const SessionOptions& options,
           int most_index, std::vector<Output>* out) {
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  if (!session.ok()) return std::move(session.status());
  const Plan& plan = (*session)->plan();
  std::mt19937 random(1);
  for (const End& input : plan.inputs)
    fill((*session)->data(input.slot), plan.types[input.slot], most_index, &random);
  QRT_TRY((*session)->run());
  for (const End& output : plan.outputs) {
    const TensorType& type = plan.types[output.slot];
    const uint8_t* data = (*session)->data(output.slot);
    out->push_back({type, Bytes(data, data + tensor_bytes(type))});
  }
  return Status();
}

// kTooCostly: nothing was compared.
enum class Verdict { kEqual, kRefusedByBoth, kRefused, kWrong, kTooCostly };

class Checker {
 public:
  Checker(const FileAtSizes& file_at, Graph* graph)
      : file_at_(file_at),
        graph_(graph),
        source_bytes_(Budget::of_files(graph->source_files).file_bytes()),
        budget_(source_bytes_) {
    for (const Symbol& s : graph->symbols) {
      own_.push_back(s.value);
      shares_ += s.least == s.most ? 0 : 1;
    }
  }

  Status run() {
    Status written = write_model(*graph_, &file_);
    if (written.code() == Code::kUnsupported)
      return error(Code::kUnsupported,
                   "its open dimensions cannot stay open: %s; give sizes by --input-shape "
                   "NAME=1x3x224x224",
                   written.message());
    if (!written.ok()) return written;
    Result<std::shared_ptr<const VerifiedModel>> model = load(file_);
    if (!model.ok()) return std::move(model.status());
    model_ = *model;
    QRT_TRY(check_own());
    for (size_t s = 0; s < own_.size(); ++s) QRT_TRY(check_alone(s));
    QRT_TRY(check_limits());
    return check_together();
  }

 private:
  // Compares at the file's own sizes, for which all of the work may be taken. Where the source itself fails there, as at indices
  // that a table does not have, it is tried once more with indices of 0.
  Status check_own() {
    Verdict verdict = Verdict::kRefused;
    const uint64_t shares = std::exchange(shares_, 1);
    for (most_index_ = 1; most_index_ >= 0; --most_index_) {
      budget_ = Budget(source_bytes_);
      own_distances_.clear();
      QRT_TRY(judge(own_, &verdict, &own_distances_));
      if (verdict != Verdict::kRefusedByBoth || most_index_ == 0) break;
    }
    shares_ = shares;
    if (verdict == Verdict::kEqual) return Status();
    if (verdict == Verdict::kTooCostly)
      return error(
          Code::kUnsupported,
          "its open dimensions cannot stay open: to compare it with the source at other sizes "
          "is more work than a file of %llu bytes may ask for; give sizes by --input-shape "
          "NAME=1x3x224x224",
          static_cast<unsigned long long>(source_bytes_));
    return error(Code::kUnsupported,
                 "its open dimensions cannot stay open: the rules found could not be compared with "
                 "the source; give sizes by --input-shape NAME=1x3x224x224");
  }

  // Takes what a comparison costs from the budget: an import, its file and two runs. Returns whether there was enough. Every
  // open symbol has an equal part of the work that the source may ask for, as have all symbols together: budget_ begins anew
  // for each, and what is taken from it counts shares_ times.
  bool can_afford(const SessionOptions& options) {
    constexpr uint64_t kStepsPerValue = 20000, kStepsPerByte = 2;
    constexpr uint64_t kMost = uint64_t{1} << 50;  // more than any budget, and no overflow below
    const auto take = [this](uint64_t steps) {
      return steps < kMost && budget_.charge(shares_ * steps).ok();
    };
    if (!take(kStepsPerValue * graph_->values.size() + kStepsPerByte * file_.size())) return false;
    Result<std::shared_ptr<const Plan>> plan = Session::plan_for(model_, options);
    if (!plan.ok()) return plan.status().code() != Code::kOutOfMemory;
    return (*plan)->total_bytes() <= options.max_memory && take(2 * steps_of_run(**plan));
  }

  // Compares the file's run at sizes that it allows with the source's, and tells how far the source's numbers are from where it
  // does something else.
  Status judge(const Sizes& sizes, Verdict* verdict, std::vector<Distance>* distances = nullptr) {
    std::vector<Output> got, want;
    Bytes fixed;
    std::vector<Distance> unused;
    const SessionOptions options = options_at(sizes, source_bytes_);
    *verdict = Verdict::kTooCostly;
    if (!can_afford(options)) return Status();
    const Status ran = convert::run(model_, options, most_index_, &got);
    Status made = file_at_(sizes, &fixed, distances != nullptr ? distances : &unused);
    if (made.code() == Code::kCancelled) return Status();
    const bool is_refused = made.code() == Code::kUnsupported || made.code() == Code::kInvalidModel;
    if (!made.ok() && !is_refused) return made;
    if (made.ok()) {
      Result<std::shared_ptr<const VerifiedModel>> model = load(fixed);
      if (!model.ok()) return std::move(model.status());
      made = convert::run(*model, options_at({}, source_bytes_), most_index_, &want);
    }
    if (made.code() == Code::kOutOfMemory || ran.code() == Code::kOutOfMemory) return Status();
    if (made.ok())
      *verdict = !ran.ok()              ? Verdict::kRefused
                 : are_equal(got, want) ? Verdict::kEqual
                                        : Verdict::kWrong;
    else
      *verdict = ran.ok() ? Verdict::kWrong : Verdict::kRefusedByBoth;
    return Status();
  }

  // Sizes of one symbol, the others as in the file, that are compared with the source.
  class Line {
   public:
    Line(Checker& checker, size_t symbol)
        : checker_(checker), symbol_(symbol), s_(checker.graph_->symbols[symbol]) {
      at_[s_.value] = checker.own_distances_;
      right.push_back(s_.value);
    }

    Status run() {
      const bool is_large = checker_.file_.size() > kLargeFile;
      // Where not all can be afforded, the first ones are.
      std::vector<int64_t> candidates = {1, 2, 3, 7,  16, 33, 64, 127, 4,  5,
                                         6, 8, 9, 10, 12, 15, 17, 31,  32, 100};
      if (is_large) candidates.resize(6);
      candidates.insert(candidates.begin() + 6, s_.most < INT32_MAX ? s_.most : 4 * s_.value + 1);
      bool is_compared;
      for (const int64_t size : candidates) QRT_TRY(try_at(size, &is_compared));
      tries_left_ = is_large ? 12 : 60;
      QRT_TRY(go_beyond());
      while (tries_left_ > 0) {
        const int64_t size = next_between();
        if (size < 0) break;
        QRT_TRY(try_at(size, &is_compared));
        // Nothing is known of the source's results there, so the size is excluded.
        if (!is_compared) wrong.push_back(size);
      }
      return Status();
    }

    std::vector<int64_t> right, wrong;  // `wrong`: or where that is not known

    // Returns the distances, by number, that differ along the line.
    std::set<size_t> varying() const {
      std::set<size_t> found;
      for (const auto& [size, distances] : at_)
        for (size_t i = 0; i < std::min(distances.size(), own().size()); ++i)
          if (distances[i].distance != own()[i].distance) found.insert(i);
      return found;
    }

    // Returns the distances of which the sign is another where the file is wrong, or may be.
    std::set<size_t> limiting() const {
      std::set<size_t> found = beyond_;
      for (const int64_t size : wrong) {
        const auto known = at_.find(size);
        if (known == at_.end()) continue;  // too costly to be compared
        const std::vector<Distance>& distances = known->second;
        for (size_t i = 0; i < std::min(distances.size(), own().size()); ++i)
          if (sign(distances[i].distance) != sign(own()[i].distance)) found.insert(i);
      }
      return found;
    }

   private:
    static int sign(int64_t d) { return d < 0 ? -1 : d > 0 ? 1 : 0; }
    // Returns the distances at the file's own sizes.
    const std::vector<Distance>& own() const { return checker_.own_distances_; }

    // Compares at a size, if the file has it and it was not compared before. *is_compared is false where that was too costly.
    Status try_at(int64_t size, bool* is_compared) {
      *is_compared = true;
      if (!checker_.is_legal(symbol_, size) || size > kMostSize || at_.count(size) != 0)
        return Status();
      Sizes sizes = checker_.own_;
      sizes[symbol_] = size;
      Verdict verdict;
      --tries_left_;
      std::vector<Distance> distances;
      QRT_TRY(checker_.judge(sizes, &verdict, &distances));
      *is_compared = verdict != Verdict::kTooCostly;
      if (!*is_compared) return Status();
      at_[size] = std::move(distances);
      if (verdict == Verdict::kEqual) right.push_back(size);
      if (verdict == Verdict::kWrong) wrong.push_back(size);
      return Status();
    }

    // Follows distances (ir.h) that become smaller towards larger sizes to where they are 0, and excludes that size where it is
    // too costly to be tried, and all from there on where it is too large.
    Status go_beyond() {
      for (int rounds = 0; rounds < 4 && at_.size() > 1; ++rounds) {
        const auto last = std::prev(at_.end()), before = std::prev(last);
        const int64_t b = last->first, a = before->first;
        const std::vector<Distance>&near = before->second, &far = last->second;
        int64_t nearest = INT64_MAX;
        size_t nearest_distance = 0;
        for (size_t i = 0; i < std::min(near.size(), far.size()); ++i) {
          const int64_t d = far[i].distance, by = d - near[i].distance;
          if (near[i].node != far[i].node || d == 0 || by == 0 || (d < 0) == (by < 0)) continue;
          const double at = static_cast<double>(b) +
                            static_cast<double>(b - a) *
                                std::abs(static_cast<double>(d) / static_cast<double>(by));
          if (at >= INT32_MAX || static_cast<int64_t>(at) + 2 >= nearest) continue;
          nearest = static_cast<int64_t>(at) + 2;
          nearest_distance = i;
        }
        if (nearest == INT64_MAX) break;
        nearest -= (nearest - s_.least) % s_.step;
        if (nearest > s_.most) break;
        if (nearest > kMostTried) {
          beyond_.insert(nearest_distance);
          s_.most =
              std::min(s_.most, std::max(b, nearest - 3 - (nearest - 3 - s_.least) % s_.step));
          break;
        }
        const size_t count = at_.size();
        bool is_compared;
        QRT_TRY(try_at(nearest, &is_compared));
        if (!is_compared) wrong.push_back(nearest);
        if (at_.size() == count) break;
      }
      return Status();
    }

    // Returns a size between two that were tried, of which the source does different things; -1 where there is none.
    int64_t next_between() {
      for (auto lower = at_.begin(); lower != at_.end(); ++lower) {
        const auto upper = std::next(lower);
        if (upper == at_.end()) break;
        const int64_t a = lower->first, b = upper->first;
        if (b - a <= s_.step) continue;
        const std::vector<Distance>&near = lower->second, &far = upper->second;
        for (size_t i = 0; i < std::max(near.size(), far.size()); ++i) {
          const bool has_both = i < near.size() && i < far.size();
          const int64_t x = has_both ? near[i].distance : -1, y = has_both ? far[i].distance : 1;
          if (sign(x) == sign(y)) continue;
          if (int& turns = turns_[i]; turns < kMostTurns)
            ++turns;
          else
            continue;  // it turns again and again
          // By the line through both first, then halfway, so that there is an end.
          const double part =
              (x < 0) != (y < 0) && turns_[i] % 2 == 1
                  ? std::abs(static_cast<double>(x)) /
                        (std::abs(static_cast<double>(x)) + std::abs(static_cast<double>(y)))
                  : 0.5;
          int64_t size = a + static_cast<int64_t>(std::lround(part * static_cast<double>(b - a)));
          size -= (size - s_.least) % s_.step;
          if (size <= a) size = a + s_.step;
          if (size >= b) size -= s_.step;
          return size;
        }
      }
      return -1;
    }

    static constexpr int64_t kMostTried = 2048;
    static constexpr int kMostTurns = 16;

    Checker& checker_;
    const size_t symbol_;
    Symbol& s_;
    int tries_left_ = 0;
    std::map<int64_t, std::vector<Distance>> at_;  // by size
    std::map<size_t, int> turns_;                  // sizes tried for a distance
    std::set<size_t> beyond_;                      // distances that are 0 beyond what is tried
  };

  bool is_legal(size_t symbol, int64_t size) const {
    const Symbol& s = graph_->symbols[symbol];
    return size >= s.least && size <= s.most && (size - s.least) % s.step == 0;
  }

  // One symbol at a time, small and large, and around its turning points; where that is wrong, the symbol's limits
  // exclude it.
  Status check_alone(size_t symbol) {
    Symbol& s = graph_->symbols[symbol];
    if (s.least == s.most) {
      right_.push_back({s.value});
      return Status();
    }
    budget_ = Budget(source_bytes_);
    Line line(*this, symbol);
    QRT_TRY(line.run());
    right_.push_back(line.right);
    for (const size_t i : line.varying()) ++varying_[i];
    for (const size_t i : line.limiting()) limiting_[i] = s.name;
    std::vector<int64_t>&right = line.right, &wrong = line.wrong;
    std::sort(right.begin(), right.end());
    std::sort(wrong.begin(), wrong.end());
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
                 "results than the source, or could not be compared with it; give sizes by "
                 "--input-shape NAME=1x3x224x224",
                 s.name.c_str(), static_cast<long long>(wrong.front()));
  }

  // Refuses a file where the limit that a symbol got depends on another symbol, too: no limits of single symbols exclude the
  // sizes that are wrong only together.
  Status check_limits() {
    for (const auto& [distance, name] : limiting_)
      if (varying_[distance] > 1)
        return error(
            Code::kUnsupported,
            "its open dimensions cannot stay open: the largest %s that is right depends on "
            "another open dimension; give sizes by --input-shape NAME=1x3x224x224",
            name.c_str());
    return Status();
  }

  // All symbols at once: at random, and at sizes of which each is right alone, the largest first.
  Status check_together() {
    budget_ = Budget(source_bytes_);
    const int tries = file_.size() > kLargeFile ? 4 : 12;
    std::mt19937 random(2);
    for (int i = 0; i < tries; ++i) {
      Sizes sizes;
      for (size_t at = 0; at < graph_->symbols.size(); ++at) {
        const Symbol& s = graph_->symbols[at];
        if (i % 2 == 1) {
          std::vector<int64_t> alone;
          for (const int64_t size : right_[at])
            if (is_legal(at, size) && size <= (s.is_first ? s.least + 3 : kMostTogether))
              alone.push_back(size);
          std::sort(alone.begin(), alone.end());
          sizes.push_back(alone.empty() ? s.value
                          : i == 1      ? alone.back()
                                        : alone[random() % alone.size()]);
          continue;
        }
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

  static constexpr int64_t kMostSize = 1 << 14, kMostTogether = 320;
  // Files beyond this size are compared at fewer sizes, because each comparison imports the source again.
  static constexpr size_t kLargeFile = size_t{4} << 20;

  const FileAtSizes& file_at_;
  Graph* const graph_;
  const uint64_t source_bytes_;
  Budget budget_;        // of the symbol that is checked, or of all together
  uint64_t shares_ = 1;  // of the work: open symbols, and all together
  int most_index_ = 1;
  std::vector<Distance> own_distances_;
  Sizes own_;
  std::vector<std::vector<int64_t>> right_;  // by symbol: sizes at which it is right alone
  std::map<size_t, int> varying_;            // by distance: how many symbols it depends on
  std::map<size_t, std::string> limiting_;   // distances that limit a symbol
  Bytes file_;
  std::shared_ptr<const VerifiedModel> model_;
};

}  // namespace

Status check_sizes(const FileAtSizes& file_at, Graph* graph) {
  return Checker(file_at, graph).run();
}

}  // namespace qrt::convert
