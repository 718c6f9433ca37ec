// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools on images of floats, gathered.
#ifndef QRT_CONVERTER_IMPORT_COMMON_FLOAT_WINDOWS_H_
#define QRT_CONVERTER_IMPORT_COMMON_FLOAT_WINDOWS_H_

#include "converter/import/common/float_builder.h"
#include "converter/import/common/index_maps.h"
#include "converter/import/common/window.h"

namespace qrt::convert {

// The order in which a gathered window lists the values that it reads.
enum class TermOrder { kTapsThenChannels, kChannelsThenTaps };

// Lists for one dimension of a window the input of every output and tap, -1 in the padding.
Indices window_indices(const WindowAxis& w, int64_t in);

// Gathers the windows of x [n, h, w, c] whose output o reads, along axis d (height or width) and for
// tap k, position `indices`[d][o * kernel[d] + k], or `fill` where that is -1: [n, oh, ow, taps * c].
Status gather_taps(FloatBuilder* f, const int64_t (&output)[2], const int64_t (&kernel)[2],
                   const Indices (&indices)[2], float fill, TermOrder order, ValueId x, ValueId* y);

// Reduces each window of a result of gather_taps(), taps before channels, to one value a channel:
// [n, oh, ow, c].
ValueId reduce_taps(FloatBuilder* f, fb::FloatFunction function, int64_t channels, ValueId x);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_FLOAT_WINDOWS_H_
