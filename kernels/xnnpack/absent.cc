// A build without XNNPACK: it has no operator for anything.
#include "kernels/xnnpack/xnnpack.h"

namespace qrt {

bool has_xnnpack() { return false; }
XnnpackPointer xnnpack_convolution(const XnnpackConv&) { return nullptr; }
XnnpackPointer xnnpack_depthwise(const XnnpackConv&) { return nullptr; }
XnnpackPointer xnnpack_max_pool(size_t, const PoolShape&) { return nullptr; }
XnnpackPointer xnnpack_average_pool(size_t, const AveragePoolArgs&) { return nullptr; }
XnnpackPointer xnnpack_global_average_pool(size_t, const GlobalSumArgs&) { return nullptr; }
XnnpackPointer xnnpack_add(const XnnpackAdd&) { return nullptr; }

}  // namespace qrt
