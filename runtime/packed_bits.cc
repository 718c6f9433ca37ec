// SPDX-License-Identifier: Apache-2.0
#include "runtime/packed_bits.h"

#include <cstring>
#include <map>
#include <new>
#include <string_view>
#include <tuple>

#include "kernels/edge/packed.h"
#include "runtime/op.h"

namespace qrt {
namespace {

// Two-bit weights take four times their bytes, and a few operators may share a buffer and differ in
// their offsets.
constexpr size_t kMaxUnpacking = 16;

constexpr size_t kBlockChannels = 16;  // of a weight block

int bits_of(const fb::Tensor& tensor) { return dtype_bits(static_cast<DType>(tensor.dtype())); }

std::string_view offsets_of(const fb::Tensor& tensor) {
  const auto* offsets = tensor.weight_offset();
  if (offsets == nullptr) return {};
  return {reinterpret_cast<const char*>(offsets->data()), offsets->size()};
}

// Unpacks `weight_blocks` blocks of codes, packed in `bits` per weight. offsets, or null: one for
// each of 16 channels, `channel_blocks` times, each time for the next weight_blocks /
// channel_blocks weight blocks. out: weight_blocks * kWeightBlock int8.
void unpack_blocks(int bits, const uint8_t* codes, size_t weight_blocks, const int8_t* offsets,
                   size_t channel_blocks, uint8_t* out) {
  unpack_codes(bits, /*is_signed=*/true, codes, weight_blocks * kWeightBlock, out);
  if (offsets == nullptr) return;
  for (size_t b = 0; b < channel_blocks; ++b) {
    uint8_t pattern[kWeightBlock];
    for (size_t i = 0; i < kWeightBlock; ++i)
      pattern[i] = static_cast<uint8_t>(offsets[b * kBlockChannels + i / 4]);
    for (size_t w = 0; w < weight_blocks / channel_blocks; ++w, out += kWeightBlock)
      for (size_t i = 0; i < kWeightBlock; ++i) out[i] = static_cast<uint8_t>(out[i] + pattern[i]);
  }
}

}  // namespace

bool is_packed_bits(const fb::Tensor& tensor) {
  return tensor.packing() != fb::Packing::NONE && bits_of(tensor) < 8;
}

Status check_packed_bits(const fb::Tensor& tensor, size_t bytes) {
  const int bits = bits_of(tensor);
  const size_t block_bytes = kWeightBlock * static_cast<size_t>(bits) / 8;
  QRT_MODEL_CHECK(bytes % block_bytes == 0,
                  "packed weights of %d bits take %zu bytes, expected a multiple of %zu", bits,
                  bytes, block_bytes);
  const std::string_view offsets = offsets_of(tensor);
  const size_t channel_blocks = offsets.size() / kBlockChannels;
  const size_t weight_blocks = bytes / block_bytes;
  QRT_MODEL_CHECK(
      offsets.size() % kBlockChannels == 0 &&
          (channel_blocks == 0 || weight_blocks % channel_blocks == 0),
      "weight_offset has %zu values, expected 16 for each of equal parts of the %zu weight "
      "blocks",
      offsets.size(), weight_blocks);
  const int half = 1 << (bits - 1);
  for (const char c : offsets) {
    const int offset = static_cast<int8_t>(c);
    QRT_MODEL_CHECK(offset >= -128 + half && offset <= 128 - half,
                    "a weight_offset is %d, expected %d to %d", offset, -128 + half, 128 - half);
  }
  return {};
}

void UnpackedWeights::Release::operator()(uint8_t* memory) const {
  ::operator delete (memory, std::align_val_t{kAlignment}, std::nothrow);
}

Status UnpackedWeights::make(const fb::Model& model, size_t file_bytes, size_t max_memory) {
  std::map<std::tuple<uint32_t, fb::DType, std::string_view>, View> made;
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const fb::Tensor& tensor = *model.tensors()->Get(i);
    if (!is_packed_bits(tensor)) continue;
    views_.resize(model.tensors()->size());
    const std::string_view offsets = offsets_of(tensor);
    View& view = made[{tensor.buffer(), tensor.dtype(), offsets}];
    if (view.data == nullptr) {
      const auto& codes = *model.buffers()->Get(tensor.buffer())->data();
      const int bits = bits_of(tensor);
      const uint64_t all = bytes_ + uint64_t{codes.size()} * 8 / static_cast<unsigned>(bits);
      QRT_MODEL_CHECK(all <= uint64_t{kMaxUnpacking} * file_bytes,
                      "weights of 4 and 2 bits take more than %zu times the file when unpacked",
                      kMaxUnpacking);
      if (all > max_memory)
        return error(Code::kOutOfMemory,
                     "weights of 4 and 2 bits take %llu bytes or more when unpacked, max_memory "
                     "leaves %zu for them",
                     static_cast<unsigned long long>(all), max_memory);
      view.bytes = static_cast<size_t>(all) - bytes_;
      bytes_ += view.bytes;
      memory_.emplace_back();
      memory_.back().reset(static_cast<uint8_t*>(
          ::operator new (view.bytes + kSlack, std::align_val_t{kAlignment}, std::nothrow)));
      uint8_t* memory = memory_.back().get();
      if (memory == nullptr)
        return error(Code::kOutOfMemory, "no memory for %zu bytes of unpacked weights", view.bytes);
      unpack_blocks(bits, codes.data(), view.bytes / kWeightBlock,
                    offsets.empty() ? nullptr : reinterpret_cast<const int8_t*>(offsets.data()),
                    offsets.size() / kBlockChannels, memory);
      memset(memory + view.bytes, 0, kSlack);
      view.data = memory;
    }
    views_[i] = view;
  }
  return {};
}

}  // namespace qrt
