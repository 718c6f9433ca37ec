// SPDX-License-Identifier: Apache-2.0
// Pending tensors, between DequantizeLinear and QuantizeLinear, in front of operators that bring
// their elements together or move them. Where equal codes stand for different values along an axis,
// or the order of codes is not that of values, no operator may compute on the codes.
#include <functional>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

using Producer = std::function<std::string(BitsModel& m, const Dims& dims)>;

// Parameters for each index of an axis.
std::string along_axis(BitsModel& m, const Dims& dims, int axis) {
  const int64_t n = dims[static_cast<size_t>(axis)];
  std::vector<float> scales;
  std::vector<uint8_t> zeros;
  for (int64_t i = 0; i < n; ++i) {
    scales.push_back(static_cast<float>(1 + i * 3 % 5) / 64);
    zeros.push_back(static_cast<uint8_t>(60 + i * 47 % 150));
  }
  return m.b.node(
      "DequantizeLinear",
      {m.pixels(dims), m.b.constant<float>({n}, scales), m.b.constant<uint8_t>({n}, zeros)},
      {{"axis", axis}});
}
// Returns a constant that varies along an axis, behind `op`.
std::string with_constant(BitsModel& m, const Dims& dims, int axis, const char* op = "Add") {
  Dims shape(dims.size(), 1);
  shape[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
  return m.b.node(op, {m.image(dims), m.floats(shape, 3)});
}
std::string falling(BitsModel& m, const Dims& dims) { return m.b.node("Neg", {m.image(dims)}); }
std::string silu(BitsModel& m, const Dims& dims) {
  const std::string x = m.image(dims);
  return m.b.node("Mul", {x, m.b.node("Sigmoid", {x})});
}
std::string pair(BitsModel& m, const Dims& dims) {
  return m.b.node("Sub", {m.image(dims), m.image(dims, 1.0f / 50, 40)});
}
std::string pair_of_functions(BitsModel& m, const Dims& dims) {
  return m.b.node("Add", {silu(m, dims), silu(m, dims)});
}
std::string whole_constant(BitsModel& m, const Dims& dims) {
  return m.b.node("Add", {m.image(dims), m.floats(dims, 3)});
}

// Returns all producers of pending tensors of so many dimensions, except operators with integers of their own.
std::vector<Producer> functions(int rank) {
  std::vector<Producer> all = {falling, silu, pair, pair_of_functions, whole_constant};
  for (int axis = 0; axis < rank; ++axis) {
    all.push_back([axis](BitsModel& m, const Dims& d) { return along_axis(m, d, axis); });
    all.push_back([axis](BitsModel& m, const Dims& d) { return with_constant(m, d, axis); });
    all.push_back([axis](BitsModel& m, const Dims& d) { return with_constant(m, d, axis, "Mul"); });
  }
  return all;
}

using Reader = std::function<std::string(BitsModel& m, const std::string& x)>;
void read_each(BitsModel& m, const Dims& dims, const Reader& reader, float scale = 1.0f / 16) {
  for (const Producer& producer : functions(static_cast<int>(dims.size())))
    m.stored(reader(m, producer(m, dims)), scale);
}

void maxima_of_images(BitsModel& m) {
  const std::vector<Attr> window = {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{0, 1, 1, 0}}};
  read_each(m, {2, 2, 3, 4},
            [&](BitsModel& m, const std::string& x) { return m.b.node("MaxPool", {x}, window); });
}
void maxima_of_whole_images(BitsModel& m) {
  read_each(m, {2, 2, 3, 4},
            [](BitsModel& m, const std::string& x) { return m.b.node("GlobalMaxPool", {x}); });
}
void maxima_of_lines(BitsModel& m) {
  read_each(m, {2, 3, 5}, [](BitsModel& m, const std::string& x) {
    return m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{2}}});
  });
}
void maxima_of_volumes(BitsModel& m) {
  read_each(m, {1, 2, 2, 3, 4}, [](BitsModel& m, const std::string& x) {
    return m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2, 2}}});
  });
}
void extremes_over_axes(BitsModel& m) {
  for (const char* op : {"ReduceMax", "ReduceMin"})
    read_each(m, {2, 3, 4}, [&](BitsModel& m, const std::string& x) {
      return m.b.node(op, {x}, {{"axes", Dims{0, 2}}, {"keepdims", 0}});
    });
}
void limits_behind_maxima(BitsModel& m) {
  read_each(m, {2, 2, 3, 4}, [](BitsModel& m, const std::string& x) {
    const std::string y = m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}});
    return m.b.node("Clip", {y, m.b.scalar(-0.7f), m.b.scalar(1.3f)});
  });
}

void reshapes_through_axes(BitsModel& m) {
  for (const Dims& to : {Dims{6, 4}, Dims{24}, Dims{2, 12}, Dims{4, 6}, Dims{2, 2, 6}})
    read_each(m, {2, 3, 4}, [&](BitsModel& m, const std::string& x) {
      return m.b.node("Reshape", {x, m.ints(to)});
    });
}
void reshapes_and_back(BitsModel& m) {
  read_each(m, {2, 3, 4}, [](BitsModel& m, const std::string& x) {
    const std::string y = m.b.node("Reshape", {x, m.ints({4, 6})});
    return m.b.node("Relu", {m.b.node("Transpose", {y})});
  });
}
std::vector<Reader> movers() {
  return {[](BitsModel& m, const std::string& x) {
            return m.b.node("Transpose", {x}, {{"perm", Dims{3, 2, 1, 0}}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Tile", {x, m.ints({1, 2, 1, 2})});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Gather", {x, m.ints({2, 0, 1})}, {{"axis", 3}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("GatherND", {x, m.b.constant<int64_t>({2, 3}, {0, 1, 0, 0, 3, 1})});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("GatherElements",
                            {x, m.b.constant<int64_t>({1, 2, 1, 2}, {1, 0, 0, 1})}, {{"axis", 2}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Slice",
                            {x, m.ints({3, 0}), m.ints({-9, 2}), m.ints({3, 1}), m.ints({-2, 1})});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("DepthToSpace", {x}, {{"blocksize", 2}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("SpaceToDepth", {x}, {{"blocksize", 2}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Pad", {x, m.ints({0, 0, 1, 1, 0, 0, 0, 2}), m.b.scalar(0.3f)});
          },
          [](BitsModel& m, const std::string& x) {
            const std::string y =
                m.b.node("Pad", {x, m.ints({0, 1, 0, 0, 0, 0, 0, 0}), m.b.scalar(-4.0f)});
            return m.b.node("Relu", {y});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Pad", {x, m.ints({0, 0, 1, 1, 0, 0, 0, 2})}, {{"mode", "reflect"}});
          },
          [](BitsModel& m, const std::string& x) {
            return m.b.node("Resize", {x, "", "", m.ints({1, 4, 5, 7})}, {{"mode", "nearest"}});
          },
          [](BitsModel& m, const std::string& x) {
            const std::string y = m.b.node("Split", {x, m.ints({1, 3})}, {{"axis", 1}});
            m.b.graph().mutable_node(m.b.graph().node_size() - 1)->add_output(y + "rest");
            m.stored(y + "rest");
            return y;
          }};
}
void moves(BitsModel& m) {
  for (const Reader& reader : movers()) read_each(m, {1, 4, 2, 4}, reader);
}

// Joins functions and tensors with one scale by Concat, Where and Max, of which ONNX Runtime makes
// integer operators.
void joined_functions(BitsModel& m) {
  const Dims dims = {1, 4, 2, 4};
  std::vector<Producer> producers = {falling, silu, pair, pair_of_functions, whole_constant};
  for (int axis = 1; axis < 4; ++axis)
    producers.push_back([axis](BitsModel& m, const Dims& d) { return with_constant(m, d, axis); });
  for (const Producer& producer : producers) {
    m.stored(m.b.node("Concat", {producer(m, dims), m.image({1, 2, 2, 4})}, {{"axis", 1}}));
    const std::string condition = m.b.node("Greater", {m.image({4, 1, 1}), m.b.scalar(0.0f)});
    m.stored(m.b.node("Where", {condition, producer(m, dims), m.b.scalar(0.75f)}));
    m.stored(m.b.node("Max", {producer(m, dims), m.image(dims), m.b.scalar(-0.5f)}));
  }
}

// Adds two functions of one tensor whose codes change their meaning along different axes of equal length.
void constants_along_different_axes(BitsModel& m) {
  const std::string x = m.image({1, 2, 3, 3});
  const std::string down = m.b.node("Add", {x, m.floats({3, 1}, 2)});
  m.stored(m.b.node("Mul", {down, m.b.node("Sigmoid", {down})}));
  m.stored(m.b.node("Mul", {x, m.b.node("Sigmoid", {down})}));
  m.b.allow_float = true;
  m.stored(m.b.node("Mul", {down, m.b.node("Add", {x, m.floats({1, 3}, 2)})}));
}

void position_rows(BitsModel& m) {
  const std::string x = m.b.node("Add", {m.image({1, 5, 8}), m.floats({1, 5, 8}, 1)});
  m.stored(m.b.node("MaxPool", {x}, {{"kernel_shape", Dims{3}}}));
  m.stored(m.b.node("Transpose", {x}, {{"perm", Dims{0, 2, 1}}}));
}

// Lets a limit and another reader share the floats behind a Cast.
void limit_behind_cast(BitsModel& m) {
  const std::string y = m.b.node("Sub", {m.image({2, 5}), m.image({2, 5}, 1.0f / 50, 40)});
  m.stored(m.b.node("Relu", {m.b.node("Cast", {y}, {{"to", 1}})}));
  m.stored(y);
}

// --- floats (--allow-float)

std::string product(BitsModel& m, const Dims& dims) {
  const Dims from = {dims[0], dims[1], dims[2], 5};
  return m.b.node("MatMul", {m.image(from), m.weights({5, dims[3]}, 1.0f / 512)});
}
std::string convolution(BitsModel& m, const Dims& dims) {
  return m.b.node("Conv", {m.image(dims), m.weights({dims[1], dims[1], 1, 1}, 1.0f / 256)});
}
std::string real(BitsModel& m, const Dims& dims) { return m.real(dims); }

// Readers whose integer form takes none of these: every one is made as floats.
void read_each_in_float(BitsModel& m, const Dims& dims, const Reader& reader) {
  m.b.allow_float = true;
  m.b.model.mutable_opset_import(0)->set_version(17);
  std::vector<Producer> producers = functions(static_cast<int>(dims.size()));
  if (dims.size() == 4) producers.insert(producers.end(), {product, convolution, real});
  for (const Producer& producer : producers) m.b.output(reader(m, producer(m, dims)));
}

void softmax_of_what_waits(BitsModel& m) {
  read_each_in_float(m, {2, 2, 3, 4}, [](BitsModel& m, const std::string& x) {
    return m.b.node("Softmax", {x}, {{"axis", 2}});
  });
}
void normalization_of_what_waits(BitsModel& m) {
  read_each_in_float(m, {2, 2, 3, 4}, [](BitsModel& m, const std::string& x) {
    return m.b.node("LayerNormalization", {x, m.floats({4}), m.floats({4})});
  });
}
void products_of_what_waits(BitsModel& m) {
  read_each_in_float(m, {1, 2, 3, 4}, [](BitsModel& m, const std::string& x) {
    const std::string y = m.b.node("Conv", {x, m.floats({3, 2, 2, 2})});
    return m.b.node("MatMul", {y, m.weights({3, 2})});
  });
}
void pools_of_what_waits(BitsModel& m) {
  const std::vector<Attr> window = {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{0, 1, 1, 0}}};
  for (const char* op : {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"})
    read_each_in_float(m, {2, 2, 3, 4}, [&](BitsModel& m, const std::string& x) {
      return op[0] == 'G' ? m.b.node(op, {x}) : m.b.node(op, {x}, window);
    });
}
void reductions_of_what_waits(BitsModel& m) {
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceMean"})
    read_each_in_float(m, {2, 2, 3, 4}, [&](BitsModel& m, const std::string& x) {
      return m.b.node(op, {x}, {{"axes", Dims{1, 3}}});
    });
}
template <size_t i>
void move_in_float(BitsModel& m) {
  read_each_in_float(m, {1, 4, 2, 4}, movers()[i]);
}
void where_in_float(BitsModel& m) {
  read_each_in_float(m, {1, 4, 2, 4}, [](BitsModel& m, const std::string& x) {
    const std::string condition = m.b.node("Greater", {m.image({4, 1, 1}), m.b.scalar(0.0f)});
    return m.b.node("Where", {condition, x, m.b.scalar(0.75f)});
  });
}
void concat_beside_floats(BitsModel& m) {
  read_each_in_float(m, {1, 4, 2, 4}, [](BitsModel& m, const std::string& x) {
    return m.b.node("Concat", {x, m.real({1, 4, 1, 4})}, {{"axis", 2}});
  });
}
void elementwise_of_what_waits(BitsModel& m) {
  for (const char* op : {"Add", "Mul", "Max"})
    read_each_in_float(m, {1, 4, 2, 4}, [&](BitsModel& m, const std::string& x) {
      return m.b.node(op, {x, m.real({4, 1, 4})});
    });
}
void dynamic_quantization_of_what_waits(BitsModel& m) {
  read_each_in_float(m, {1, 4, 2, 4}, [](BitsModel& m, const std::string& x) {
    const std::string q = m.b.node("DynamicQuantizeLinear", {x});
    m.b.graph().mutable_node(m.b.graph().node_size() - 1)->add_output(q + "scale");
    m.b.graph().mutable_node(m.b.graph().node_size() - 1)->add_output(q + "zero");
    return m.b.node("DequantizeLinear", {q, q + "scale", q + "zero"});
  });
}
// Quantises functions with scales along an axis: no integer operator makes such codes.
void quantized_along_an_axis(BitsModel& m) {
  m.b.allow_float = true;
  for (const Producer& producer : functions(3)) {
    const std::string x = producer(m, {2, 3, 4});
    const std::string scale = m.b.constant<float>({3}, {0.02f, 0.05f, 0.03f});
    const std::string zero = m.b.constant<uint8_t>({3}, {100, 128, 90});
    const std::string q = m.b.node("QuantizeLinear", {x, scale, zero}, {{"axis", 1}});
    m.b.output(m.b.node("DequantizeLinear", {q, scale, zero}, {{"axis", 1}}));
  }
}

}  // namespace

std::vector<BitsCase> waiting_cases() {
  return {{"maxima_of_images", maxima_of_images},
          {"maxima_of_whole_images", maxima_of_whole_images},
          {"maxima_of_lines", maxima_of_lines},
          {"maxima_of_volumes", maxima_of_volumes},
          {"extremes_over_axes", extremes_over_axes},
          {"limits_behind_maxima", limits_behind_maxima},
          {"reshapes_through_axes", reshapes_through_axes},
          {"reshapes_and_back", reshapes_and_back},
          {"moves_of_what_waits", moves},
          {"constants_along_different_axes", constants_along_different_axes},
          {"joined_functions", joined_functions},
          {"position_rows", position_rows},
          {"limit_behind_cast", limit_behind_cast},
          {"softmax_of_what_waits", softmax_of_what_waits, 1e-6f},
          {"normalization_of_what_waits", normalization_of_what_waits, 1e-5f},
          {"products_of_what_waits", products_of_what_waits, 1e-5f},
          {"pools_of_what_waits", pools_of_what_waits, 1e-6f},
          {"reductions_of_what_waits", reductions_of_what_waits, 1e-6f},
          {"transpose_in_float", move_in_float<0>, 1e-6f},
          {"tile_in_float", move_in_float<1>, 1e-6f},
          {"gather_in_float", move_in_float<2>, 1e-6f},
          {"gather_nd_in_float", move_in_float<3>, 1e-6f},
          {"gather_elements_in_float", move_in_float<4>, 1e-6f},
          {"slice_in_float", move_in_float<5>, 1e-6f},
          {"depth_to_space_in_float", move_in_float<6>, 1e-6f},
          {"space_to_depth_in_float", move_in_float<7>, 1e-6f},
          {"pad_in_float", move_in_float<8>, 1e-6f},
          {"pad_and_relu_in_float", move_in_float<9>, 1e-6f},
          {"reflected_pad_in_float", move_in_float<10>, 1e-6f},
          {"resize_in_float", move_in_float<11>, 1e-6f},
          {"split_in_float", move_in_float<12>, 1e-6f},
          {"where_in_float", where_in_float, 1e-6f},
          {"concat_beside_floats", concat_beside_floats, 1e-6f},
          {"elementwise_of_what_waits", elementwise_of_what_waits, 1e-6f},
          {"dynamic_quantization_of_what_waits", dynamic_quantization_of_what_waits, 1e-6f},
          {"quantized_along_an_axis", quantized_along_an_axis}};
}

}  // namespace qrt::testing
