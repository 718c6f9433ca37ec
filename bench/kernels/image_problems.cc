// SPDX-License-Identifier: Apache-2.0
// Memory of convolutions by rows or tiles; see image_problems.h.
#include "bench/kernels/image_problems.h"

#include <algorithm>

#include "kernels/gemm/pack.h"

namespace qrt::bench {

ImageProblem::ImageProblem(const Layer& layer, Isa isa) : layer_(layer), isa_(isa) {}

Work ImageProblem::work() const {
  const Layer& l = layer_;
  const size_t group = l.kind == Layer::Kind::kGrouped ? l.group : l.in_c;
  const size_t bytes = l.in_h * l.in_w * l.in_c + l.out_c * l.kernel * l.kernel * group +
                       l.out_h() * l.out_w() * l.out_c;
  return {l.macs(), static_cast<double>(bytes), &peak_loop(isa_, false)};
}

std::vector<int8_t> ImageProblem::packed(size_t taps, size_t k) const {
  const size_t groups = layer_.kind == Layer::Kind::kGrouped ? layer_.in_c / layer_.group : 1;
  const size_t n = layer_.out_c / groups, bytes = gemm_packed_bytes(n, taps, k);
  const std::vector<int8_t> weights = some_weights(layer_.out_c * taps * k);
  std::vector<int8_t> packed(groups * bytes);
  for (size_t g = 0; g < groups; ++g)
    gemm_pack(weights.data() + g * n * taps * k, n, taps, k, packed.data() + g * bytes);
  return packed;
}

template <class Args>
void ImageProblem::make(uint64_t weight_bytes, uint64_t scratch_bytes, Args* args) {
  const Layer& l = layer_;
  const size_t group = l.kind == Layer::Kind::kGrouped ? l.group : l.in_c;
  const size_t input_bytes = l.in_h * l.in_w * l.in_c;
  weights_ = std::make_unique<Buffer>(static_cast<size_t>(weight_bytes));
  input_ = std::make_unique<Buffer>(input_bytes + kSlack);
  fill(input_->data(), input_bytes);
  output_ = std::make_unique<Buffer>(l.out_h() * l.out_w() * l.out_c + kSlack);
  scratch_ = std::make_unique<Buffer>(static_cast<size_t>(scratch_bytes));
  bias_.assign(l.out_c + kReadAhead, 1000);
  scale_.assign(l.out_c + kReadAhead, 1.0f / static_cast<float>(16 * l.kernel * l.kernel * group));
  args->x = input_->data();
  args->bias = bias_.data();
  args->requant = some_requant(scale_.data());
  args->y = output_->data();
  args->y_pitch = l.out_c;
  args->scratch = scratch_->data();
}

// Strips as even as can be.
template <class Args>
void ImageProblem::run_row_ranges(void (*kernel)(const Args&), Args args, size_t strip_rows) {
  const size_t rows = args.shape.out_h, strips = (rows + strip_rows - 1) / strip_rows;
  for (size_t i = 0; i < strips; ++i, args.row_begin = args.row_end) {
    args.row_end = rows * (i + 1) / strips;
    kernel(args);
  }
}

template void ImageProblem::run_row_ranges(void (*)(const GroupedArgs&), GroupedArgs, size_t);
template void ImageProblem::run_row_ranges(void (*)(const NarrowArgs&), NarrowArgs, size_t);
template void ImageProblem::run_row_ranges(void (*)(const StemArgs&), StemArgs, size_t);

GroupedShape grouped_shape(const Layer& l) { return {l.window(), l.in_c, l.group}; }

GroupedProblem::GroupedProblem(const Layer& layer, const GroupedKernel& kernel)
    : ImageProblem(layer, kernel.isa), kernel_(kernel) {
  const GroupedShape shape = grouped_shape(layer);
  make(grouped_weight_bytes(kernel, shape), grouped_scratch_bytes(kernel, shape), &args_);
  grouped_weights(kernel, shape, packed(shape.taps(), shape.group).data(), shape.group, weights());
  strip_rows_ = grouped_rows_per_call(kernel, shape);
  args_.shape = shape;
  args_.x_pitch = shape.channels;
  args_.zero_point = kInputZeroPoint;
  args_.weights = weights();
}

namespace {

NarrowShape narrow_shape(const Layer& l) { return {l.window(), l.in_c, l.out_c}; }

StemShape stem_shape(const Layer& l) { return {l.window(), l.in_c, l.out_c}; }

}  // namespace

bool NarrowProblem::takes(const Layer& l) {
  return l.kind == Layer::Kind::kConv && l.stride == 1 && l.kernel > 1 &&
         l.out_c <= kNarrowMostOutputs && narrow_rows_per_call(narrow_shape(l)) > 0;
}

NarrowProblem::NarrowProblem(const Layer& layer, const NarrowKernel& kernel)
    : ImageProblem(layer, kernel.isa), kernel_(kernel), window_offsets_(layer.out_c) {
  const NarrowShape shape = narrow_shape(layer);
  make(narrow_weight_bytes(shape), narrow_scratch_bytes(shape), &args_);
  const std::vector<int8_t> source = packed(layer.kernel * layer.kernel, layer.in_c);
  narrow_weights({source.data(), layer.in_c, layer.out_c, layer.kernel, layer.kernel, false}, shape,
                 window_offsets_.data(), weights());
  strip_rows_ = narrow_rows_per_call(shape);
  args_.shape = shape;
  args_.x_pitch = layer.in_c;
  args_.zero_point = kInputZeroPoint;
  args_.weights = weights();
  args_.window_offsets = window_offsets_.data();
}

bool StemProblem::takes(const Layer& l) { return l.kind == Layer::Kind::kConv && l.in_c <= 4; }

StemProblem::StemProblem(const Layer& layer, const StemKernel& kernel)
    : ImageProblem(layer, kernel.isa), kernel_(kernel) {
  const StemShape shape = stem_shape(layer);
  make(stem_weight_bytes(shape), stem_scratch_bytes(shape), &args_);
  stem_weights(packed(layer.kernel, layer.kernel * layer.in_c).data(), shape, weights());
  offsets_.resize(stem_offset_count(shape));
  stem_offsets(shape, offsets_.data());
  strip_rows_ = stem_rows_per_call(shape);
  args_.shape = shape;
  args_.zero_point = kInputZeroPoint;
  args_.weights = weights();
  args_.offsets = offsets_.data();
}

bool WinogradProblem::takes(const Layer& l) {
  return l.kind == Layer::Kind::kConv && l.kernel == 3 && l.stride == 1 && l.in_c > 4;
}

WinogradProblem::WinogradProblem(const Layer& layer, const WinogradKernel& kernel)
    : ImageProblem(layer, kernel.isa),
      kernel_(kernel),
      zero_(layer.in_c + kSlack, kInputZeroPoint) {
  WinogradShape shape{};
  shape.in_h = layer.in_h, shape.in_w = layer.in_w, shape.in_c = layer.in_c;
  shape.out_h = layer.out_h(), shape.out_w = layer.out_w(), shape.out_c = layer.out_c;
  shape.pad_top = shape.pad_left = layer.pad;
  make(winograd_weight_bytes(shape), winograd_scratch_bytes(kernel, shape), &args_);
  auto* const transformed = reinterpret_cast<int16_t*>(weights());
  winograd_weights(packed(shape.taps(), shape.in_c).data(), shape, kernel.weight_lanes,
                   transformed);
  args_.shape = shape;
  args_.x_pitch = shape.in_c;
  args_.zero = zero_.data();
  args_.weights = transformed;
  args_.channel_end = shape.out_c;
}

void WinogradProblem::run() const {
  WinogradArgs args = args_;
  const size_t tiles = args.shape.tiles(), block = winograd_block(kernel_, args.shape);
  for (; args.tile_begin < tiles; args.tile_begin = args.tile_end) {
    args.tile_end = std::min(args.tile_begin + block, tiles);
    kernel_.fn(args);
  }
}

}  // namespace qrt::bench
