// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxruntime/open/sized_maker.h"

#include <algorithm>
#include <numeric>

namespace qrt::open_onnx {

Size fixed(int64_t n) {
  Size size;
  size.fill(n);
  return size;
}

bool is_fixed(const Size& size) {
  return std::all_of(size.begin(), size.end(), [&](int64_t n) { return n == size[0]; });
}

SizedMaker::SizedMaker(uint64_t seed, bool pair_safe)
    : dice_(seed),
      opset_(dice_.pick<int64_t>({13, 14, 15, 16, 17, 17, 18, 19, 20, 21})),
      b_(opset_),
      pair_safe_(pair_safe),
      zero_symbol_(static_cast<size_t>(dice_.integer(0, 2))) {
  const int64_t how = dice_.integer(0, 9);
  flavour_ = how < 6 ? Flavour::kQdq : how < 7 ? Flavour::kOperators : Flavour::kDynamic;
  main_type_ = dice_.coin() ? 2 : 3;
}

const OnnxBuilder& SizedMaker::make() {
  const int64_t how = dice_.integer(0, 9);
  if (how < 3)
    add_sequence();
  else if (how < 5)
    add_tokens();
  else if (how < 8)
    add_image();
  else
    add_signal();
  // Repeats, as an input may be too large.
  while (live_.empty()) add_sequence();
  if (dice_.one_in(4)) add_sequence();
  int total = 0;
  for (const Choice& c : choices()) total += c.weight;
  const int64_t wanted = dice_.integer(1, 5);
  for (int64_t made = 0, tries = 0; made < wanted && tries < 60; ++tries) {
    int64_t at = dice_.integer(0, total - 1);
    const auto choice = std::find_if(choices().begin(), choices().end(),
                                     [&](const Choice& c) { return (at -= c.weight) < 0; });
    if (!(this->*choice->layer)()) continue;
    layers_.push_back(choice->name);
    ++made;
  }
  finish_outputs();
  return b_;
}

// Nodes that nothing reads stay in the graph, as exporters leave them.
void SizedMaker::finish_outputs() {
  bool has_any = b_.graph().output_size() > 0;
  for (Live& x : live_) {
    if (x.is_read) continue;
    b_.output(x.stored.empty() || dice_.coin() ? x.real : x.stored);
    has_any = true;
  }
  if (!has_any) b_.output(live_.back().real);
}

// --- inputs

Size SizedMaker::random_size(Kind kind, bool is_zero) {
  const bool is_batch = kind == Kind::kBatch, is_length = kind == Kind::kLength;
  const auto of_class = [&](int64_t c) -> int64_t {
    switch (c) {
      case 0: return 1;
      case 1: return dice_.integer(1, is_batch ? 2 : 8) * 2 + 1;
      case 2: return is_batch ? dice_.integer(2, 4) : dice_.integer(10, is_length ? 48 : 30);
      default:
        if (is_batch) return dice_.integer(5, 8);
        if (is_length && dice_.one_in(6)) return dice_.integer(300, 700);
        if (dice_.one_in(4)) return dice_.pick<int64_t>({31, 33, 63, 64, 65, 127});
        return is_length ? dice_.integer(64, 260) : dice_.integer(40, 90);
    }
  };
  Size size;
  for (size_t run = 0; run + 1 < kRuns; ++run)
    size[run] = of_class(dice_.one_in(5) ? dice_.integer(0, 3) : static_cast<int64_t>(run));
  size[kRuns - 1] = is_zero ? 0 : of_class(dice_.integer(1, 2));
  return size;
}

size_t SizedMaker::new_symbol(Kind kind) {
  static const std::vector<std::string> batches = {"batch", "N", "batch_size"},
                                        lengths = {"seq", "past", "frames", "sequence_length"},
                                        extents = {"height", "width", "h", "w"};
  const auto& names = kind == Kind::kBatch ? batches : kind == Kind::kLength ? lengths : extents;
  std::string name = dice_.pick(names);
  const auto is_taken = [&](const std::string& n) {
    return std::any_of(symbols_.begin(), symbols_.end(),
                       [&](const Symbol& s) { return s.name == n; });
  };
  for (int i = 2; is_taken(name); ++i) name = dice_.pick(names) + std::to_string(i);
  if (dice_.one_in(8)) name.clear();
  symbols_.push_back({name, kind, random_size(kind, symbols_.size() == zero_symbol_)});
  return symbols_.size() - 1;
}

size_t SizedMaker::symbol(Kind kind) {
  if (!dice_.one_in(4))
    for (size_t s = symbols_.size(); s-- > 0;)
      if (symbols_[s].kind == kind && !symbols_[s].name.empty()) return s;
  return new_symbol(kind);
}

std::string SizedMaker::declare(int type, const Sizes& dims, const std::vector<int>& symbols,
                                double least, double most) {
  const std::string name = "in" + std::to_string(inputs_.size());
  auto* info = b_.graph().add_input();
  OnnxBuilder::declare(info, name, type, Dims(dims.size(), 1));
  auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t d = 0; d < dims.size(); ++d) {
    auto* dim = shape->mutable_dim(static_cast<int>(d));
    if (symbols[d] < 0) {
      dim->set_dim_value(dims[d][0]);
      continue;
    }
    dim->clear_dim_value();
    const std::string& symbol = symbols_[static_cast<size_t>(symbols[d])].name;
    if (!symbol.empty()) dim->set_dim_param(symbol);
  }
  inputs_.push_back({name, type, dims, least, most});
  return name;
}

// Adds an input [batch, length, channels] of reals or of integers.
void SizedMaker::add_sequence() {
  const bool has_batch = dice_.integer(0, 3) > 0;
  const int batch = has_batch ? static_cast<int>(symbol(Kind::kBatch)) : -1;
  const auto length = static_cast<int>(symbol(Kind::kLength));
  const Sizes dims = {has_batch ? symbols_[static_cast<size_t>(batch)].size : fixed(1),
                      symbols_[static_cast<size_t>(length)].size, fixed(4 * dice_.integer(1, 6))};
  const double amplitude = std::exp2(dice_.real(-2, 3));
  if (flavour_ != Flavour::kDynamic && dice_.one_in(4)) {
    const Quant q = random_quant(amplitude);
    const std::string x =
        declare(q.type, dims, {batch, length, -1}, q.type == 2 ? 0 : -128, q.type == 2 ? 255 : 127);
    add({dequantise(x, q), x, dims, q, amplitude});
    return;
  }
  finish(declare(1, dims, {batch, length, -1}, -amplitude, amplitude), dims, amplitude);
}

// Adds token ids and their embeddings, sometimes with a mask of the same sizes.
void SizedMaker::add_tokens() {
  const auto batch = static_cast<int>(symbol(Kind::kBatch)),
             length = static_cast<int>(symbol(Kind::kLength));
  const Sizes dims = {symbols_[static_cast<size_t>(batch)].size,
                      symbols_[static_cast<size_t>(length)].size};
  const int64_t words = dice_.integer(8, 40), channels = 4 * dice_.integer(1, 6);
  const std::string ids =
      declare(dice_.one_in(4) ? 7 : 6, dims, {batch, length}, 0, static_cast<double>(words - 1));
  const Weights table = weights({words, channels}, 0, false);
  const std::string x = flavour_ != Flavour::kDynamic && dice_.coin()
                            ? b_.node("Gather", {table.real, ids})
                            : b_.node("DequantizeLinear", {b_.node("Gather", {table.stored, ids}),
                                                           table.scale, table.zero_point});
  const Sizes out = {dims[0], dims[1], fixed(channels)};
  if (!finish(x, out, table.amplitude) || !dice_.one_in(3)) return;
  const std::string mask = declare(7, dims, {batch, length}, 0, 1);
  const std::string real = b_.node("Cast", {mask}, {Attr("to", 1)});
  const std::string column = b_.node("Unsqueeze", {real, int64s({2})});
  const size_t at = live_.size() - 1;
  finish(b_.node("Mul", {read(at), column}), out, table.amplitude);
}

void SizedMaker::add_image() {
  const bool has_batch = dice_.coin();
  const int batch = has_batch ? static_cast<int>(symbol(Kind::kBatch)) : -1;
  const auto height = static_cast<int>(symbol(Kind::kExtent));
  const auto width =
      static_cast<int>(dice_.one_in(4) ? static_cast<size_t>(height) : new_symbol(Kind::kExtent));
  const Sizes dims = {has_batch ? symbols_[static_cast<size_t>(batch)].size : fixed(1),
                      fixed(dice_.integer(1, 8)), symbols_[static_cast<size_t>(height)].size,
                      symbols_[static_cast<size_t>(width)].size};
  const double amplitude = std::exp2(dice_.real(-2, 3));
  finish(declare(1, dims, {batch, -1, height, width}, -amplitude, amplitude), dims, amplitude);
}

// [batch, channels, frames]
void SizedMaker::add_signal() {
  const auto batch = static_cast<int>(symbol(Kind::kBatch)),
             length = static_cast<int>(symbol(Kind::kLength));
  const Sizes dims = {symbols_[static_cast<size_t>(batch)].size, fixed(dice_.integer(1, 8)),
                      symbols_[static_cast<size_t>(length)].size};
  const double amplitude = std::exp2(dice_.real(-2, 3));
  finish(declare(1, dims, {batch, -1, length}, -amplitude, amplitude), dims, amplitude);
}

// --- tensors

int64_t SizedMaker::most_elements(const Sizes& dims) {
  int64_t most = 0;
  for (size_t run = 0; run < kRuns; ++run) {
    int64_t n = 1;
    for (const Size& d : dims) n *= std::max<int64_t>(d[run], 0);
    most = std::max(most, n);
  }
  return most;
}

size_t SizedMaker::pick(int least_rank, int most_rank, bool has_fixed_last) {
  std::vector<size_t> found;
  for (size_t i = 0; i < live_.size(); ++i) {
    const auto rank = static_cast<int>(live_[i].dims.size());
    if (rank < least_rank || rank > most_rank) continue;
    if (has_fixed_last && !is_fixed(live_[i].dims.back())) continue;
    found.insert(found.end(), live_[i].is_read ? 1 : 4, i);
  }
  return found.empty() ? SIZE_MAX : dice_.pick(found);
}

std::string SizedMaker::read(size_t i) {
  live_[i].is_read = true;
  return live_[i].real;
}

Quant SizedMaker::random_quant(double amplitude) {
  Quant q;
  q.type = main_type_;
  const int lo = q.type == 2 ? 0 : -128, middle = lo + 128;
  q.zero_point = dice_.coin() ? middle : static_cast<int>(dice_.integer(lo + 40, lo + 215));
  q.scale = static_cast<float>(amplitude / 128 * dice_.real(0.5, 1.4));
  return q;
}

std::string SizedMaker::zero_point(const Quant& q) {
  return q.type == 2 ? b_.scalar<uint8_t>(static_cast<uint8_t>(q.zero_point))
                     : b_.scalar<int8_t>(static_cast<int8_t>(q.zero_point));
}

std::string SizedMaker::quantise(const std::string& x, const Quant& q) {
  return b_.node("QuantizeLinear", {x, b_.scalar(q.scale), zero_point(q)});
}

std::string SizedMaker::dequantise(const std::string& x, const Quant& q) {
  return b_.node("DequantizeLinear", {x, b_.scalar(q.scale), zero_point(q)});
}

bool SizedMaker::add(Live result) {
  constexpr int64_t kMostElements = 400000;
  if (result.dims.size() > 6 || most_elements(result.dims) > kMostElements) return false;
  for (Size& d : result.dims)
    for (int64_t& n : d) n = std::max<int64_t>(n, 0);
  live_.push_back(std::move(result));
  return true;
}

bool SizedMaker::finish(const std::string& real, const Sizes& dims, double amplitude) {
  if (flavour_ == Flavour::kDynamic || dice_.one_in(12))
    return add({real, "", dims, {}, amplitude});
  const Quant q = random_quant(amplitude);
  const std::string stored = quantise(real, q);
  return add({dequantise(stored, q), stored, dims, q, amplitude});
}

bool SizedMaker::finish_moved(const std::string& real, const Sizes& dims, size_t x) {
  const Live from = live_[x];
  if (from.stored.empty() || dice_.one_in(4)) return add({real, "", dims, {}, from.amplitude});
  const std::string stored = quantise(real, from.quant);
  return add({dequantise(stored, from.quant), stored, dims, from.quant, from.amplitude});
}

// --- constants

std::string SizedMaker::int64s(const Dims& values) {
  return b_.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
}

std::string SizedMaker::floats(const Dims& dims, double amplitude) {
  const int64_t n = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = static_cast<float>(dice_.real(-amplitude, amplitude));
  return b_.constant(dims, values);
}

SizedMaker::Weights SizedMaker::weights(const Dims& dims, int axis, bool per_channel) {
  const int64_t n = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  // Two products of a byte and a weight of 64 add up to what 16 bits hold.
  const int64_t most = pair_safe_ ? 63 : 127;
  std::vector<int8_t> stored(static_cast<size_t>(n));
  for (int8_t& v : stored) v = static_cast<int8_t>(dice_.integer(-most, most));
  const int64_t scales = per_channel ? dims[static_cast<size_t>(axis)] : 1;
  const double base = std::exp2(dice_.real(-8, -5));
  std::vector<float> scale(static_cast<size_t>(scales));
  for (float& s : scale) s = static_cast<float>(base * dice_.real(0.6, 1.4));
  Weights w;
  const Dims shape = per_channel ? Dims{scales} : Dims{};
  w.stored = b_.constant(dims, stored);
  w.scale = b_.constant(shape, scale);
  w.zero_point = b_.constant(shape, std::vector<int8_t>(scale.size(), 0));
  w.amplitude = base * static_cast<double>(most);
  if (flavour_ != Flavour::kDynamic) {
    std::vector<Attr> attributes;
    if (per_channel) attributes.push_back(Attr("axis", axis));
    w.real = b_.node("DequantizeLinear", {w.stored, w.scale, w.zero_point}, attributes);
  } else {
    std::vector<float> real(stored.size());
    for (size_t i = 0; i < real.size(); ++i) real[i] = static_cast<float>(stored[i]) * scale[0];
    w.real = b_.constant(dims, real);
  }
  return w;
}

const std::vector<SizedMaker::Choice>& SizedMaker::choices() {
  static const std::vector<Choice> all = {
      {"linear", &SizedMaker::linear, 6},
      {"heads", &SizedMaker::heads, 3},
      {"attention", &SizedMaker::attention, 4},
      {"cache", &SizedMaker::cache, 3},
      {"recurrence", &SizedMaker::recurrence, 2},
      {"positions", &SizedMaker::positions, 4},
      {"merge", &SizedMaker::merge, 3},
      {"expand", &SizedMaker::expand, 3},
      {"class_token", &SizedMaker::class_token, 2},
      {"filled", &SizedMaker::filled, 2},
      {"masked", &SizedMaker::masked, 3},
      {"last", &SizedMaker::last, 2},
      {"relative", &SizedMaker::relative, 2},
      {"slice", &SizedMaker::slice, 6},
      {"split", &SizedMaker::split, 3},
      {"tile", &SizedMaker::tile, 2},
      {"pad", &SizedMaker::pad, 4},
      {"transpose", &SizedMaker::transpose, 2},
      {"concat", &SizedMaker::concat, 3},
      {"gather", &SizedMaker::gather, 3},
      {"reduce", &SizedMaker::reduce, 3},
      {"softmax", &SizedMaker::softmax, 1},
      {"arg_max", &SizedMaker::arg_max, 1},
      {"unary", &SizedMaker::unary, 2},
      {"add_two", &SizedMaker::add_two, 2},
      {"number_output", &SizedMaker::number_output, 2},
      {"conv", &SizedMaker::conv, 8},
      {"pool", &SizedMaker::pool, 5},
      {"conv_transpose", &SizedMaker::conv_transpose, 3},
      {"global_pool", &SizedMaker::global_pool, 2},
      {"resize", &SizedMaker::resize, 5},
      {"resized_table", &SizedMaker::resized_table, 2},
      {"flatten_image", &SizedMaker::flatten_image, 3},
      {"windows", &SizedMaker::windows, 3},
  };
  return all;
}

}  // namespace qrt::open_onnx
