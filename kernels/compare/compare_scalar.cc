#include "kernels/compare/compare_vectors.h"

namespace qrt {

QRT_VECTOR_ROW(scalar)

}  // namespace qrt
