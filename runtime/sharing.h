// SPDX-License-Identifier: Apache-2.0
// Decides which tensors stand in the memory of others: views, parts of concatenations, and outputs
// of fused steps that work in place. plan.h (Place) has the rules.
#ifndef QRT_RUNTIME_SHARING_H_
#define QRT_RUNTIME_SHARING_H_

#include <cstddef>
#include <cstdint>

#include "runtime/op.h"

namespace qrt {

// Used while a plan is made. A slot: a tensor, or one of add_slot().
class Sharing {
 public:
  // `types`: by slot, of what the steps of one run use. Both stay where they are.
  Sharing(const fb::Model& model, const TensorTypes& types);

  // Decides for all steps. Sets their pitches, and run and kernel of those with nothing left to do.
  // With `keep_all` rows stay dense. REQUIRES: fuse_steps() was called, if it is to be.
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
  // Returns the tensor whose memory `slot` uses in the end. Shortens the way there. Rows have the
  // pitch of the last memory on the way in which they are apart.
  Home home(uint32_t slot);
  uint32_t root(uint32_t slot) {
    const uint32_t next = homes_[slot].tensor;
    return homes_[next].tensor == next ? next : home(slot).tensor;
  }

 private:
  // The use of a root's memory by the steps so far.
  struct MemoryUse {
    bool may_move = false;  // into another's
    // Number of equal rows that its present content divides the memory into; 0: it is not divided.
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
  ScratchVector<MemoryUse> uses_;  // indexed by tensor; roots alone have one
  // The number of rows into which all readers, and the writer, of a tensor can take it, or 0; by tensor.
  ScratchVector<size_t> read_rows_, written_rows_;
  // Indexed by tensor: the last Concat's output that it is to be part of.
  ScratchVector<uint32_t> whole_of_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SHARING_H_
