// SPDX-License-Identifier: Apache-2.0
// qrt_convert --digests: a .qrt file that holds what its own operators make of given inputs, so that
// a device can name the first operator that makes something else (qrt_run --check).
#ifndef QRT_CONVERTER_DIGESTS_H_
#define QRT_CONVERTER_DIGESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

// Adds the inputs, the outputs and the digests to `bytes`, a graph as write_model() wrote it.
// `inputs`: [NAME=]FILE.npy, by name or in the model's order, of any sizes that the model takes.
// Fails as Inputs::read() (runtime/tools/inputs.h) and write_model().
Status add_digests(const Graph& graph, const std::vector<std::string>& inputs,
                   std::vector<uint8_t>* bytes);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_DIGESTS_H_
