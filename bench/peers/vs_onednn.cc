// SPDX-License-Identifier: Apache-2.0
// oneDNN beside qrt on the layers of bench/shapes: one thread, one process, samples in turns. Both
// read and write uint8 without zero points and hold int8 weights in a form of their own choice.
//
//   vs_onednn [TEXT]     layers whose name contains TEXT, "resnet50/"; "-" for all; the default
//                        leaves out growth/. Depthwise layers are left out, too.
//
// QRT_ISA and ONEDNN_MAX_CPU_ISA hold both to less than the CPU has.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/kernels/layers.h"
#include "bench/peers/in_turns.h"
#include "qrt/qrt.hpp"
#include "tests/support/model_builder.h"

namespace qrt::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream s(engine());
  return s;
}

struct Data {
  std::vector<uint8_t> x;       // [in_h][in_w][in_c]
  std::vector<int8_t> weights;  // [out_c][kernel][kernel][in_c]
  std::vector<float> scale;     // [out_c]
};

Data data_of(const Layer& l) {
  Data d;
  std::mt19937 random;
  for (size_t i = l.in_h * l.in_w * l.in_c; i > 0; --i)
    d.x.push_back(static_cast<uint8_t>(random() >> 24));
  const size_t k = l.kernel * l.kernel * l.in_c;
  for (size_t i = l.out_c * k; i > 0; --i)
    d.weights.push_back(static_cast<int8_t>(static_cast<int>(random() >> 24) - 128));
  // Sums of k products of random bytes spread over the outputs' range.
  d.scale.assign(l.out_c, static_cast<float>(0.006 / std::sqrt(static_cast<double>(k))));
  return d;
}

// ---- qrt: a model of one Conv2D, as the converter would make it

class Ours {
 public:
  Ours(const Layer& l, const Data& d)
      : file_(file_of(l, d)),
        model_(Model::load_memory(file_.data(), file_.size(), QRT_LOAD_COPY)),
        session_(model_) {
    session_.set_input_bytes(0, d.x.data(), d.x.size());
  }
  void run() { session_.run(); }
  std::string kernel() const {
    qrt_op_info info;
    qrt_struct_init(&info);
    qrt_session_op_info(session_.get(), 0, &info);
    return info.kernel;
  }
  Span<const uint8_t> output() const { return session_.output<uint8_t>(0); }

 private:
  static std::vector<uint8_t> file_of(const Layer& l, const Data& d) {
    const auto dim = [](size_t v) { return static_cast<int64_t>(v); };
    testing::ModelBuilder m;
    const uint32_t x = m.input({1, dim(l.in_h), dim(l.in_w), dim(l.in_c)});
    const uint32_t y = m.output({1, dim(l.out_h()), dim(l.out_w()), dim(l.out_c)});
    const size_t k = l.kernel * l.in_c;
    const bool rows = l.kernel > 1 && l.in_c < 4;
    const size_t taps = rows ? l.kernel : l.kernel * l.kernel;
    std::vector<int8_t> packed(gemm_packed_bytes(l.out_c, taps, rows ? k : l.in_c));
    gemm_pack(d.weights.data(), l.out_c, taps, rows ? k : l.in_c, packed.data());
    const uint32_t w = m.packed({dim(l.out_c), dim(l.kernel), dim(l.kernel), dim(l.in_c)},
                                fb::Packing::GEMM, packed);
    const uint32_t b = m.bias(std::vector<int32_t>(l.out_c));
    fb::Conv2DOptionsT o;
    o.stride_h = o.stride_w = static_cast<uint16_t>(l.stride);
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = static_cast<uint16_t>(l.pad);
    o.tap_layout = rows ? fb::TapLayout::ROW : fb::TapLayout::PIXEL;
    const size_t per_channel = d.weights.size() / l.out_c;
    for (auto at = d.weights.begin(); at != d.weights.end();
         at += static_cast<ptrdiff_t>(per_channel))
      o.weight_sum.push_back(std::accumulate(at, at + static_cast<ptrdiff_t>(per_channel), 0));
    o.requant = testing::requant_f32(d.scale);
    m.op(std::move(o), {x, w, b}, {y});
    return m.build();
  }

  std::vector<uint8_t> file_;
  Model model_;
  Session session_;
};

// ---- oneDNN

// One primitive with its memory. The description of what it computes was made by one of the
// functions below.
class Theirs {
 public:
  template <class Description>
  Theirs(const Description& description, const memory& x, const memory& weights, const Data& d)
      : primitive_(description),
        name_(description.impl_info_str()),
        y_(description.dst_desc(), engine()) {
    arguments_ = {{DNNL_ARG_SRC, in_form(x, description.src_desc())},
                  {DNNL_ARG_WEIGHTS, in_form(weights, description.weights_desc())},
                  {DNNL_ARG_DST, y_}};
#if DNNL_VERSION_MAJOR >= 3
    const auto n = static_cast<memory::dim>(d.scale.size());
    memory scale({{n}, Type::f32, Tag::x}, engine());
    std::copy(d.scale.begin(), d.scale.end(), static_cast<float*>(scale.get_data_handle()));
    arguments_.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scale);
#else
    (void)d;  // its scales are attributes
#endif
  }
  void run() const {
    primitive_.execute(stream(), arguments_);
    stream().wait();
  }
  const std::string& name() const { return name_; }
  // Returns the output in the order of qrt's.
  memory output(const memory::desc& form) const { return in_form(y_, form); }

 private:
  static memory in_form(const memory& m, const memory::desc& form) {
    if (m.get_desc() == form) return m;
    memory other(form, engine());
    dnnl::reorder(m, other).execute(stream(), const_cast<memory&>(m), other);
    stream().wait();
    return other;
  }

  dnnl::primitive primitive_;
  std::string name_;
  memory y_;
  std::unordered_map<int, memory> arguments_;
};

dnnl::primitive_attr scales(const Data& d) {
  dnnl::primitive_attr attributes;
#if DNNL_VERSION_MAJOR >= 3
  (void)d;  // given when it runs
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, 1);
#else
  attributes.set_output_scales(2, d.scale);
#endif
  return attributes;
}

template <class Forward, class... Arguments>
typename Forward::primitive_desc describe(const dnnl::primitive_attr& attributes,
                                          const Arguments&... arguments) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind, arguments..., attributes};
#else
  return {typename Forward::desc(kind, arguments...), attributes, engine()};
#endif
}

memory memory_of(const memory::dims& dims, Type type, Tag tag, const void* data) {
  return memory({dims, type, tag}, engine(), const_cast<void*>(data));
}

Theirs convolution(const Layer& l, const Data& d) {
  const auto dim = [](size_t v) { return static_cast<memory::dim>(v); };
  const memory::dims x = {1, dim(l.in_c), dim(l.in_h), dim(l.in_w)},
                     w = {dim(l.out_c), dim(l.in_c), dim(l.kernel), dim(l.kernel)},
                     y = {1, dim(l.out_c), dim(l.out_h()), dim(l.out_w())},
                     strides = {dim(l.stride), dim(l.stride)}, pads = {dim(l.pad), dim(l.pad)};
  const auto end = [&](size_t in, size_t out) {
    return static_cast<memory::dim>((out - 1) * l.stride + l.kernel) - dim(in + l.pad);
  };
  const memory::dims ends = {end(l.in_h, l.out_h()), end(l.in_w, l.out_w())};
  const auto any = [](const memory::dims& dims, Type type) {
    return memory::desc(dims, type, Tag::any);
  };
  return {describe<dnnl::convolution_forward>(scales(d), dnnl::algorithm::convolution_direct,
                                              any(x, Type::u8), any(w, Type::s8), any(y, Type::u8),
                                              strides, pads, ends),
          memory_of(x, Type::u8, Tag::nhwc, d.x.data()),
          memory_of(w, Type::s8, Tag::ohwi, d.weights.data()), d};
}

// REQUIRES: 1x1.
Theirs inner_product(const Layer& l, const Data& d) {
  const auto dim = [](size_t v) { return static_cast<memory::dim>(v); };
  const memory::dims x = {dim(l.in_h * l.in_w), dim(l.in_c)}, w = {dim(l.out_c), dim(l.in_c)},
                     y = {dim(l.in_h * l.in_w), dim(l.out_c)};
  return {describe<dnnl::inner_product_forward>(scales(d), memory::desc(x, Type::u8, Tag::ab),
                                                memory::desc(w, Type::s8, Tag::any),
                                                memory::desc(y, Type::u8, Tag::ab)),
          memory_of(x, Type::u8, Tag::ab, d.x.data()),
          memory_of(w, Type::s8, Tag::ab, d.weights.data()), d};
}

// ---- both

size_t different(const Layer& l, const Ours& ours, const Theirs& theirs, bool is_product) {
  const auto dim = [](size_t v) { return static_cast<memory::dim>(v); };
  const memory::desc form =
      is_product
          ? memory::desc({dim(l.in_h * l.in_w), dim(l.out_c)}, Type::u8, Tag::ab)
          : memory::desc({1, dim(l.out_c), dim(l.out_h()), dim(l.out_w())}, Type::u8, Tag::nhwc);
  const memory y = theirs.output(form);
  const auto* bytes = static_cast<const uint8_t*>(y.get_data_handle());
  size_t count = 0;
  for (uint8_t v : ours.output()) count += v != *bytes++;
  return count;
}

struct Total {
  double ours = 0, theirs = 0;  // ns
};

void run_layer(const Layer& layer, Total* total) {
  const Layer l = as_conv(layer);
  const Data d = data_of(l);
  Ours ours(l, d);
  const Theirs conv = convolution(l, d);
  const auto run_ours = [&] { ours.run(); };
  Times t = in_turns(run_ours, [&] { conv.run(); });
  std::string name = conv.name();
  size_t differ = different(l, ours, conv, false);
  if (layer.kind == Layer::Kind::kProduct) {  // the better of its two ways
    const Theirs product = inner_product(l, d);
    const Times other = in_turns(run_ours, [&] { product.run(); });
    if (other.theirs < t.theirs) {
      t = other;
      name = product.name();
      differ = different(l, ours, product, true);
    }
  }
  printf("%-38s %-28s %9.2f %7.1f  %-26s %9.2f %7.1f %7.2f %8zu\n", layer.name.c_str(),
         ours.kernel().c_str(), t.ours * 1e-3, layer.macs() / t.ours, name.c_str(), t.theirs * 1e-3,
         layer.macs() / t.theirs, t.ratio, differ);
  fflush(stdout);
  total->ours += t.ours * static_cast<double>(layer.count);
  total->theirs += t.theirs * static_cast<double>(layer.count);
}

int compare(const std::string& text) {
  const dnnl_version_t* version = dnnl_version();
  printf("oneDNN %d.%d.%d\n%-38s %-28s %9s %7s  %-26s %9s %7s %7s %8s\n", version->major,
         version->minor, version->patch, "layer", "qrt's kernel", "qrt us", "GMAC/s", "oneDNN's",
         "us", "GMAC/s", "ratio", "differ");
  std::map<std::string, Total> totals;
  for (const Layer& layer : read_layers()) {
    const bool is_growth = layer.name.rfind("growth/", 0) == 0;
    const bool is_wanted =
        text.empty() ? !is_growth : text == "-" || layer.name.find(text) != std::string::npos;
    if (is_wanted && layer.is_gemm())
      run_layer(layer, &totals[layer.name.substr(0, layer.name.find('/'))]);
  }
  for (const auto& [file, total] : totals)
    printf("%s, every layer as often as there: qrt %.3f ms, oneDNN %.3f ms, ratio %.2f\n",
           file.c_str(), total.ours * 1e-6, total.theirs * 1e-6, total.theirs / total.ours);
  return 0;
}

}  // namespace
}  // namespace qrt::bench

int main(int argc, char** argv) {
  if (argc > 2) {
    fprintf(stderr, "usage: vs_onednn [TEXT]\n");
    return 2;
  }
  // OpenMP reads it before main().
  const char* const threads = getenv("OMP_NUM_THREADS");
  if (threads == nullptr || std::string(threads) != "1") {
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
    perror("vs_onednn: OMP_NUM_THREADS=1");
    return 5;
  }
  try {
    return qrt::bench::compare(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    fprintf(stderr, "vs_onednn: error: %s\n", e.what());
    return 5;
  }
}
