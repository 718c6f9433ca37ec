// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/pair_rounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace qrt::convert::from_onnx {
namespace {

using Kind = Link::Kind;
using Perm = std::vector<int64_t>;
using Place = std::list<Link>::iterator;

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

bool propagates(const Link& link) {
  return link.kind != Kind::kQuantize && link.kind != Kind::kDequantize;
}

bool is_equal_pair(const Link& first, Kind kind, const Link& second, Kind other) {
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
  explicit Rounds(Chain* chain) : chain_(*chain), links_(chain->links) {}

  Outcome play() {
    constexpr int kMost = 10;
    std::optional<Quant> copied_to_readers;
    for (int round = 0; round < kMost && !empty_; ++round) {
      const bool merged = merge_pairs(), copied = copy_pairs();
      if (round == 0) {  // ONNX Runtime's optimiser of Transposes has only one
        move_transposes();
        mend_pairs();
        if (chain_.back.has_lone_transpose && !links_.empty() &&
            links_.back().kind == Kind::kDequantize)
          copied_to_readers = links_.back().quant;
      } else if (!merged && !copied) {
        break;
      }
    }
    if (empty_) return Outcome::kEmpty;
    const bool forked = copied_to_readers && *copied_to_readers != links_.back().quant;
    return forked ? Outcome::kForked : Outcome::kRow;
  }

 private:
  bool is_last(Place link) const { return std::next(link) == links_.end(); }
  // Returns whether ONNX Runtime splits the last DequantizeLinear: it gives each reader one of its own.
  bool is_split(Place link) const {
    return is_last(link) && link->kind == Kind::kDequantize &&
           chain_.back.readers + chain_.back.outputs > 1;
  }
  void insert_pair(Place before, const Quant& quant) {
    links_.insert(before, Link{Kind::kQuantize, quant, {}, false});
    links_.insert(before, Link{Kind::kDequantize, quant, {}, false});
  }
  std::vector<Place> all(Kind kind) {
    std::vector<Place> result;
    for (Place link = links_.begin(); link != links_.end(); ++link)
      if (link->kind == kind) result.push_back(link);
    return result;
  }

  bool merge_pairs();
  bool copy_pairs();
  void move_transposes();
  void move_behind(Place transpose, Place link);
  void move_behind_some(Place transpose);
  void find_those_that_lead();
  void mend_pairs();
  bool is_empty_pair(Place quantize);
  void add_pair_at(Place transpose);

  Chain& chain_;
  std::list<Link>& links_;
  // For each link: whether its output leads to the chain's end, see Chain::back.
  std::vector<bool> leads_;
  bool empty_ = false;
};

// Merges every two pairs that follow each other into one; a third waits for the next round. Returns
// whether it changed a link.
bool Rounds::merge_pairs() {
  bool changed = false;
  for (Place d = links_.begin(); d != links_.end() && !empty_; ++d) {
    if (d->kind != Kind::kDequantize || d == links_.begin() || is_last(d)) continue;
    const Place q = std::next(d), first = std::prev(d);
    if (q->kind != Kind::kQuantize || is_last(q)) continue;
    const Place last = std::next(q);
    if (!is_equal_pair(*first, Kind::kQuantize, *d, Kind::kDequantize) ||
        !is_equal_pair(*q, Kind::kQuantize, *last, Kind::kDequantize) ||
        d->quant.type != q->quant.type)
      continue;
    if (first->is_shared || q->is_shared) continue;
    // Equal nodes that make several graph outputs stay apart; what read a tensor of its own when ONNX
    // Runtime looked for equal ones does not.
    if (is_last(last) && chain_.back.outputs > 1 && chain_.back.has_twins) continue;
    if (!almost_equal(d->quant, q->quant)) {
      Quant common;
      if (!intersect(d->quant, q->quant, &common)) {
        empty_ = !(common.scale[0] > 0.0f);
        continue;
      }
      first->quant = last->quant = common;
    }
    links_.erase(d);
    links_.erase(q);
    d = last;
    changed = true;
  }
  return changed;
}

// Copies first each QuantizeLinear to the front of the nodes before it that move data, then each
// DequantizeLinear to the back of those behind it. Returns whether it changed a link.
bool Rounds::copy_pairs() {
  bool changed = false;
  const std::vector<Place> quantizes = all(Kind::kQuantize), dequantizes = all(Kind::kDequantize);
  for (Place q : quantizes) {
    for (Place link = q; link != links_.begin();) {
      link = std::prev(link);
      if (!propagates(*link)) break;
      const bool is_first = link == links_.begin();
      if (is_first ? chain_.front.has_dequantize || !chain_.front.takes_pair
                   : std::prev(link)->kind == Kind::kDequantize || std::prev(link)->is_shared)
        break;
      insert_pair(link, q->quant);
      changed = true;
      if (is_first) break;
      link = std::prev(link, 2);  // the pair that is new
    }
  }
  for (Place d : dequantizes) {
    for (Place link = std::next(d); link != links_.end() && propagates(*link);) {
      const Place next = std::next(link);
      const auto& back = chain_.back;
      const bool is_taken = next != links_.end() ? next->kind != Kind::kQuantize
                            : back.readers == 0  ? back.outputs > 0
                                                 : back.outputs == 0 && !back.quantizes;
      if (!is_taken) break;
      insert_pair(next, d->quant);
      changed = true;
      link = next;
    }
  }
  return changed;
}

// Finds, for each link, as ONNX Runtime does before it moves anything, whether a Transpose behind
// it could move down to another Transpose, through nodes that let it pass.
void Rounds::find_those_that_lead() {
  leads_.clear();
  bool leads = chain_.back.leads_to_transpose;
  for (auto link = links_.rbegin(); link != links_.rend(); ++link) {
    leads_.push_back(leads);
    leads = link->kind == Kind::kTranspose || (leads && link->kind != Kind::kMove);
  }
  std::reverse(leads_.begin(), leads_.end());
}

// Moves each Transpose down to the next one, with which it becomes one, or nothing.
void Rounds::move_transposes() {
  find_those_that_lead();
  size_t at = 0;
  for (Place link = links_.begin(); link != links_.end(); ++at) {
    const Place before = link == links_.begin() ? links_.end() : std::prev(link);
    const Place next = std::next(link);
    const bool behind_transpose =
        before != links_.end() && before->kind == Kind::kTranspose && !before->numbers.empty();
    if (behind_transpose && link->kind == Kind::kTranspose) {
      if (link->numbers.size() == before->numbers.size()) {
        link->numbers = composed(before->numbers, link->numbers);
        links_.erase(before);
        if (is_identity(link->numbers)) links_.erase(link);
      }
    } else if (behind_transpose && link->kind != Kind::kMove && leads_[at]) {
      if (is_split(link) && !chain_.back.all_lead)
        move_behind_some(before);
      else
        move_behind(before, link);
    }
    link = next;
  }
  if (!links_.empty() && chain_.back.takes_transpose && links_.back().kind == Kind::kTranspose &&
      !links_.back().numbers.empty()) {
    links_.pop_back();
  }
}

// Moves the Transpose behind some of several readers: the last DequantizeLinear is split, and the
// Transpose goes behind those that lead to another Transpose. It stays for the others, so what is
// in front of it then has other readers, too.
void Rounds::move_behind_some(Place transpose) {
  if (transpose == links_.begin())
    chain_.front.takes_pair = false;
  else
    std::prev(transpose)->is_shared = true;
}

void Rounds::move_behind(Place transpose, Place link) {
  Perm perm = transpose->numbers;
  if (link->kind == Kind::kSqueeze || link->kind == Kind::kUnsqueeze) {
    if (link->numbers.empty()) return;
    const bool passes = link->kind == Kind::kSqueeze ? pass_squeeze(&perm, &link->numbers)
                                                     : pass_unsqueeze(&perm, link->numbers);
    if (!passes) return;
  }
  links_.erase(transpose);
  if (!is_identity(perm)) links_.insert(std::next(link), Link{Kind::kTranspose, {}, perm, false});
}

// Pairs that lost what was within them go; Transposes that lost a pair around them get one.
void Rounds::mend_pairs() {
  const std::vector<Place> nodes = [this] {
    std::vector<Place> result;
    for (Place link = links_.begin(); link != links_.end(); ++link)
      if (link->kind == Kind::kQuantize || link->kind == Kind::kTranspose) result.push_back(link);
    return result;
  }();
  for (Place node : nodes) {
    if (node->kind == Kind::kTranspose) {
      add_pair_at(node);
    } else if (is_empty_pair(node)) {
      links_.erase(std::prev(node));
      links_.erase(node);
    }
  }
}

// Returns whether the QuantizeLinear undoes the DequantizeLinear in front of it, with equal
// parameters and no other reader between.
bool Rounds::is_empty_pair(Place quantize) {
  if (quantize == links_.begin()) return false;
  const Place d = std::prev(quantize);
  if (!is_equal_pair(*d, Kind::kDequantize, *quantize, Kind::kQuantize) || quantize->is_shared)
    return false;
  if (!is_last(quantize)) return !is_split(std::next(quantize));
  const auto& back = chain_.back;
  if (back.readers == 0) return d != links_.begin() || chain_.front.is_made;
  return back.readers == 1 && back.outputs == 0;
}

void Rounds::add_pair_at(Place transpose) {
  const bool is_first = transpose == links_.begin();
  const Place next = std::next(transpose);
  const bool in_front_of_quantize = next != links_.end() && next->kind == Kind::kQuantize;
  if (!is_first && std::prev(transpose)->kind == Kind::kDequantize) {
    if (in_front_of_quantize) return;
    if (next == links_.end() && (chain_.back.readers > 1 || chain_.back.quantizes)) return;
    insert_pair(next, std::prev(transpose)->quant);
    return;
  }
  if (!in_front_of_quantize || (!is_first && std::prev(transpose)->is_shared)) return;
  if (is_first &&
      (!chain_.front.is_made || !chain_.front.takes_pair || chain_.front.has_dequantize))
    return;
  insert_pair(transpose, next->quant);
}

}  // namespace

Outcome play_rounds(Chain* chain) { return Rounds(chain).play(); }

}  // namespace qrt::convert::from_onnx
