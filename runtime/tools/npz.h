// NumPy's .npz files: zip archives of .npy files, stored (numpy.savez) or deflated
// (numpy.savez_compressed, where there is zlib).
#ifndef QRT_RUNTIME_TOOLS_NPZ_H_
#define QRT_RUNTIME_TOOLS_NPZ_H_

#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

// The arrays' names, without ".npy". kInvalidModel for what is no zip archive.
Status list_npz(const std::string& path, std::vector<std::string>* names);

// A deflated member goes into a nameless temporary file.
Status open_npz_member(const std::string& path, const std::string& name, NpyFile* file);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_NPZ_H_
