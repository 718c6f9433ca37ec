// SPDX-License-Identifier: Apache-2.0
// Reads bench/shapes/*.txt.
#include "bench/kernels/layers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qrt::bench {
namespace {

[[noreturn]] void die(const std::string& where, const std::string& what) {
  fprintf(stderr, "%s: %s\n", where.c_str(), what.c_str());
  exit(EXIT_FAILURE);
}

std::string by(size_t a, size_t b) { return std::to_string(a) + "x" + std::to_string(b); }

// "product m k n count"
void finish_product(const std::vector<size_t>& v, Layer* layer) {
  layer->kind = Layer::Kind::kProduct;
  layer->m = v[0], layer->k = v[1], layer->n = v[2];
  layer->name += "product_" + by(layer->m, layer->k) + "x" + std::to_string(layer->n);
}

// Reads "conv in_h in_w in_c out_c kernel stride pad count".
void finish_conv(const std::vector<size_t>& v, Layer* layer) {
  if (v[4] == 1 && v[5] == 1 && v[6] == 0) return finish_product({v[0] * v[1], v[2], v[3]}, layer);
  layer->kind = Layer::Kind::kConv;
  layer->in_h = v[0], layer->in_w = v[1], layer->in_c = v[2], layer->out_c = v[3];
  layer->kernel = v[4], layer->stride = v[5], layer->pad = v[6];
  layer->name += "conv_" + by(v[0], v[1]) + "x" + by(v[2], v[3]) + "_" + by(v[4], v[4]) + "s" +
                 std::to_string(v[5]);
}

// Reads "depthwise in_h in_w c kernel stride pad count".
void finish_depthwise(const std::vector<size_t>& v, Layer* layer) {
  layer->kind = Layer::Kind::kDepthwise;
  layer->in_h = v[0], layer->in_w = v[1], layer->in_c = layer->out_c = v[2];
  layer->kernel = v[3], layer->stride = v[4], layer->pad = v[5];
  layer->name += "depthwise_" + by(v[0], v[1]) + "x" + std::to_string(v[2]) + "_" + by(v[3], v[3]) +
                 "s" + std::to_string(v[4]);
}

// Reads "grouped in_h in_w c group kernel stride pad count".
void finish_grouped(const std::vector<size_t>& v, Layer* layer) {
  layer->kind = Layer::Kind::kGrouped;
  layer->in_h = v[0], layer->in_w = v[1], layer->in_c = layer->out_c = v[2];
  layer->group = v[3], layer->kernel = v[4], layer->stride = v[5], layer->pad = v[6];
  layer->name += "grouped_" + by(v[0], v[1]) + "x" + by(v[2], v[3]) + "_" + by(v[4], v[4]) + "s" +
                 std::to_string(v[5]);
}

struct Form {
  const char* word;
  size_t numbers;
  void (*finish)(const std::vector<size_t>& values, Layer* layer);
};
constexpr Form kForms[] = {{"conv", 8, finish_conv},
                           {"depthwise", 7, finish_depthwise},
                           {"grouped", 8, finish_grouped},
                           {"product", 4, finish_product}};

// Parses a line of a layer. False for blank lines and comments.
bool parse(const std::string& line, const std::string& where, const std::string& file,
           Layer* layer) {
  std::istringstream text(line.substr(0, line.find('#')));
  std::string word;
  if (!(text >> word)) return false;
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const Form& f) { return word == f.word; });
  if (form == std::end(kForms)) die(where, "unknown layer '" + word + "'");
  std::vector<size_t> values;
  for (size_t v; text >> v;) values.push_back(v);
  if (!text.eof() || values.size() != form->numbers)
    die(where, word + " takes " + std::to_string(form->numbers) + " numbers");
  *layer = Layer{};
  layer->name = file + "/";
  form->finish(values, layer);
  layer->count = values.back();
  const bool fits = layer->kind == Layer::Kind::kProduct
                        ? layer->m * layer->k * layer->n != 0
                        : layer->in_c * layer->out_c * layer->kernel * layer->stride != 0 &&
                              layer->kernel <= layer->in_h + 2 * layer->pad &&
                              layer->kernel <= layer->in_w + 2 * layer->pad;
  if (!fits) die(where, "sizes that do not fit together");
  return true;
}

}  // namespace

double Layer::macs() const {
  if (kind == Kind::kProduct) return static_cast<double>(m * k * n);
  const size_t outputs = out_h() * out_w() * out_c * kernel * kernel;
  return static_cast<double>(kind == Kind::kConv      ? outputs * in_c
                             : kind == Kind::kGrouped ? outputs * group
                                                      : outputs);
}

Layer as_conv(Layer l) {
  if (l.kind != Layer::Kind::kProduct) return l;
  l.in_h = l.m, l.in_w = 1, l.in_c = l.k, l.out_c = l.n;
  l.kernel = l.stride = 1;
  return l;
}

std::vector<Layer> read_layers() {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(QRT_SHAPES_DIR, error))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  if (files.empty()) die(QRT_SHAPES_DIR, "no layer shapes");
  std::sort(files.begin(), files.end());
  std::vector<Layer> layers;
  for (const fs::path& path : files) {
    std::ifstream file(path);
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number) {
      Layer layer;
      const std::string where = path.string() + ":" + std::to_string(number);
      if (!parse(line, where, path.stem().string(), &layer)) continue;
      const auto known = std::find_if(layers.begin(), layers.end(),
                                      [&](const Layer& l) { return l.name == layer.name; });
      if (known == layers.end()) {
        layers.push_back(layer);
      } else {
        known->count += layer.count;
      }
    }
  }
  return layers;
}

}  // namespace qrt::bench
