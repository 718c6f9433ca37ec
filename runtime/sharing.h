// SPDX-License-Identifier: Apache-2.0
// Decides which tensors are placed in the memory of others: views, parts of concatenations, and
// outputs of fused steps that work in place. plan.h (Place) has the rules.
#ifndef QRT_RUNTIME_SHARING_H_
#define QRT_RUNTIME_SHARING_H_

#include <cstddef>
#include <cstdint>

#include "runtime/op.h"

namespace qrt {

// Decides which tensors share memory while a plan is made. A slot is a tensor, or one of
// add_slot().
class Sharing {
 public:
  // `types` are the types in one run, indexed by slot. `model` and `types` have to outlive this
  // object.
  Sharing(const fb::Model& model, const TensorTypes& types);

  // Places the tensors of all steps. Sets the steps' pitches, and `run` and `kernel` of steps with
  // nothing left to do. With `keep_all` rows stay dense. REQUIRES: fuse_steps() was called before,
  // if at all.
  void share(bool keep_all, PlanVector<PlannedStep>* steps);

  // Adds a slot with memory of its own.
  void add_slot();
  size_t slots() const { return homes_.size(); }

  // The place of a tensor in the memory of another, or in its own.
  struct Home {
    uint32_t tensor;
    size_t offset;  // bytes
    size_t pitch;   // bytes from row to row; 0: dense
  };
  // Returns the root tensor, whose memory `slot` uses, and the place in it. Shortens the chain of
  // homes to the root. `pitch` is that of the last home in the chain whose rows are not dense.
  Home home(uint32_t slot);
  uint32_t root(uint32_t slot) {
    const uint32_t next = homes_[slot].tensor;
    return homes_[next].tensor == next ? next : home(slot).tensor;
  }

 private:
  // The use of a root's memory by the steps so far.
  struct MemoryUse {
    bool may_move = false;  // the memory may become part of another's
    // The number of equal rows that the present content divides the memory into; 0: not divided.
    size_t rows = 0;
    ScratchVector<uint32_t> writers;
  };

  size_t bytes(uint32_t tensor) const { return tensor_bytes(types_[tensor]); }
  size_t output_rows(const PlannedStep& step) const;
  void find_model_tensors();
  void find_rows(bool keep_all);
  bool fits_rows(uint32_t t, size_t rows);
  void stand_in(uint32_t root, size_t rows);
  bool share_view(PlannedStep* step);
  void share_concat_output(PlannedStep* step);
  bool may_be_written_beside(uint32_t part, uint32_t whole);
  void set_pitches(PlannedStep* step);

  const fb::Model& model_;
  const TensorTypes& types_;
  const PlanVector<PlannedStep>* steps_ = nullptr;  // argument of share()
  ScratchVector<Home> homes_;                       // indexed by slot
  // Indexed by tensor; true also for variables and their next content.
  ScratchVector<bool> is_input_, is_output_;
  ScratchVector<MemoryUse> uses_;  // indexed by tensor; set for roots only
  // Indexed by tensor: the number of rows that all its readers, or its writer, can divide it into,
  // or 0.
  ScratchVector<size_t> read_rows_, written_rows_;
  // Indexed by tensor: the output of the last Concat that the tensor becomes part of.
  ScratchVector<uint32_t> whole_of_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SHARING_H_
