// SPDX-License-Identifier: Apache-2.0
// The scheme ort-dynamic: weights are integers, activations become integers at run time, so that no ranges
// are needed, and what has no integer form stays as it is. For transformers and recurrent networks.
#ifndef QRT_CONVERTER_QUANTIZE_DYNAMIC_DYNAMIC_H_
#define QRT_CONVERTER_QUANTIZE_DYNAMIC_DYNAMIC_H_

#include "converter/quantize/quantize.h"

namespace qrt::quantize {

constexpr char kDynamicScheme[] = "ort-dynamic";

// Makes a model of dynamic quantisation; fails as quantize(). The samples only judge it.
Status quantize_dynamic(const Settings& settings, const Progress& progress,
                        const std::function<void(const convert::Report&)>& plan, Quantised* result);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_DYNAMIC_DYNAMIC_H_
