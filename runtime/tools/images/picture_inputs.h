// SPDX-License-Identifier: Apache-2.0
// Pictures as the inputs of a .qrt model.
#ifndef QRT_RUNTIME_TOOLS_IMAGES_PICTURE_INPUTS_H_
#define QRT_RUNTIME_TOOLS_IMAGES_PICTURE_INPUTS_H_

#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/status.h"
#include "runtime/tools/images/pictures.h"
#include "runtime/tools/inputs.h"

namespace qrt::tool {

// Reads the files as a batch for a model with one input. A float input takes real numbers as PictureOptions
// says; an input of integers with a scale takes them quantised by it, half to even; a uint8 input without a
// scale takes the pixels. Fails with kInvalidArgument where the model's input is none for pictures.
Status read_pictures(const Model& model, const std::vector<std::string>& files,
                     const PictureArguments& arguments, Inputs* inputs);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_IMAGES_PICTURE_INPUTS_H_
