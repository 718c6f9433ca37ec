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

#include "runtime/guards.h"
#include "runtime/op.h"

namespace qrt {

// Sets leader, follower and run of the steps that run inside another. A step follows a step that
// can lead if it reads its output, has as many elements, and is the output's only reader, and if
// all its other inputs are made before. A Transpose, a LayerNormalization or a product takes over
// steps of whose inputs or outputs it is the only maker or reader. Steps that run inside each other have one
// guard. `types` is indexed by tensor.
void fuse_steps(const fb::Model& model, const Guards& guards, const TensorTypes& types,
                PlanVector<PlannedStep>* steps);

// Sets `ahead` of the last step before each streaming one that has time to spare.
void fetch_ahead(PlanVector<PlannedStep>* steps);

}  // namespace qrt

#endif  // QRT_RUNTIME_FUSE_H_
