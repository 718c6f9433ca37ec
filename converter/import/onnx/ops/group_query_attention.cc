// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft, with lengths as in ONNX Runtime's CPU kernel: a sequence of
// a batch has seqlens_k + 1 tokens in all. Its earlier tokens are the first ones in the past. In
// the present they come first, then the tokens of this run, then zeros.
#include <algorithm>
#include <cmath>

#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

class GroupedAttention {
 public:
  GroupedAttention(Importer& importer, const NodeView& node)
      : importer_(importer),
        node_(node),
        f_(importer, node),
        r_(importer, node),
        heads_(node.integer("num_heads", 0)),
        kv_heads_(node.integer("kv_num_heads", 0)) {}

  Status run() {
    bool known = true;
    if (!check_form(&known)) return Status();
    constexpr int64_t kMostHeads = INT32_MAX;
    QRT_MODEL_CHECK(heads_ > 0 && heads_ <= kMostHeads && kv_heads_ > 0 && heads_ % kv_heads_ == 0,
                    "%lld heads for %lld of keys and values", static_cast<long long>(heads_),
                    static_cast<long long>(kv_heads_));
    QRT_TRY(read_operands(&known));
    if (known) QRT_TRY(read_past(&known));
    if (known) QRT_TRY(find_lengths(&known));
    if (known) QRT_TRY(turn(&known));
    return known ? compute() : Status();
  }

 private:
  bool check_form(bool* known) {
    const char* const kInputs[] = {"position_ids", "attention_bias", "head_sink", "k_scale",
                                   "v_scale"};
    std::string what;
    for (int i = 0; i < 5; ++i)
      if (node_.has_input(9 + i)) what = std::string("its input ") + kInputs[i];
    for (const char* name : {"smooth_softmax", "qk_output", "kv_cache_bit_width"})
      if (node_.integer(name, 0) != 0) what = std::string("its attribute ") + name;
    if (node_.has_output(3)) what = "its output of scores";
    *known = what.empty();
    if (!*known) (void)refuse_form(importer_, node_, what + " is none that qrt computes");
    return *known;
  }

  // Reads the queries, keys and values of this run as heads.
  Status read_operands(bool* known) {
    ValueId x[3];
    for (int i = 0; i < (node_.has_input(1) ? 3 : 1); ++i) {
      *known = f_.read(i, &x[i]);
      if (!*known) return importer_.refuse_float(node_, i);
      QRT_MODEL_CHECK(f_.shape_of(x[i]).rank() == 3, "input %d has shape %s, expected 3 dimensions",
                      i, f_.shape_of(x[i]).to_string().c_str());
    }
    if (!node_.has_input(1)) {
      const int64_t width = f_.shape_of(x[0])[2], all = heads_ + 2 * kv_heads_;
      QRT_MODEL_CHECK(width % all == 0, "%lld packed numbers for %lld heads",
                      static_cast<long long>(width), static_cast<long long>(all));
      const int64_t size = width / all, q = heads_ * size, kv = kv_heads_ * size;
      const ValueId packed = x[0];
      x[0] = slice_along(&f_, packed, 2, 0, q);
      x[1] = slice_along(&f_, packed, 2, q, kv);
      x[2] = slice_along(&f_, packed, 2, q + kv, kv);
    }
    const Shape q = f_.shape_of(x[0]), k = f_.shape_of(x[1]), v = f_.shape_of(x[2]);
    QRT_MODEL_CHECK(q[2] % heads_ == 0 && k == v && k[0] == q[0] && k[1] == q[1] &&
                        k[2] == q[2] / heads_ * kv_heads_,
                    "queries %s, keys %s and values %s do not fit", q.to_string().c_str(),
                    k.to_string().c_str(), v.to_string().c_str());
    batch_ = q[0];
    queries_ = q[1];
    size_ = q[2] / heads_;
    q_ = split_heads(&f_, x[0], heads_);
    k_ = split_heads(&f_, x[1], kv_heads_);
    v_ = split_heads(&f_, x[2], kv_heads_);
    return Status();
  }

  Status read_past(bool* known) {
    QRT_MODEL_CHECK(node_.has_input(3) == node_.has_input(4), "it has a past of one kind only");
    if (!node_.has_input(3)) return Status();
    const Shape k = importer_.input(node_, 3).shape, v = importer_.input(node_, 4).shape;
    const bool is_empty = k.rank() == 4 && k[2] == 0 && k == v;  // the first tokens of all
    for (const int i : {3, 4}) {
      ValueId* past = i == 3 ? &past_k_ : &past_v_;
      if (is_empty) continue;
      *known = f_.read(i, past);
      if (!*known) return importer_.refuse_float(node_, i);
      const Shape s = f_.shape_of(*past);
      QRT_MODEL_CHECK(s.rank() == 4 && s[0] == batch_ && s[1] == kv_heads_ && s[3] == size_ &&
                          s[2] == f_.shape_of(past_k_)[2],
                      "its past has shape %s", s.to_string().c_str());
    }
    if (!is_empty) past_ = f_.shape_of(past_k_)[2];
    return Status();
  }

  // Finds the number of tokens that each sequence has in the past, and for each row of the present
  // its index in the past, the new rows and a row of zeros, one after the other.
  Status find_lengths(bool* known) {
    std::vector<int64_t> total;
    *known = constant_integers(importer_, node_, 6, &total);
    if (!*known) return Status();
    QRT_MODEL_CHECK(total.size() == 1, "its total length has %zu elements", total.size());
    importer_.note_distance(node_, total[0] - past_);
    present_ = std::max(total[0], past_);
    QRT_TRY(RunIntegers::check_count(std::max(present_, queries_)));
    const Tensor& lengths = importer_.input(node_, 5);
    *known = has_type(lengths, kInt32);
    if (!*known) return importer_.refuse_float(node_, 5);
    QRT_MODEL_CHECK(lengths.shape.elements() == batch_,
                    "its lengths have shape %s for a batch of %lld",
                    lengths.shape.to_string().c_str(), static_cast<long long>(batch_));
    const ValueId zero = r_.constant(0), one = r_.constant(1);
    const ValueId all = r_.add(r_.to_int64(integer_value(importer_, node_, 5)), one);
    const ValueId queries = r_.number(queries_), past = r_.number(past_),
                  present = r_.number(present_);
    before_ = r_.reshaped(r_.greatest(r_.subtract(all, queries), zero), {batch_, 1});
    const ValueId at = r_.indices(present_);
    const ValueId is_new = r_.subtract(one, r_.to_int64(r_.is_less(at, before_)));
    const ValueId rows = r_.add(at, r_.multiply(is_new, r_.subtract(past, before_)));
    const ValueId zeros = r_.add(past, queries);
    // Counts the lengths that are out of range: more earlier tokens than the past has, or more
    // tokens than the present can hold. ONNX Runtime also refuses several tokens of several
    // sequences behind a past.
    const ValueId has_past = r_.is_less(zero, before_);
    const ValueId is_several =
        r_.both(r_.is_less(one, r_.number(batch_)), r_.is_less(one, queries));
    ValueId bad = r_.to_int64(r_.is_less(past, before_));
    // ONNX Runtime takes lengths from 1 to the total length, and those below the number of queries
    // in a first prompt only.
    const ValueId lengths_of = r_.reshaped(all, {batch_, 1});
    bad = r_.add(bad, r_.to_int64(r_.is_less(lengths_of, one)));
    bad = r_.add(bad, r_.to_int64(r_.is_less(present, lengths_of)));
    bad = r_.add(
        bad, r_.to_int64(r_.both(r_.is_less(queries, present), r_.is_less(lengths_of, queries))));
    bad =
        r_.add(bad, r_.to_int64(r_.both(has_past, r_.is_less(present, r_.add(before_, queries)))));
    bad = r_.add(bad, r_.to_int64(r_.both(has_past, is_several)));
    rows_ = r_.unless(r_.is_less(zero, bad), r_.least(rows, zeros));
    query_positions_ = r_.add(before_, r_.indices(queries_));
    return Status();
  }

  // Applies the rotary embedding to queries and keys by their positions.
  Status turn(bool* known) {
    if (node_.integer("do_rotary", 0) == 0) return Status();
    ValueId angles[2];
    Shape table;
    for (const int i : {7, 8}) {
      ValueId* rows = &angles[i - 7];
      *known = f_.read(i, rows);
      if (!*known) return importer_.refuse_float(node_, i);
      const Shape s = f_.shape_of(*rows);
      if (i == 7) table = s;
      QRT_MODEL_CHECK(s.rank() == 2 && 2 * s[1] <= size_ && s == table,
                      "a table of angles has shape %s for heads of %lld", s.to_string().c_str(),
                      static_cast<long long>(size_));
      *rows = rows_at(&f_, *rows, query_positions_);
    }
    const bool interleaved = node_.integer("rotary_interleaved", 0) != 0;
    QRT_TRY(rotate(&f_, angles[0], angles[1], interleaved, q_, &q_));
    return rotate(&f_, angles[0], angles[1], interleaved, k_, &k_);
  }

  // Returns the present: rows of the past, new rows and zeros in the order of rows_.
  ValueId present(ValueId past, ValueId now) {
    IndexMaps maps(f_.shape_of(now));
    Indices with_zeros = stepped(0, queries_, 1);
    with_zeros.push_back(-1);
    maps.keep(2, std::move(with_zeros));
    GraphBuilder& builder = f_.builder();
    ValueId all = builder.gather(node_, now, maps, 0);
    if (past != kNoValue) all = builder.concat(node_, {past, all}, 2);
    const ValueId y = builder.new_value("", DType::kFloat32, {batch_, kv_heads_, present_, size_});
    auto& o = builder.add<fb::TakeOptionsT>(node_, {all, rows_}, y);
    o.axis = 2;
    o.batch_dims = 1;
    o.is_checked = true;
    return y;
  }

  Status compute() {
    const ValueId k = present(past_k_, k_), v = present(past_v_, v_);
    AttentionForm form;
    const float scale = node_.real("scale", 0);
    form.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(size_));
    form.softcap = node_.real("softcap", 0);
    const ValueId query_positions = r_.reshaped(query_positions_, {batch_, 1, queries_, 1});
    const ValueId at = r_.indices(present_);
    form.visible = r_.is_at_most(at, query_positions);
    const int64_t window = node_.integer("local_window_size", -1);
    if (window > 0)
      form.visible =
          r_.both(form.visible, r_.is_less(r_.subtract(query_positions, r_.constant(window)), at));
    ValueId y;
    QRT_TRY(attend(&f_, q_, k, v, &form, &y));
    importer_.became(node_, "Float", "F");
    set_float_output(importer_, node_, 0, join_heads(&f_, y));
    set_float_output(importer_, node_, 1, k);
    set_float_output(importer_, node_, 2, v);
    return Status();
  }

  Importer& importer_;
  const NodeView& node_;
  FloatGraph f_;
  RunIntegers r_;
  const int64_t heads_, kv_heads_;
  int64_t batch_ = 0, queries_ = 0, size_ = 0, past_ = 0, present_ = 0;
  ValueId q_ = kNoValue, k_ = kNoValue, v_ = kNoValue, past_k_ = kNoValue, past_v_ = kNoValue;
  ValueId before_ = kNoValue;           // [b, 1]: number of a sequence's tokens in the past
  ValueId query_positions_ = kNoValue;  // [b, s]: positions of the queries
  ValueId rows_ = kNoValue;             // [b, present]: index of each row of the present, see
                                        // find_lengths()
};

}  // namespace

Status import_group_query_attention(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  return GroupedAttention(importer, node).run();
}

}  // namespace qrt::convert::from_onnx
