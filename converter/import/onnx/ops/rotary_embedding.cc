// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of ONNX and of com.microsoft.
#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

// Places of tokens, [b or 1, s]: those that the input gives, or counted from the one that it gives.
ValueId token_positions(FloatGraph* f, int input, int64_t length) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  RunIntegers r(importer, node);
  const ValueId given = r.to_int64(integer_value(importer, node, input));
  if (f->shape_of(given).rank() == 2) return given;
  return r.reshaped(r.add(given, r.indices(length)), {1, length});
}

}  // namespace

Status import_rotary_embedding(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  const bool is_microsoft = node.domain() == "com.microsoft";
  if (node.integer("is_packed_batching", 0) != 0)
    return refuse_form(importer, node, "its sequences are packed behind each other");
  if (node.real("scale", 1) != 1) return refuse_form(importer, node, "it has a scale");
  const int positions = is_microsoft ? 1 : 3, caches = is_microsoft ? 2 : 1;
  FloatGraph f(importer, node);
  ValueId x, angles[2];
  if (!f.read(0, &x)) return importer.refuse_float(node, 0);
  for (int i = 0; i < 2; ++i)
    if (!f.read(caches + i, &angles[i])) return importer.refuse_float(node, caches + i);
  const Shape s = f.shape_of(x), cache = f.shape_of(angles[0]);
  const bool is_joined = s.rank() == 3, has_places = node.has_input(positions);
  QRT_MODEL_CHECK((is_joined || s.rank() == 4) && cache == f.shape_of(angles[1]) &&
                      cache.rank() == (has_places ? 2 : 3),
                  "shapes %s and %s of tokens and angles", s.to_string().c_str(),
                  cache.to_string().c_str());
  int64_t heads = node.integer("num_heads", 0);
  const int64_t turned = 2 * cache[cache.rank() - 1];
  if (is_joined && heads == 0) heads = s[2] / turned;
  QRT_MODEL_CHECK(!is_joined || (heads > 0 && s[2] % heads == 0), "%lld heads of %s",
                  static_cast<long long>(heads), s.to_string().c_str());
  if (is_joined) x = split_heads(&f, x, heads);
  const Shape of_heads = f.shape_of(x);
  QRT_MODEL_CHECK(turned <= of_heads[3], "%lld angles for heads of %lld",
                  static_cast<long long>(turned / 2), static_cast<long long>(of_heads[3]));
  if (has_places) {
    const Tensor& given = importer.input(node, positions);
    if (!has_type(given, kInt64)) return importer.refuse_float(node, positions);
    const Shape p = given.shape;
    QRT_MODEL_CHECK(
        p.elements() == 1 || (p.rank() == 2 && p[0] == of_heads[0] && p[1] == of_heads[2]),
        "places of shape %s for tokens %s", p.to_string().c_str(), s.to_string().c_str());
    QRT_TRY(RunIntegers::check_count(of_heads[2]));
    const ValueId tokens_at = token_positions(&f, positions, of_heads[2]);
    for (ValueId& a : angles) a = rows_at(&f, a, tokens_at);
  } else {
    QRT_MODEL_CHECK(cache[1] == of_heads[2] && (cache[0] == 1 || cache[0] == of_heads[0]),
                    "angles of shape %s for tokens %s", cache.to_string().c_str(),
                    s.to_string().c_str());
    for (ValueId& a : angles) a = f.builder().reshape(node, a, {cache[0], 1, cache[1], cache[2]});
  }
  QRT_TRY(rotate(&f, angles[0], angles[1], node.integer("interleaved", 0) != 0, x, &x));
  if (is_joined) x = join_heads(&f, x);
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, x);
  return Status();
}

}  // namespace qrt::convert::from_onnx
