// SPDX-License-Identifier: Apache-2.0
// Tells how a model takes images.
#ifndef QRT_RUNTIME_LAYOUT_H_
#define QRT_RUNTIME_LAYOUT_H_

#include <vector>

#include "qrt/qrt.h"
#include "qrt_model_generated.h"

namespace qrt {

// Returns by input where its channels stand, as the operators that read it tell: layers for images take
// channels last, and a model that gets them first transposes them for its first such layer. In time
// proportional to the model.
std::vector<qrt_layout> input_layouts(const fb::Model& model);

}  // namespace qrt

#endif  // QRT_RUNTIME_LAYOUT_H_
