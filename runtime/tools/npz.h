// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: zip archives of .npy files, stored (numpy.savez) or deflated
// (numpy.savez_compressed, where there is zlib).
#ifndef QRT_RUNTIME_TOOLS_NPZ_H_
#define QRT_RUNTIME_TOOLS_NPZ_H_

#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/budget.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

// Lists the arrays' names, without ".npy". Fails with kInvalidModel where the file is no zip archive.
Status list_npz(const std::string& path, std::vector<std::string>* names);

// Reads the type and shape of an array, and inflates no more than its beginning.
Status read_npz_head(const std::string& path, const std::string& name, NpyArray* head);

// Opens an array. A deflated one goes into a nameless temporary file: what it inflates to is taken from
// `budget`, to which the archive has been added, or from one for the archive alone where that is null.
Status open_npz_member(const std::string& path, const std::string& name, NpyFile* file,
                       Budget* budget = nullptr);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_NPZ_H_
