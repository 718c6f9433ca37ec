// SPDX-License-Identifier: Apache-2.0
// Models with a symbolic batch, and what ONNX Runtime gives for three images: tests/onnxruntime/numbers.mjs
// prints those numbers.
#ifndef QRT_TESTS_CONVERTER_SYMBOLIC_BATCH_CASES_H_
#define QRT_TESTS_CONVERTER_SYMBOLIC_BATCH_CASES_H_

#include <string>

#include "tests/support/onnx_builder.h"

namespace qrt::testing {

constexpr size_t kBatch = 3;

inline std::string ints(OnnxBuilder& b, const Dims& values) {
  return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
}

struct SymbolicBatchCase {
  const char* name;
  Dims image;  // of the input, without the batch
  // Adds nodes behind the float tensor x and gives their result; the node that mixes images, if one
  // does, has the name "mixes".
  std::string (*body)(OnnxBuilder& b, const std::string& x);
  bool is_open;
  Dims dims;       // of ONNX Runtime's output
  Bytes expected;  // its codes
};

inline std::string mixing(OnnxBuilder& b, const std::string& y) {
  b.graph().mutable_node(b.graph().node_size() - 1)->set_name("mixes");
  return y;
}

constexpr float kScale = 0.5f;
constexpr uint8_t kZero = 100;

inline OnnxBuilder build(const SymbolicBatchCase& c, int64_t batch) {
  OnnxBuilder b;
  Dims dims = {batch};
  dims.insert(dims.end(), c.image.begin(), c.image.end());
  const std::string x = b.integer_input<uint8_t>(dims, kScale, kZero);
  b.integer_output<uint8_t>(c.body(b, x), kScale, kZero);
  return b;
}

inline Bytes input_of(const SymbolicBatchCase& c) {
  size_t elements = kBatch;
  for (const int64_t d : c.image) elements *= static_cast<size_t>(d);
  Bytes bytes(elements);
  for (size_t i = 0; i < elements; ++i) bytes[i] = static_cast<uint8_t>(i * i * 7 + i * 37 + 11);
  return bytes;
}

// Returns the number of images, as the graph has it from its input's shape.
inline std::string batch_of(OnnxBuilder& b) {
  return b.node("Gather", {b.node("Shape", {b.graph().input(0).name()}), ints(b, {0})});
}

inline std::string slice(OnnxBuilder& b, const std::string& x, int64_t start, int64_t end,
                         int64_t axis = 0, int64_t step = 1) {
  return b.node("Slice", {x, ints(b, {start}), ints(b, {end}), ints(b, {axis}), ints(b, {step})});
}

inline const SymbolicBatchCase kSymbolicBatchCases[] = {
    {"reduce_mean_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMean", {x}, {{"axes", Dims{0}}}));
     }, false, {1, 4}, {90, 104, 133, 176}},
    {"reduce_mean_all", {2, 2}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMean", {x}));
     }, false, {1, 1, 1}, {126}},
    {"reduce_max_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMax", {x}, {{"axes", Dims{0}}, {"keepdims", 0}}));
     }, false, {4}, {243, 143, 229, 241}},
    {"reduce_min_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceMin", {x}, {{"axes", Dims{0}}}));
     }, false, {1, 4}, {11, 55, 57, 101}},
    {"reduce_sum_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("ReduceSum", {x, ints(b, {0})}));
     }, false, {1, 4}, {69, 113, 199, 255}},
    {"centred", {4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string mean = mixing(b, b.node("ReduceMean", {x}, {{"axes", Dims{0}}}));
       return b.node("Sub", {x, b.qdq<uint8_t>(mean, kScale, kZero)});
     }, false, {3, 4}, {21, 51, 80, 109, 25, 111, 196, 25, 253, 139, 24, 165}},
    {"slice_first", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 1));
     }, false, {1, 4}, {11, 55, 113, 185}},
    {"slice_two", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 2));
     }, false, {2, 4}, {11, 55, 113, 185, 15, 115, 229, 101}},
    {"slice_two_hundred", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, 0, 200));
     }, false, {3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"slice_last", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, -1, INT64_MAX));
     }, false, {1, 4}, {243, 143, 57, 241}},
    {"reversed", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, slice(b, x, -1, INT64_MIN, 0, -1));
     }, false, {3, 4}, {243, 143, 57, 241, 15, 115, 229, 101, 11, 55, 113, 185}},
    {"gather_first", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Gather", {x, ints(b, {0})}));
     }, false, {1, 4}, {11, 55, 113, 185}},
    {"unsqueeze_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Unsqueeze", {x, ints(b, {0})}));
     }, false, {1, 3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"flatten_0", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Flatten", {x}, {{"axis", 0}}));
     }, false, {1, 12}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"reshape_1", {4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Reshape", {x, ints(b, {1, -1})}));
     }, false, {1, 12}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"transpose_102", {1, 4}, [](OnnxBuilder& b, const std::string& x) {
       return mixing(b, b.node("Transpose", {x}, {{"perm", Dims{1, 0, 2}}}));
     }, false, {1, 3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    // The number of images is a factor: a constant that differs for every batch.
    {"times_batch", {4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string n = b.node("Cast", {batch_of(b)}, {{"to", 1}});
       return mixing(b, b.node("Mul", {x, b.qdq<uint8_t>(n, 1.0f, 0)}));
     }, false, {3, 4}, {0, 0, 139, 255, 0, 145, 255, 103, 255, 229, 0, 255}},
    // In the cases from here on the images are apart.
    {"mean_of_rows", {4, 9}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{2}}, {"keepdims", 0}});
     }, true, {3, 4}, {119, 129, 135, 166, 137, 160, 123, 111, 123, 131, 165, 137}},
    {"sum_of_rows", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceSum", {x, ints(b, {-1})});
     }, true, {3, 2, 1}, {0, 115, 255, 241, 231, 87}},
    {"max_of_rows", {4, 5}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMax", {x}, {{"axes", Dims{2}}});
     }, true, {3, 4, 1}, {185, 243, 241, 169, 223, 225, 253, 211, 239, 251, 161, 227}},
    {"mean_of_columns", {4, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{1}}});
     }, true, {3, 1, 3}, {142, 57, 178, 110, 129, 162, 174, 169, 114}},
    {"mean_of_image", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("ReduceMean", {x}, {{"axes", Dims{1, 2}}, {"keepdims", 0}});
     }, true, {3}, {82, 169, 120}},
    {"centred_rows", {3, 4}, [](OnnxBuilder& b, const std::string& x) {
       const std::string mean = b.node("ReduceMean", {x}, {{"axes", Dims{2}}});
       return b.node("Sub", {x, b.qdq<uint8_t>(mean, kScale, kZero)});
     }, true, {3, 3, 4}, {20, 64, 122, 194, 0, 100, 214, 86, 172, 72, 0, 170, 152, 108, 78, 62, 68, 80, 106, 146, 176, 0, 70, 166, 28, 152, 34, 186, 72, 0, 190, 142, 116, 96, 90, 98}},
    {"slice_columns", {4}, [](OnnxBuilder& b, const std::string& x) {
       return slice(b, x, 1, 3, 1);
     }, true, {3, 2}, {55, 113, 115, 229, 143, 57}},
    {"slice_all", {4}, [](OnnxBuilder& b, const std::string& x) {
       return slice(b, x, 0, INT64_MAX);
     }, true, {3, 4}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241}},
    {"flatten_1", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Flatten", {x}, {{"axis", 1}});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
    {"reshape_0", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Reshape", {x, ints(b, {0, -1})});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
    {"transpose_021", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Transpose", {x}, {{"perm", Dims{0, 2, 1}}});
     }, true, {3, 3, 2}, {11, 185, 55, 15, 113, 115, 229, 143, 101, 57, 243, 241, 183, 93, 139, 91, 109, 103}},
    {"reshape_by_shape", {2, 3}, [](OnnxBuilder& b, const std::string& x) {
       return b.node("Reshape", {x, b.node("Concat", {batch_of(b), ints(b, {-1})}, {{"axis", 0}})});
     }, true, {3, 6}, {11, 55, 113, 185, 15, 115, 229, 101, 243, 143, 57, 241, 183, 139, 109, 93, 91, 103}},
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_CONVERTER_SYMBOLIC_BATCH_CASES_H_
