// SPDX-License-Identifier: Apache-2.0
// Runs models of one operator: on every instruction set of this CPU and by XNNPACK where it is
// built in, cut for 1, 2 (not in an emulator) and 3 threads, twice. Expects the given bytes, or
// expects a model to be refused.
#ifndef QRT_TESTS_SUPPORT_OP_TESTER_H_
#define QRT_TESTS_SUPPORT_OP_TESTER_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "runtime/checked.h"
#include "runtime/platform/pthreadpools.h"
#include "runtime/pool.h"
#include "runtime/providers/provider.h"
#include "runtime/session.h"
#include "runtime/verify.h"
#include "tests/support/guarded.h"
#include "tests/support/model_builder.h"

namespace qrt::testing {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline Result<std::shared_ptr<const VerifiedModel>> load(const ModelBuilder& builder) {
  const Bytes file = builder.build();
  Result<ModelBytes> bytes = ModelBytes::copy(file.data(), file.size());
  if (!bytes.ok()) return std::move(bytes.status());
  return verify(std::move(*bytes));
}

// Checks that loading fails with `code` and a message that holds `part`.
inline void expect_rejected(const ModelBuilder& builder, const std::string& part,
                            Code code = Code::kInvalidModel) {
  Result<std::shared_ptr<const VerifiedModel>> model = load(builder);
  ASSERT_FALSE(model.ok()) << "accepted, expected a refusal with: " << part;
  ASSERT_EQ(static_cast<int>(model.status().code()), static_cast<int>(code))
      << model.status().message();
  ASSERT_NE(std::string(model.status().message()).find(part), std::string::npos)
      << "message: " << model.status().message() << "\nexpected part: " << part;
}

// Sets how work is cut: 1 the calling thread; 2 a pool of two threads (one for all sessions: making
// one takes long on a busy machine); 3 the calling thread doing the tasks from last to first.
inline void set_threads(size_t threads, SessionOptions* options) {
  options->threads = threads;
  if (threads == 2 && platform::has_pthreadpools()) {
    static const std::unique_ptr<pthreadpool, void (*)(pthreadpool*)> pool(
        platform::make_pthreadpool(2), platform::end_pthreadpool);
    options->callers_pool = pool.get();
  } else if (threads == 2) {
    static Result<std::shared_ptr<Pool>> pool = Pool::create(2);
    options->pool = *pool;
  } else if (threads == 3) {
    options->parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
      while (count-- > 0) task(argument, count);
    };
  }
}

// Memory for a plan's inputs and outputs that may just be bound: its end is a guard page.
class CallersBuffers {
 public:
  explicit CallersBuffers(const Plan& plan) {
    for (const PlanVector<ModelTensor>* ends : {&plan.inputs, &plan.outputs})
      for (const ModelTensor& end : *ends) {
        const size_t bytes = round_up(plan.slot_bytes(end.slot), kAlignment);
        const size_t slack = end.needs_slack ? kSlack : 0;
        buffers_.push_back({&end, std::make_unique<Guarded<uint8_t>>(bytes, slack), slack});
      }
  }
  void bind_all(Session* session) const {
    for (const Buffer& b : buffers_)
      EXPECT_TRUE(session->bind(*b.end, b.memory->data(), b.slack != 0).ok());
  }
  // Runs read behind a buffer's tensor, and write nothing there.
  bool is_untouched_behind(const Plan& plan) const {
    for (const Buffer& b : buffers_) {
      const size_t bytes = plan.slot_bytes(b.end->slot), all = b.memory->size() + b.slack;
      for (size_t i = bytes; i < all; ++i)
        if (b.memory->data()[i] != 0xA5) return false;
    }
    return true;
  }

 private:
  struct Buffer {
    const ModelTensor* end;
    std::unique_ptr<Guarded<uint8_t>> memory;
    size_t slack;
  };
  std::vector<Buffer> buffers_;
};

// The provider of kernels to run: null, our own on one instruction set, or "xnnpack".
struct Kernels {
  const char* isa;
  const char* provider;
};

inline std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  Isa isa;
  for (int i = 0; isa_at(i, &isa); ++i)
    if (has(detected_isas(), isa)) all.push_back({isa_name(isa), nullptr});
  if (find_provider("xnnpack").ok()) all.push_back({nullptr, "xnnpack"});
  return all;
}

inline void expect_outputs(const ModelBuilder& builder, size_t batch,
                           const std::vector<Bytes>& inputs, const std::vector<Bytes>& outputs) {
  Result<std::shared_ptr<const VerifiedModel>> model = load(builder);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto& file = (*model)->file();
#ifdef QRT_TEST_EMULATED
  // Threads that wait cost an emulator most; tests of the runtime have some.
  constexpr size_t kNextCut = 2;
#else
  constexpr size_t kNextCut = 1;
#endif
  for (const Kernels& kernels : all_kernels()) {
    for (size_t threads = 1; threads <= 3; threads += kNextCut) {
      SCOPED_TRACE(std::string(kernels.isa != nullptr ? kernels.isa : kernels.provider) +
                   ", threads " + std::to_string(threads) + ", batch " + std::to_string(batch));
      SessionOptions options;
      options.batch = batch;
      set_threads(threads, &options);
      options.isa = kernels.isa;
      options.kernels = kernels.provider;
      Result<std::unique_ptr<Session>> session = Session::create(*model, options);
      ASSERT_TRUE(session.ok()) << session.status().message();
      const Plan& plan = (*session)->plan();
      ASSERT_NE(plan.steps[0].kernel[0], '\0');
      const CallersBuffers buffers(plan);
      for (int run = 0; run < 2; ++run) {  // the second in the caller's memory
        if (run == 1) buffers.bind_all(session->get());
        for (uint32_t k = 0; k < file.inputs()->size(); ++k) {
          const uint32_t slot = file.inputs()->Get(k);
          ASSERT_EQ(plan.slot_bytes(slot), inputs[k].size());
          memcpy((*session)->data(slot), inputs[k].data(), inputs[k].size());
        }
        for (const ModelTensor& output : plan.outputs)
          memset((*session)->data(output.slot), 0xA5, plan.slot_bytes(output.slot));
        ASSERT_TRUE((*session)->run().ok());
        ASSERT_TRUE(buffers.is_untouched_behind(plan)) << plan.steps[0].kernel;
        for (size_t k = 0; k < outputs.size(); ++k) {
          const uint32_t slot = plan.outputs[k].slot;
          ASSERT_EQ(plan.slot_bytes(slot), outputs[k].size());
          const uint8_t* actual = (*session)->data(slot);
          if (memcmp(actual, outputs[k].data(), outputs[k].size()) == 0) continue;
          for (size_t j = 0; j < outputs[k].size(); ++j)
            ASSERT_EQ(actual[j], outputs[k][j]) << "output " << k << ", byte " << j << ", run "
                                                << run << ", " << plan.steps[0].kernel;
        }
      }
    }
  }
}

// A file's requantisation in the form that requantize() takes, for oracles.
class RequantOracle {
 public:
  RequantOracle(const fb::RequantT& r, size_t channels) {
    requant_.kind = static_cast<RequantKind>(r.kind);
    requant_.round = static_cast<Round>(r.rounding);
    requant_.zero_point_before = r.zero_point_before;
    requant_.fused = r.fused;
    requant_.zero_point = r.zero_point;
    requant_.offset = r.offset;
    requant_.lo = r.lo;
    requant_.hi = r.hi;
    for (size_t c = 0; c < channels && !r.scale.empty(); ++c) {
      const uint32_t bits = r.scale[r.scale.size() == 1 ? 0 : c];
      float f;
      memcpy(&f, &bits, 4);
      scale_.push_back(f);
    }
    requant_.scale = scale_.data();
    for (const auto& stage : r.stages) {
      const int i = requant_.stage_count++;
      for (size_t c = 0; c < channels; ++c) {
        const size_t from = stage->multiplier.size() == 1 ? 0 : c;
        multiplier_[i].push_back(stage->multiplier[from]);
        shift_[i].push_back(stage->shift[from]);
      }
      requant_.stages[i] = {multiplier_[i].data(), shift_[i].data(),
                            static_cast<Round>(stage->rounding), stage->clip_lo, stage->clip_hi};
    }
  }
  RequantOracle(const RequantOracle&) = delete;
  RequantOracle& operator=(const RequantOracle&) = delete;

  // Appends the output's bytes: one, or the four of the accumulator with kind ACC.
  void append(int32_t acc, size_t channel, Bytes* output) const {
    if (requant_.kind != RequantKind::kAcc) {
      output->push_back(static_cast<uint8_t>(requantize(requant_, acc, channel)));
      return;
    }
    uint8_t bytes[4];
    memcpy(bytes, &acc, 4);
    output->insert(output->end(), bytes, bytes + 4);
  }

 private:
  Requant requant_{};
  std::vector<float> scale_;
  std::vector<int32_t> multiplier_[kMaxStages];
  std::vector<uint8_t> shift_[kMaxStages];
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_OP_TESTER_H_
