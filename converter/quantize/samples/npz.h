// NumPy's .npz files: zip archives of .npy files, stored or deflated.
#ifndef QRT_CONVERTER_QUANTIZE_SAMPLES_NPZ_H_
#define QRT_CONVERTER_QUANTIZE_SAMPLES_NPZ_H_

#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/npy.h"

namespace qrt::quantize {

// The arrays' names, without ".npy". kInvalidModel for what is no zip archive.
Status list_npz(const std::string& path, std::vector<std::string>* names);

// A deflated member goes into a nameless temporary file.
Status open_npz_member(const std::string& path, const std::string& name, tool::NpyFile* file);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SAMPLES_NPZ_H_
