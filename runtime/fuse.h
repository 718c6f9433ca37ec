// SPDX-License-Identifier: Apache-2.0
// Fusion that keeps the bytes: an elementwise step runs inside the step that writes its last input,
// on every piece of that while it is in the cache. Its arithmetic is its own, after the other's
// requantisation; the tensor between them has no memory of its own. Where their types differ, each
// task of the first writes a piece of scratch memory that the other reads. And some steps do the
// work of those around them: a Transpose of planes into pixels quantises them, a block at a time, and
// one that shuffles the parts of a Concat reads them where they are; a LayerNormalization between
// bytes dequantises and quantises its rows; a BatchMatMul reads the rows of heads where they stand; a
// product of floats makes the scores of attention, some rows at a time.
#ifndef QRT_RUNTIME_FUSE_H_
#define QRT_RUNTIME_FUSE_H_

#include "runtime/op.h"

namespace qrt {

// Sets leader, follower and run of the steps that run inside another: those that can follow, and
// read the output, of as many elements, of a step that can lead, which nothing else reads and which
// is made after all other inputs; and those that a Transpose, a LayerNormalization or a product
// takes over, being the only one that reads or makes what they make or read. `types` is indexed by
// tensor.
void fuse_steps(const fb::Model& model, const TensorTypes& types, PlanVector<PlannedStep>* steps);

// Sets `ahead` of the last step before each streaming one that has time to spare.
void fetch_ahead(PlanVector<PlannedStep>* steps);

}  // namespace qrt

#endif  // QRT_RUNTIME_FUSE_H_
