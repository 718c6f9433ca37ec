// Parts of a Quantize step, for the step that reads them in an order of its own (fuse.h).
#ifndef QRT_RUNTIME_OPS_QUANTIZE_H_
#define QRT_RUNTIME_OPS_QUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/op.h"

namespace qrt {

// Whether it is a Quantize that makes bytes of float32, all with one scale of its options.
bool quantizes_in_parts(const Step& step);

// The elements [begin, begin + count) of its output, to `to`. REQUIRES: quantizes_in_parts(step).
void quantize_part(const Step& step, const RunContext& context, size_t begin, size_t count,
                   uint8_t* to);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_QUANTIZE_H_
