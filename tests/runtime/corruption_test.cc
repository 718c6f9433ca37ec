// SPDX-License-Identifier: Apache-2.0
// Damaged files: no bytes at all make loading or running misbehave.
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <vector>

#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt::corruption_test {
namespace {

using testing::Bytes;

// Fills the inputs with something and runs; the outputs' bytes, one after the other.
Bytes run_session(qrt_session* session) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; qrt_session_input_info(session, i, &info) == QRT_OK; ++i) {
    const Bytes data =
        testing::pattern<uint8_t>(info.bytes, 0, info.dtype == QRT_FLOAT32 ? 66 : 255);
    qrt_session_set_input_bytes(session, i, data.data(), data.size(), nullptr);
  }
  qrt_session_run(session, nullptr);
  Bytes outputs;
  for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
    const uint8_t* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
    outputs.insert(outputs.end(), data, data + info.bytes);
  }
  return outputs;
}

// Returns a verified file's claims about its weights, and the weights: taken on trust (schema/README.md).
Bytes claims(const Bytes& file) {
  const fb::Model& model = *fb::GetModel(file.data());
  Bytes all;
  const auto add = [&](const auto* v) {
    const uint8_t* data = reinterpret_cast<const uint8_t*>(v->data());
    all.insert(all.end(), data, data + v->size() * sizeof(*v->data()));
  };
  for (const fb::Tensor* t : *model.tensors()) {
    if (t->packing() == fb::Packing::NONE) continue;
    add(model.buffers()->Get(t->buffer())->data());
    if (t->weight_offset() != nullptr) add(t->weight_offset());
    all.push_back(static_cast<uint8_t>(t->dtype()));
  }
  for (const fb::Operator* op : *model.operators()) {
    if (const auto* conv = op->options_as_Conv2D()) {
      add(conv->weight_sum());
      all.push_back(conv->pair_safe());
    }
    if (const auto* depthwise = op->options_as_DepthwiseConv2D()) add(depthwise->weight_sum());
    if (const auto* dense = op->options_as_FullyConnected()) {
      add(dense->weight_sum());
      all.push_back(dense->pair_safe());
    }
  }
  return all;
}

// Runs on the scalar kernels and, in turn, on those of one other instruction set, with the same
// result if the file's claims are true.
void expect_runs(const qrt_model* model, bool same_result) {
  Bytes expected;
  static size_t turn = 0;
  const std::vector<const char*> isas = testing::machine_isas();
  std::vector<const char*> two = {isas[0]};
  if (isas.size() > 1) two.push_back(isas[1 + turn++ % (isas.size() - 1)]);
  for (const char* isa : two) {
    qrt_session_options options;
    qrt_struct_init(&options);
    options.isa = isa;
    qrt_session* session = nullptr;
    if (qrt_session_create(model, &options, &session, nullptr) != QRT_OK) break;
    if (testing::memory_of(session) < 16 << 20) {
      const Bytes outputs = run_session(session);
      if (expected.empty()) expected = outputs;
      EXPECT_TRUE(!same_result || outputs == expected) << isa;
    }
    qrt_session_destroy(session);
  }
}

// Loads bytes of an exact size from the heap, where a sanitizer sees any access outside, and runs
// them if they pass. True if they passed.
bool survives(const Bytes& file) {
  qrt_model* model = nullptr;
  qrt_error error = {};
  const qrt_status status = testing::load_copy(file.data(), file.size(), &model, &error);
  EXPECT_TRUE((status == QRT_OK) == (model != nullptr));
  if (status != QRT_OK) {
    EXPECT_TRUE(status == QRT_INVALID_MODEL || status == QRT_UNSUPPORTED) << status;
    EXPECT_STRNE(error.message, "");
    return false;
  }
  // Huge models are legal; they need not run here.
  size_t bytes = 0;
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; qrt_model_input_info(model, i, &info) == QRT_OK; ++i) bytes += info.bytes;
  static const Bytes true_claims = claims(testing::every_op_model().build());
  if (bytes < 1 << 20) expect_runs(model, claims(file) == true_claims);
  qrt_model_destroy(model);
  return true;
}

// Lengths from one that is tried to the next: the memory sanitizer would take half an hour for all.
constexpr size_t length_step() {
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  return 17;
#endif
#endif
  return 1;
}

TEST(Corruption, EveryTruncationIsRefused) {
  const Bytes file = testing::every_op_model().build();
  for (size_t n = 1; n < file.size(); n += length_step()) {
    // Bytes that nothing refers to may be missing: the builder's padding behind the slack.
    const bool ok = survives(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(n)));
    ASSERT_TRUE(!ok || n + 128 > file.size()) << n << " of " << file.size() << " bytes";
  }
}

// Returns a small model file with `flips` bits or bytes changed.
Bytes flipped(Bytes file, testing::Random* random, int flips) {
  for (int i = 0; i < flips; ++i) {
    uint8_t& byte =
        file[static_cast<size_t>(random->integer(0, static_cast<int64_t>(file.size()) - 1))];
    if (random->coin()) {
      byte ^= static_cast<uint8_t>(1 << random->integer(0, 7));
    } else {
      byte = static_cast<uint8_t>(random->integer(0, 255));
    }
  }
  return file;
}

TEST(Corruption, NoFlippedBytesMisbehave) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Bytes file = testing::every_op_model().build();
  int passed = 0;
  for (int i = 0; i < 6000; ++i) {
    const int flips = static_cast<int>(random.coin() ? 1 : random.integer(1, 8));
    passed += survives(flipped(file, &random, flips));
    if (HasFailure()) FAIL() << "flip " << i;
  }
  ASSERT_GT(passed, 0);
}

// Words of the file become indices, sizes and extremes, which reach checks that random bytes seldom
// do.
TEST(Corruption, NoReplacedWordsMisbehave) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Bytes file = testing::every_op_model().build();
  const uint32_t words[] = {0,     1,        2,          3,          4,          7,
                            8,     16,       17,         255,        256,        65535,
                            65536, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
  for (size_t at = 0; at + 4 <= file.size(); at += 4) {
    Bytes copy = file;
    const size_t which = static_cast<size_t>(random.integer(0, std::size(words) - 1));
    memcpy(copy.data() + at, &words[which], 4);
    survives(copy);
    if (HasFailure()) FAIL() << "word " << words[which] << " at byte " << at;
  }
}

}  // namespace
}  // namespace qrt::corruption_test
