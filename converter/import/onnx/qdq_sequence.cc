// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/qdq_sequence.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace qrt::convert::from_onnx {
namespace {

using Kind = QdqNode::Kind;
using Perm = std::vector<int64_t>;
using Position = std::list<QdqNode>::iterator;

bool is_identity(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// Returns the permutation that has the effect of `first` and then `second`.
Perm composed(const Perm& first, const Perm& second) {
  Perm both;
  for (int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  return both;
}

// Marks `axes`, which may count from the end, among `rank`. Returns false where they are none of that rank.
bool mark(const std::vector<int64_t>& axes, size_t rank, std::vector<bool>* marked) {
  marked->assign(rank, false);
  for (int64_t axis : axes) {
    const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (at < 0 || at >= static_cast<int64_t>(rank) || (*marked)[static_cast<size_t>(at)])
      return false;
    (*marked)[static_cast<size_t>(at)] = true;
  }
  return true;
}

// Returns the axes that are not marked.
std::vector<int64_t> unmarked(const std::vector<bool>& marked) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < marked.size(); ++i)
    if (!marked[i]) result.push_back(static_cast<int64_t>(i));
  return result;
}

// Exchanges a Transpose and the Squeeze behind it: *perm becomes the permutation behind the Squeeze,
// and *axes the Squeeze's axes in front of the Transpose. Returns false where the axes are invalid.
bool pass_squeeze(Perm* perm, std::vector<int64_t>* axes) {
  std::vector<bool> behind, before(perm->size());
  if (!mark(*axes, perm->size(), &behind)) return false;
  for (size_t i = 0; i < behind.size(); ++i) before[static_cast<size_t>((*perm)[i])] = behind[i];
  axes->clear();
  Perm place(perm->size()), left;
  const std::vector<int64_t> kept = unmarked(before);
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i]) axes->push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < kept.size(); ++i)
    place[static_cast<size_t>(kept[i])] = static_cast<int64_t>(i);
  for (int64_t axis : *perm)
    if (!before[static_cast<size_t>(axis)]) left.push_back(place[static_cast<size_t>(axis)]);
  *perm = left;
  return true;
}

// Passes a permutation through an Unsqueeze, whose axes stay: those it adds are not permuted.
bool pass_unsqueeze(Perm* perm, const std::vector<int64_t>& axes) {
  std::vector<bool> added;
  if (!mark(axes, perm->size() + axes.size(), &added)) return false;
  const std::vector<int64_t> old = unmarked(added);
  Perm all;
  size_t next = 0;
  for (size_t i = 0; i < added.size(); ++i)
    all.push_back(added[i] ? static_cast<int64_t>(i) : old[static_cast<size_t>((*perm)[next++])]);
  *perm = all;
  return true;
}

bool propagates(const QdqNode& entry) {
  return entry.kind != Kind::kQuantize && entry.kind != Kind::kDequantize;
}

bool is_equal_pair(const QdqNode& first, Kind kind, const QdqNode& second, Kind other) {
  return first.kind == kind && second.kind == other && first.quant == second.quant;
}

// Returns whether ONNX Runtime takes both for equal, and then leaves both as they are.
bool almost_equal(const Quant& a, const Quant& b) {
  return a.zero_point == b.zero_point && std::fabs(a.scale[0] - b.scale[0]) < 1e-20f;
}

// Finds the pair that stands for both. Returns false where their ranges have nothing in common, or,
// with a scale of 0, nothing but that.
bool intersect(const Quant& a, const Quant& b, Quant* result) {
  const auto [lo, hi] = Limits::of_source(a);
  const auto real = [](const Quant& q, int v) {
    return static_cast<float>(v - q.zero_point[0]) * q.scale[0];
  };
  const float least = std::max(real(a, lo), real(b, lo));
  const float most = std::min(real(a, hi), real(b, hi));
  const float scale = (most - least) / static_cast<float>(hi - lo);
  const float zero = std::round(static_cast<float>(lo) - least / scale);
  *result = a;
  if (scale == 0.0f) result->scale[0] = scale;
  if (!(scale > 0.0f) || !(zero >= static_cast<float>(lo) && zero <= static_cast<float>(hi)))
    return false;
  result->scale[0] = scale;
  result->zero_point[0] = static_cast<int32_t>(zero);
  return true;
}

class Rounds {
 public:
  explicit Rounds(QdqSequence* sequence) : sequence_(*sequence), entries_(sequence->entries) {}

  Outcome play() {
    constexpr int kMost = 10;
    std::optional<Quant> copied_to_readers;
    for (int round = 0; round < kMost && !empty_; ++round) {
      const bool merged = merge_pairs(), copied = copy_pairs();
      if (round == 0) {  // ONNX Runtime's optimiser of Transposes has only one
        move_transposes();
        repair_pairs();
        if (sequence_.back.has_lone_transpose && !entries_.empty() &&
            entries_.back().kind == Kind::kDequantize)
          copied_to_readers = entries_.back().quant;
      } else if (!merged && !copied) {
        break;
      }
    }
    if (empty_) return Outcome::kEmpty;
    const bool forked = copied_to_readers && *copied_to_readers != entries_.back().quant;
    return forked ? Outcome::kForked : Outcome::kRow;
  }

 private:
  bool is_last(Position entry) const { return std::next(entry) == entries_.end(); }
  // ONNX Runtime gives each reader of a DequantizeLinear one of its own.
  bool is_split(Position entry) const {
    return is_last(entry) && entry->kind == Kind::kDequantize &&
           sequence_.back.readers + sequence_.back.outputs > 1;
  }
  void insert_pair(Position before, const Quant& quant) {
    entries_.insert(before, QdqNode{Kind::kQuantize, quant, {}, false});
    entries_.insert(before, QdqNode{Kind::kDequantize, quant, {}, false});
  }
  std::vector<Position> all(Kind kind) {
    std::vector<Position> result;
    for (Position entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->kind == kind) result.push_back(entry);
    return result;
  }

  bool merge_pairs();
  bool copy_pairs();
  void move_transposes();
  void move_behind(Position transpose, Position entry);
  void move_behind_some(Position transpose);
  void find_those_that_lead();
  void repair_pairs();
  bool is_empty_pair(Position quantize);
  void add_pair_at(Position transpose);

  QdqSequence& sequence_;
  std::list<QdqNode>& entries_;
  std::vector<bool> leads_;  // of each entry: its output does, see Chain::back
  bool empty_ = false;
};

// Merges every two pairs that follow each other into one; a third waits for the next round. Returns
// whether it changed a link.
bool Rounds::merge_pairs() {
  bool changed = false;
  for (Position d = entries_.begin(); d != entries_.end() && !empty_; ++d) {
    if (d->kind != Kind::kDequantize || d == entries_.begin() || is_last(d)) continue;
    const Position q = std::next(d), first = std::prev(d);
    if (q->kind != Kind::kQuantize || is_last(q)) continue;
    const Position last = std::next(q);
    if (!is_equal_pair(*first, Kind::kQuantize, *d, Kind::kDequantize) ||
        !is_equal_pair(*q, Kind::kQuantize, *last, Kind::kDequantize) ||
        d->quant.type != q->quant.type)
      continue;
    if (first->is_shared || q->is_shared) continue;
    // Equal nodes that make several graph outputs stay apart; what read a tensor of its own when ONNX
    // Runtime looked for equal ones does not.
    if (is_last(last) && sequence_.back.outputs > 1 && sequence_.back.has_twins) continue;
    if (!almost_equal(d->quant, q->quant)) {
      Quant common;
      if (!intersect(d->quant, q->quant, &common)) {
        empty_ = !(common.scale[0] > 0.0f);
        continue;
      }
      first->quant = last->quant = common;
    }
    entries_.erase(d);
    entries_.erase(q);
    d = last;
    changed = true;
  }
  return changed;
}

// Copies first each QuantizeLinear to the front of the nodes before it that move data, then each
// DequantizeLinear to the back of those behind it. Returns whether it changed a link.
bool Rounds::copy_pairs() {
  bool changed = false;
  const std::vector<Position> quantizes = all(Kind::kQuantize),
                              dequantizes = all(Kind::kDequantize);
  for (Position q : quantizes) {
    for (Position entry = q; entry != entries_.begin();) {
      entry = std::prev(entry);
      if (!propagates(*entry)) break;
      const bool is_first = entry == entries_.begin();
      if (is_first ? sequence_.front.has_dequantize || !sequence_.front.takes_pair
                   : std::prev(entry)->kind == Kind::kDequantize || std::prev(entry)->is_shared)
        break;
      insert_pair(entry, q->quant);
      changed = true;
      if (is_first) break;
      entry = std::prev(entry, 2);  // the pair that is new
    }
  }
  for (Position d : dequantizes) {
    for (Position entry = std::next(d); entry != entries_.end() && propagates(*entry);) {
      const Position next = std::next(entry);
      const auto& back = sequence_.back;
      const bool is_taken = next != entries_.end() ? next->kind != Kind::kQuantize
                            : back.readers == 0    ? back.outputs > 0
                                                   : back.outputs == 0 && !back.quantizes;
      if (!is_taken) break;
      insert_pair(next, d->quant);
      changed = true;
      entry = next;
    }
  }
  return changed;
}

// Finds, for each entry, as ONNX Runtime does before it moves anything, whether a Transpose behind
// it would come to another one, through nodes that let it pass.
void Rounds::find_those_that_lead() {
  leads_.clear();
  bool leads = sequence_.back.leads_to_transpose;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    leads_.push_back(leads);
    leads = entry->kind == Kind::kTranspose || (leads && entry->kind != Kind::kMove);
  }
  std::reverse(leads_.begin(), leads_.end());
}

// Moves each Transpose down to the next one, with which it becomes one, or nothing.
void Rounds::move_transposes() {
  find_those_that_lead();
  size_t at = 0;
  for (Position entry = entries_.begin(); entry != entries_.end(); ++at) {
    const Position before = entry == entries_.begin() ? entries_.end() : std::prev(entry);
    const Position next = std::next(entry);
    const bool behind_transpose =
        before != entries_.end() && before->kind == Kind::kTranspose && !before->numbers.empty();
    if (behind_transpose && entry->kind == Kind::kTranspose) {
      if (entry->numbers.size() == before->numbers.size()) {
        entry->numbers = composed(before->numbers, entry->numbers);
        entries_.erase(before);
        if (is_identity(entry->numbers)) entries_.erase(entry);
      }
    } else if (behind_transpose && entry->kind != Kind::kMove && leads_[at]) {
      if (is_split(entry) && !sequence_.back.all_lead)
        move_behind_some(before);
      else
        move_behind(before, entry);
    }
    entry = next;
  }
  if (!entries_.empty() && sequence_.back.takes_transpose &&
      entries_.back().kind == Kind::kTranspose && !entries_.back().numbers.empty()) {
    entries_.pop_back();
  }
}

// The last DequantizeLinear is one for each reader, and the Transpose goes behind those that lead to
// another one. It stays for the rest: what is in front of it has readers beside it.
void Rounds::move_behind_some(Position transpose) {
  if (transpose == entries_.begin())
    sequence_.front.takes_pair = false;
  else
    std::prev(transpose)->is_shared = true;
}

void Rounds::move_behind(Position transpose, Position entry) {
  Perm perm = transpose->numbers;
  if (entry->kind == Kind::kSqueeze || entry->kind == Kind::kUnsqueeze) {
    if (entry->numbers.empty()) return;
    const bool passes = entry->kind == Kind::kSqueeze ? pass_squeeze(&perm, &entry->numbers)
                                                      : pass_unsqueeze(&perm, entry->numbers);
    if (!passes) return;
  }
  entries_.erase(transpose);
  if (!is_identity(perm))
    entries_.insert(std::next(entry), QdqNode{Kind::kTranspose, {}, perm, false});
}

// Pairs that lost what was within them go; Transposes that lost a pair around them get one.
void Rounds::repair_pairs() {
  const std::vector<Position> nodes = [this] {
    std::vector<Position> result;
    for (Position entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->kind == Kind::kQuantize || entry->kind == Kind::kTranspose)
        result.push_back(entry);
    return result;
  }();
  for (Position node : nodes) {
    if (node->kind == Kind::kTranspose) {
      add_pair_at(node);
    } else if (is_empty_pair(node)) {
      entries_.erase(std::prev(node));
      entries_.erase(node);
    }
  }
}

// A DequantizeLinear and the QuantizeLinear behind it, alike, with one reader.
bool Rounds::is_empty_pair(Position quantize) {
  if (quantize == entries_.begin()) return false;
  const Position d = std::prev(quantize);
  if (!is_equal_pair(*d, Kind::kDequantize, *quantize, Kind::kQuantize) || quantize->is_shared)
    return false;
  if (!is_last(quantize)) return !is_split(std::next(quantize));
  const auto& back = sequence_.back;
  if (back.readers == 0) return d != entries_.begin() || sequence_.front.is_made;
  return back.readers == 1 && back.outputs == 0;
}

void Rounds::add_pair_at(Position transpose) {
  const bool is_first = transpose == entries_.begin();
  const Position next = std::next(transpose);
  const bool in_front_of_quantize = next != entries_.end() && next->kind == Kind::kQuantize;
  if (!is_first && std::prev(transpose)->kind == Kind::kDequantize) {
    if (in_front_of_quantize) return;
    if (next == entries_.end() && (sequence_.back.readers > 1 || sequence_.back.quantizes)) return;
    insert_pair(next, std::prev(transpose)->quant);
    return;
  }
  if (!in_front_of_quantize || (!is_first && std::prev(transpose)->is_shared)) return;
  if (is_first &&
      (!sequence_.front.is_made || !sequence_.front.takes_pair || sequence_.front.has_dequantize))
    return;
  insert_pair(transpose, next->quant);
}

}  // namespace

Outcome play_rounds(QdqSequence* sequence) { return Rounds(sequence).play(); }

}  // namespace qrt::convert::from_onnx
