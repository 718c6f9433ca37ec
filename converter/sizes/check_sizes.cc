// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/check_sizes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "converter/convert.h"
#include "converter/sizes/planned_sizes.h"
#include "converter/sizes/runs.h"
#include "converter/sizes/size_search.h"
#include "runtime/session.h"
#include "runtime/tools/budget.h"

namespace qrt::convert {
namespace {

class Checker {
 public:
  Checker(const FileAtSizes& file_at, Graph* graph)
      : file_at_(file_at),
        graph_(graph),
        source_bytes_(Budget::of_files(graph->source_files).file_bytes()),
        budget_(source_bytes_) {
    for (const Symbol& s : graph->symbols) own_.push_back(s.value);
  }

  Status run() {
    QRT_TRY(make_file());
    QRT_TRY(check_own());
    narrow_to_planned(*model_, &budget_, &graph_->symbols);
    QRT_TRY(check_alone());
    QRT_TRY(check_limits());
    QRT_TRY(check_ties());
    QRT_TRY(allow_zero());
    narrow_to_planned(*model_, &budget_, &graph_->symbols);
    for (const Symbol& s : graph_->symbols)
      if (s.wants_zero() && s.least != 0)
        return error(Code::kUnsupported,
                     "the size of '%s' cannot be 0: qrt does not run the model as its source there",
                     s.name.c_str());
    QRT_TRY(check_together());
    limit_tied();
    return Status();
  }

 private:
  Status make_file() {
    std::vector<uint8_t> file;
    Status written = write_model(*graph_, &file);
    if (written.code() == Code::kUnsupported)
      return error(Code::kUnsupported,
                   "its open dimensions cannot stay open: %s; give sizes by --input-shape "
                   "NAME=1x3x224x224",
                   written.message());
    if (!written.ok()) return written;
    Result<std::shared_ptr<const VerifiedModel>> model = load(file);
    if (!model.ok()) return std::move(model.status());
    model_ = *model;
    file_ = std::move(file);
    return Status();
  }

  // Compares at the file's own sizes, with the whole budget. Where the source and the file both refuse their inputs, such as an
  // index beyond a table, tries again with integers of 0, then both with single integers set to the largest size, and with
  // integers of 1, masks that hide nothing; then all of these at a batch of 1, and at small sizes. Fails unless the results are
  // equal.
  Status check_own() {
    Verdict verdict = Verdict::kRefused;
    struct Try {
      int least, most;
      bool is_far;
    };
    constexpr Try kTries[] = {
        {0, 1, false}, {0, 0, false}, {0, 1, true}, {0, 0, true}, {1, 1, false}};
    const auto try_all = [&] {
      for (const Try& t : kTries) {
        integers_ = {t.least, t.most, 0};
        is_far_ = t.is_far;
        budget_ = Budget(source_bytes_);
        part_ = budget_.steps_left();
        own_distances_.clear();
        QRT_TRY(judge(own_, &verdict, &own_distances_));
        if (verdict != Verdict::kRefusedByBoth) break;
      }
      return Status();
    };
    QRT_TRY(try_all());
    if (verdict == Verdict::kRefusedByBoth) {
      // Some sources, such as a GroupQueryAttention behind a past, take one sequence only.
      for (size_t s = 0; s < own_.size(); ++s)
        if (graph_->symbols[s].is_first && graph_->symbols[s].least == 1) own_[s] = 1;
      for (size_t s = 0; s < own_.size(); ++s) set_tied(s, &own_);
      QRT_TRY(try_all());
    }
    if (verdict == Verdict::kRefusedByBoth) {
      // Others, such as a cache of fixed capacity, take few tokens only.
      for (size_t s = 0; s < own_.size(); ++s) {
        const Symbol& symbol = graph_->symbols[s];
        const auto few = symbol.least + (2 + static_cast<int64_t>(s)) * symbol.step;
        if (!symbol.is_first && few <= symbol.most) own_[s] = few;
      }
      for (size_t s = 0; s < own_.size(); ++s) set_tied(s, &own_);
      QRT_TRY(try_all());
    }
    budget_ = Budget(source_bytes_);
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

  // Estimates the steps of reading constants when the source is imported at other sizes: the fewest bytes that any import read,
  // and the rest of the bytes at the file's own sizes times growth_between().
  double expected_steps(const Sizes& sizes) const {
    const auto least = static_cast<double>(std::min(least_read_, own_read_));
    return kStepsPerByteRead *
           (least + (static_cast<double>(own_read_) - least) * growth_between(own_, sizes));
  }

  // Takes what a comparison costs from the part and the budget: an import, its file and two runs. Returns whether there was
  // enough.
  bool can_afford(const Sizes& sizes, SessionOptions* options) {
    constexpr uint64_t kStepsPerValue = 10000, kStepsPerByte = 2;
    const auto take = [this](double steps) {
      if (steps > static_cast<double>(part_) || !budget_.charge(static_cast<uint64_t>(steps)).ok())
        return false;
      part_ -= static_cast<uint64_t>(steps);
      return true;
    };
    if (!take(static_cast<double>(kStepsPerValue * graph_->values.size() +
                                  kStepsPerByte * file_.size()) +
              expected_steps(sizes)))
      return false;
    // All tensors are compared where there is twice the memory that they take: the other file may take more.
    for (const bool keeps_all : {true, false}) {
      options->keep_all = keeps_all;
      Result<std::shared_ptr<const Plan>> plan = Session::plan_for(model_, *options);
      if (!plan.ok()) return plan.status().code() != Code::kOutOfMemory;
      if ((*plan)->total_bytes() <= options->max_memory / (keeps_all ? 2 : 1))
        return take(2 * static_cast<double>(steps_of_run(**plan)));
    }
    return false;
  }

  // Compares the file's run at sizes that it allows with the source's, and tells how far the source's numbers are from where it
  // does something else.
  Status judge(const Sizes& sizes, Verdict* verdict, std::vector<Distance>* distances = nullptr) {
    Results got, want;
    SessionOptions options = options_at(sizes, source_bytes_);
    *verdict = Verdict::kTooCostly;
    if (!can_afford(sizes, &options)) return Status();
    LargeIntegers integers = integers_;
    if (is_far_) integers.alone = *std::max_element(sizes.begin(), sizes.end());
    const Status ran = run_on_numbers(model_, options, integers, &got);
    FileOfSizes fixed;
    Status made = file_at_(sizes, &fixed);
    if (distances != nullptr) *distances = std::move(fixed.distances);
    if (sizes == own_) own_read_ = fixed.bytes_read;
    if (made.ok()) least_read_ = std::min(least_read_, fixed.bytes_read);
    if (made.code() == Code::kCancelled) return Status();
    const bool is_refused = made.code() == Code::kUnsupported || made.code() == Code::kInvalidModel;
    if (!made.ok() && !is_refused) return made;
    if (made.ok()) {
      Result<std::shared_ptr<const VerifiedModel>> model = load(fixed.bytes);
      if (!model.ok()) return std::move(model.status());
      options.sizes = {};
      made = run_on_numbers(*model, options, integers, &want);
    }
    why_ = made.ok() ? "the rules found give other results than the source" : made.message();
    if (made.code() == Code::kOutOfMemory || ran.code() == Code::kOutOfMemory) return Status();
    if (made.ok())
      *verdict = !ran.ok()              ? Verdict::kRefused
                 : are_equal(got, want) ? Verdict::kEqual
                                        : Verdict::kWrong;
    else
      *verdict = ran.ok() ? Verdict::kWrong : Verdict::kRefusedByBoth;
    return Status();
  }

  // Gives symbols that are tied to this one its size.
  void set_tied(size_t symbol, Sizes* sizes) const {
    for (size_t s = 0; s < sizes->size(); ++s)
      if (graph_->symbols[s].tied_to == static_cast<int>(symbol)) (*sizes)[s] = (*sizes)[symbol];
  }

  // Gives each tied symbol the limits of its leader, as whose size, or 1, it has: lowers its largest size to the largest legal one that
  // is not above the leader's, and raises its least to the leader's, as limits cannot leave out what is between 1 and that.
  void limit_tied() {
    for (Symbol& s : graph_->symbols) {
      if (s.tied_to < 0) continue;
      const Symbol& other = graph_->symbols[static_cast<size_t>(s.tied_to)];
      if (other.least % s.step == s.least % s.step) s.least = std::max(s.least, other.least);
      if (s.most <= other.most) continue;
      s.most = other.most - (other.most - s.least) % s.step;
      if (s.limited_by.empty()) s.limited_by = other.limited_by;
    }
  }

  bool is_legal(size_t symbol, int64_t size) const {
    const Symbol& s = graph_->symbols[symbol];
    return size >= s.least && size <= s.most && (size - s.least) % s.step == 0;
  }

  // Gives the next comparisons a part of the work that is left.
  void begin_phase(double part) {
    part_ = static_cast<uint64_t>(part * static_cast<double>(budget_.steps_left()));
  }

  // Compares at sizes of one symbol at a time: usual ones, those around its turning points, and more. Excludes wrong sizes by the
  // symbol's limits, and fails where these cannot. Turning points get most of the budget, because sizes around them are excluded
  // where they cannot be compared.
  Status check_alone() {
    const std::vector<Symbol> before = graph_->symbols;
    std::vector<SizeSearch> lines;
    std::vector<size_t> open;
    for (size_t at = 0; at < own_.size(); ++at) {
      Symbol& s = graph_->symbols[at];
      if (s.least != s.most) open.push_back(at);
      lines.emplace_back(&s, own_[at], own_distances_, file_.size() > kLargeFile,
                         [this, at](int64_t size, Verdict* verdict, std::vector<Distance>* found) {
                           Sizes sizes = own_;
                           sizes[at] = size;
                           set_tied(at, &sizes);
                           QRT_TRY(judge(sizes, verdict, found));
                           if (*verdict == Verdict::kWrong) wrong_[at][size] = why_;
                           return Status();
                         });
    }
    constexpr double kForUsual = 0.6, kForTurns = 0.75, kForMore = 0.5;
    auto left = static_cast<double>(open.size());
    for (const size_t at : open) {
      begin_phase(kForUsual / left--);
      QRT_TRY(lines[at].try_usual());
    }
    std::vector<size_t> turning;
    std::copy_if(open.begin(), open.end(), std::back_inserter(turning),
                 [&](size_t at) { return lines[at].has_turns(); });
    left = static_cast<double>(turning.size());
    for (const size_t at : open) {
      const bool turns = std::find(turning.begin(), turning.end(), at) != turning.end();
      begin_phase(kForTurns / (turns ? left-- : left + 1));
      QRT_TRY(lines[at].find_turns());
    }
    left = static_cast<double>(open.size());
    for (const size_t at : open) {
      begin_phase(kForMore / left--);
      QRT_TRY(lines[at].try_more());
    }
    for (size_t at = 0; at < lines.size(); ++at) {
      const SizeSearch& line = lines[at];
      right_.emplace_back(line.right().begin(), line.right().end());
      for (const size_t i : line.varying()) ++varying_[i];
      for (const size_t i : line.limiting()) limiting_[i] = graph_->symbols[at].name;
    }
    for (const size_t at : open)
      if (const int64_t wrong = lines[at].exclude_wrong(); wrong != 0)
        return error(Code::kUnsupported,
                     "its open dimensions cannot stay open: at %s = %lld the rules found give "
                     "other results than the source, or could not be compared with it; give sizes "
                     "by --input-shape NAME=1x3x224x224",
                     graph_->symbols[at].name.c_str(), static_cast<long long>(wrong));
    for (const size_t at : open) explain_limits(before[at], wrong_[at], &graph_->symbols[at]);
    return Status();
  }

  // Says why the limits of a symbol are narrower than before. `wrong` are sizes at which the file is wrong, with the reason.
  static void explain_limits(const Symbol& before, const std::map<int64_t, std::string>& wrong,
                             Symbol* symbol) {
    const auto add = [&](int64_t size, const std::string& why) {
      symbol->limited_by += (symbol->limited_by.empty() ? "at " : "; at ") + symbol->name + " = " +
                            std::to_string(size) + ": " + why;
    };
    const auto above = wrong.upper_bound(symbol->most);
    const auto from_least = wrong.lower_bound(symbol->least);
    if (symbol->least > before.least && from_least != wrong.begin())
      add(std::prev(from_least)->first, std::prev(from_least)->second);
    else if (symbol->step != before.step && !wrong.empty())
      add(wrong.begin()->first, wrong.begin()->second);
    if (symbol->most >= before.most) return;
    if (above != wrong.end())
      add(above->first, above->second);
    else
      add(symbol->most + symbol->step,
          "the source may do something else, which costs too much to compare");
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

  // Compares where a tied symbol has another size than the one that it is tied to. A file whose operators do not refuse that must
  // have its source's results there. A wrong result at 1 in the place of the other symbol's size raises that one's least; any other
  // refuses the file.
  Status check_ties() {
    for (size_t at = 0; at < own_.size(); ++at) {
      if (graph_->symbols[at].tied_to < 0) continue;
      const auto leader = static_cast<size_t>(graph_->symbols[at].tied_to);
      const auto is_wrong_at = [&](size_t changed, int64_t size, bool* is_wrong) {
        *is_wrong = false;
        if (size == own_[changed] || !is_legal(changed, size)) return Status();
        Sizes sizes = own_;
        sizes[changed] = size;
        Verdict verdict;
        begin_phase(0.3);
        QRT_TRY(judge(sizes, &verdict));
        *is_wrong = verdict == Verdict::kWrong;
        return Status();
      };
      const int64_t step = graph_->symbols[at].step;
      bool is_wrong;
      for (const int64_t by : {9 * step, -5 * step, 2 * own_[at]}) {
        QRT_TRY(is_wrong_at(at, own_[at] + by, &is_wrong));
        if (is_wrong)
          return error(Code::kUnsupported,
                       "its open dimensions cannot stay open: '%s' and '%s' have to be one size, "
                       "and nothing in the model refuses others; give sizes by --input-shape "
                       "NAME=1x3x224x224",
                       graph_->symbols[at].name.c_str(), graph_->symbols[leader].name.c_str());
      }
      Symbol& other = graph_->symbols[leader];
      QRT_TRY(is_wrong_at(leader, 1, &is_wrong));
      if (is_wrong) other.least = 1 + other.step;
    }
    return Status();
  }

  // Lets symbols be 0, alone and together, where the file is right even there: a decoder's past before its first token.
  Status allow_zero() {
    std::vector<size_t> zeros;
    for (size_t s = 0; s < own_.size(); ++s) {
      const Symbol& symbol = graph_->symbols[s];
      if (!symbol.is_first && symbol.tied_to < 0 && symbol.least == 1 && symbol.step == 1 &&
          symbol.most > 1)
        zeros.push_back(s);
    }
    if (zeros.empty()) return Status();
    for (const size_t s : zeros) graph_->symbols[s].least = 0;
    QRT_TRY(make_file());
    begin_phase(0.6);
    std::mt19937 random(3);
    const auto is_right_at = [&](const std::vector<size_t>& at, bool* is_right) {
      constexpr int kTries = 4;
      *is_right = true;
      for (int i = 0; i < kTries && *is_right; ++i) {
        Sizes sizes = own_;
        for (size_t s = 0; s < sizes.size() && i > 0; ++s) {
          const int64_t size = right_[s][random() % right_[s].size()];
          if (is_legal(s, size)) sizes[s] = size;
        }
        for (const size_t s : at) sizes[s] = 0;
        for (size_t s = 0; s < sizes.size(); ++s) set_tied(s, &sizes);
        Verdict verdict;
        QRT_TRY(judge(sizes, &verdict));
        // The source may have no answer at other sizes, or too large a one.
        const bool is_unknown =
            verdict == Verdict::kRefusedByBoth || verdict == Verdict::kTooCostly;
        *is_right = verdict == Verdict::kEqual || (i > 0 && is_unknown);
      }
      return Status();
    };
    std::vector<size_t> right;
    for (const size_t s : zeros) {
      bool is_right;
      QRT_TRY(is_right_at({s}, &is_right));
      for (size_t i = 0; i < right.size() && is_right; ++i)
        QRT_TRY(is_right_at({s, right[i]}, &is_right));
      if (is_right)
        right.push_back(s);
      else
        graph_->symbols[s].least = 1;
    }
    return right.size() == zeros.size() ? Status() : make_file();
  }

  // Compares at sizes of all symbols at once: in turns at random ones within the limits, and at those at which each symbol was
  // right alone, the largest and the smallest first. Fails at a wrong result.
  Status check_together() {
    begin_phase(1);
    const int tries = file_.size() > kLargeFile ? 4 : 14;
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
          // Sums of sizes are smallest, or close to that, only where all are.
          const size_t few = std::min<size_t>(alone.size(), 3);
          sizes.push_back(alone.empty() ? s.value
                          : i == 1      ? alone.back()
                          : i == 3      ? alone.front()
                          : i == 5      ? alone[random() % few]
                                        : alone[random() % alone.size()]);
          continue;
        }
        const int64_t least = s.least == 0 ? 1 : s.least;
        const int64_t most =
            std::min({s.most, std::max(least, std::min<int64_t>(least + 80 * s.step, 256)),
                      s.is_first ? least + 3 : kMostSize});
        const int64_t steps = std::max<int64_t>(0, (most - least) / s.step);
        sizes.push_back(least +
                        static_cast<int64_t>(random() % static_cast<uint64_t>(steps + 1)) * s.step);
      }
      for (size_t s = 0; s < sizes.size(); ++s) set_tied(s, &sizes);
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
  Budget budget_;
  uint64_t part_ = 0;  // steps that are left to what is compared now
  uint64_t own_read_ = 0,
           least_read_ = UINT64_MAX;  // bytes by the import at the file's own sizes, and by any
  LargeIntegers integers_;
  bool is_far_ = false;  // indices that stand alone are the largest size
  std::vector<Distance> own_distances_;
  Sizes own_;
  std::string why_;  // the last comparison did not find the file right
  std::map<size_t, std::map<int64_t, std::string>>
      wrong_;  // by symbol: sizes at which the file is wrong alone, and why
  std::vector<std::vector<int64_t>> right_;  // by symbol: sizes at which it is right alone
  std::map<size_t, int> varying_;            // by distance: how many symbols it depends on
  std::map<size_t, std::string> limiting_;   // distances that limit a symbol
  std::vector<uint8_t> file_;
  std::shared_ptr<const VerifiedModel> model_;
};

}  // namespace

Status check_sizes(const FileAtSizes& file_at, Graph* graph) {
  return Checker(file_at, graph).run();
}

Status check_asked(const std::vector<Symbol>& symbols) {
  for (const Symbol& s : symbols) {
    const bool has_all = s.asked_most != 0 ? s.least <= s.asked_least && s.most >= s.asked_most
                                           : !s.is_asked || s.least < s.most;
    if (has_all) continue;
    const std::string why = s.limited_by.empty() ? "" : ": " + s.limited_by;
    return error(Code::kUnsupported,
                 "--open %s: it can have the sizes %lld to %lld%s; ask for these or for fewer",
                 s.name.c_str(), static_cast<long long>(s.least), static_cast<long long>(s.most),
                 why.c_str());
  }
  return {};
}

}  // namespace qrt::convert
