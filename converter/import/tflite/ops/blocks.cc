// SPDX-License-Identifier: Apache-2.0
// Operators that exchange blocks of an image for channels or for batches.

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Sizes of the blocks of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, and what stands around the
// image: one or two spatial dimensions.
struct Blocks {
  std::vector<int32_t> size, border;
};

Status read_blocks(Importer& importer, const Op& op, Blocks* blocks, bool* known) {
  *known = importer.read_integers(op, 1, &blocks->size) &&
           importer.read_integers(op, 2, &blocks->border);
  if (!*known) return Status();
  const int rank = importer.input(op, 0).shape.rank();
  const size_t spatial = blocks->size.size();
  QRT_MODEL_CHECK((rank == 3 || rank == 4) && spatial == static_cast<size_t>(rank) - 2 &&
                      blocks->border.size() == 2 * spatial,
                  "%zu block sizes and %zu paddings for %d dimensions", spatial,
                  blocks->border.size(), rank);
  for (int32_t b : blocks->size) QRT_MODEL_CHECK(b >= 1, "a block size is %d", b);
  for (int32_t b : blocks->border) QRT_MODEL_CHECK(b >= 0, "a padding is negative");
  return Status();
}

}  // namespace

Status import_depth_to_space(Importer& importer, const Op& op) {
  const int64_t b = op.options<tflite::DepthToSpaceOptions>().block_size;
  const Shape& from = importer.input(op, 0).shape;
  QRT_MODEL_CHECK(from.rank() == 4 && b >= 1 && b <= from[3] && from[3] % (b * b) == 0,
                  "shape %s in blocks of %lld", from.to_string().c_str(),
                  static_cast<long long>(b));
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  x.reshape({from[0], from[1], from[2], b, b, from[3] / (b * b)});
  x.transpose({0, 1, 3, 2, 4, 5});
  x.reshape({from[0], from[1] * b, from[2] * b, from[3] / (b * b)});
  return x.finish();
}

Status import_space_to_depth(Importer& importer, const Op& op) {
  const int64_t b = op.options<tflite::SpaceToDepthOptions>().block_size;
  const Shape& from = importer.input(op, 0).shape;
  QRT_MODEL_CHECK(from.rank() == 4 && b >= 1 && from[1] % b == 0 && from[2] % b == 0,
                  "shape %s in blocks of %lld", from.to_string().c_str(),
                  static_cast<long long>(b));
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  x.reshape({from[0], from[1] / b, b, from[2] / b, b, from[3]});
  x.transpose({0, 1, 3, 2, 4, 5});
  x.reshape({from[0], from[1] / b, from[2] / b, b * b * from[3]});
  return x.finish();
}

Status import_space_to_batch_nd(Importer& importer, const Op& op) {
  Blocks blocks;
  bool known;
  QRT_TRY(read_blocks(importer, op, &blocks, &known));
  if (!known) return Status();
  Quant quant;
  const bool is_int16 = importer.output(op).type == TensorType::INT16;
  if (!is_int16 && !importer.read_quant(op, importer.output(op), &quant)) return Status();
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  IndexMaps maps(x.shape());
  for (size_t i = 0; i < blocks.size.size(); ++i) {
    const int d = static_cast<int>(i) + 1;
    const int64_t before = blocks.border[2 * i], after = blocks.border[2 * i + 1];
    const int64_t size = x.shape()[d] + before + after;
    QRT_TRY(check_index_count(size));
    QRT_MODEL_CHECK(size % blocks.size[i] == 0, "%lld positions in blocks of %d",
                    static_cast<long long>(size), blocks.size[i]);
    maps.set(d, padded(x.shape()[d], before, after, PadMode::kConstant));
  }
  QRT_TRY(x.gather(maps, is_int16 ? 0 : quant.stored_zero_point()));
  const Shape s = x.shape();
  const int64_t b = blocks.size[0];
  if (s.rank() == 3) {
    x.reshape({s[0], s[1] / b, b, s[2]});
    x.transpose({2, 0, 1, 3});
    x.reshape({b * s[0], s[1] / b, s[2]});
  } else {
    const int64_t bw = blocks.size[1];
    x.reshape({s[0], s[1] / b, b, s[2] / bw, bw, s[3]});
    x.transpose({2, 4, 0, 1, 3, 5});
    x.reshape({b * bw * s[0], s[1] / b, s[2] / bw, s[3]});
  }
  return x.finish();
}

Status import_batch_to_space_nd(Importer& importer, const Op& op) {
  Blocks blocks;
  bool known;
  QRT_TRY(read_blocks(importer, op, &blocks, &known));
  if (!known) return Status();
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  const Shape s = x.shape();
  const int64_t b = blocks.size[0], bw = blocks.size.size() > 1 ? blocks.size[1] : 1;
  QRT_MODEL_CHECK(b <= s[0] && bw <= s[0] && s[0] % (b * bw) == 0,
                  "%lld images in blocks of %lld x %lld", static_cast<long long>(s[0]),
                  static_cast<long long>(b), static_cast<long long>(bw));
  const int64_t n = s[0] / (b * bw);
  if (s.rank() == 3) {
    x.reshape({b, n, s[1], s[2]});
    x.transpose({1, 2, 0, 3});
    x.reshape({n, s[1] * b, s[2]});
  } else {
    x.reshape({b, bw, n, s[1], s[2], s[3]});
    x.transpose({2, 3, 0, 4, 1, 5});
    x.reshape({n, s[1] * b, s[2] * bw, s[3]});
  }
  IndexMaps maps(x.shape());
  for (size_t i = 0; i < blocks.size.size(); ++i) {
    const int d = static_cast<int>(i) + 1;
    const int64_t before = blocks.border[2 * i], after = blocks.border[2 * i + 1];
    QRT_MODEL_CHECK(before + after <= x.shape()[d], "it cuts %lld and %lld of %lld positions",
                    static_cast<long long>(before), static_cast<long long>(after),
                    static_cast<long long>(x.shape()[d]));
    QRT_TRY(check_index_count(x.shape()[d]));
    maps.set(d, padded(x.shape()[d], -before, -after, PadMode::kConstant));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

}  // namespace qrt::convert::from_tflite
