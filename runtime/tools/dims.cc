// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/dims.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace qrt::tool {
namespace {

constexpr int64_t kMostSize = INT32_MAX;

// Reads a number of 0 to 2^31 - 1 that ends at ',' or the text's end. Returns what is behind it, or null.
const char* read_size(const char* at, int64_t* size) {
  char* end;
  const unsigned long long n = strtoull(at, &end, 10);
  if (*at < '0' || *at > '9' || n > static_cast<unsigned long long>(kMostSize) ||
      (*end != '\0' && *end != ','))
    return nullptr;
  *size = static_cast<int64_t>(n);
  return end;
}

}  // namespace

bool read_dim_sizes(const std::string& text, std::string* name, std::vector<int64_t>* sizes) {
  const size_t equals = text.rfind('=');  // names may hold one, sizes do not
  if (equals == std::string::npos || equals == 0) return false;
  *name = text.substr(0, equals);
  for (const char* at = text.c_str() + equals + 1;; ++at) {
    int64_t size;
    at = read_size(at, &size);
    if (at == nullptr) return false;
    sizes->push_back(size);
    if (*at == '\0') return true;
  }
}

bool find_open_dim(const Model& model, const char* name, qrt_dim_info* info) {
  for (size_t i = 0; i < model.dim_count(); ++i)
    if (model.try_dim_info(i, info).ok() && strcmp(info->name, name) == 0) return true;
  return false;
}

Status set_sizes(const VerifiedModel& model, const Dims& dims, PlanOptions* options) {
  options->sizes = default_sizes(model.file());
  for (const Dims::Dim& dim : dims.list()) {
    bool is_found = false;
    for (uint32_t i = 0; i < symbol_count(model.file()); ++i)
      if (model.file().symbols()->Get(i)->name()->str() == dim.name) {
        options->sizes[i] = dim.size;
        is_found = true;
      }
    if (is_found) continue;
    if (dim.name != "batch")
      return error(Code::kInvalidArgument, "the model has no open dimension '%s'",
                   dim.name.c_str());
    options->batch = static_cast<size_t>(dim.size);
  }
  return {};
}

Status Dims::parse(const std::string& text) {
  for (size_t begin = 0; begin <= text.size();) {
    // A comma ends a pair only where a size stands before it.
    const size_t equals = text.find('=', begin);
    const size_t comma = equals == std::string::npos ? equals : text.find(',', equals);
    const std::string pair = text.substr(begin, comma == std::string::npos ? comma : comma - begin);
    std::string name;
    std::vector<int64_t> sizes;
    if (!read_dim_sizes(pair, &name, &sizes) || sizes.size() != 1)
      return error(Code::kInvalidArgument, "--dims %s: expected NAME=SIZE, or a list of them",
                   text.c_str());
    QRT_TRY(set(name, sizes[0], "--dims"));
    if (comma == std::string::npos) return {};
    begin = comma + 1;
  }
  return error(Code::kInvalidArgument, "--dims %s: expected NAME=SIZE, or a list of them",
               text.c_str());
}

Status Dims::set(const std::string& name, int64_t size, const std::string& source) {
  for (const Dim& dim : dims_) {
    if (dim.name != name) continue;
    if (dim.size == size) return {};
    return error(Code::kInvalidModel, "%s: '%s' is %lld, but %lld by %s", source.c_str(),
                 name.c_str(), static_cast<long long>(size), static_cast<long long>(dim.size),
                 dim.source.c_str());
  }
  dims_.push_back({name, size, source});
  return {};
}

bool Dims::has(const std::string& name, int64_t size) const {
  return std::any_of(dims_.begin(), dims_.end(),
                     [&](const Dim& dim) { return dim.name == name && dim.size == size; });
}

int64_t Dims::size_of(const std::string& name) const {
  for (const Dim& dim : dims_)
    if (dim.name == name) return dim.size;
  return 0;
}

std::string Dims::text() const {
  std::string text;
  for (const Dim& dim : dims_)
    text += (text.empty() ? "" : ", ") + dim.name + "=" + std::to_string(dim.size);
  return text;
}

void Dims::put_in(qrt_session_options* options) {
  listed_.clear();
  for (const Dim& dim : dims_) listed_.push_back({dim.name.c_str(), dim.size});
  options->dims = listed_.data();
  options->dim_count = listed_.size();
}

}  // namespace qrt::tool
