// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/open_dimensions.h"

#include <algorithm>
#include <set>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr size_t kMostTerms = 8;

}  // namespace

std::string open_dimension_name(const onnx::ValueInfoProto& input, int axis) {
  const std::string& name = input.type().tensor_type().shape().dim(axis).dim_param();
  return name.empty() ? input.name() + "." + std::to_string(axis) : name;
}

std::vector<OpenDimension> find_open_dimensions(const onnx::GraphProto& graph) {
  std::set<std::string> constants;
  for (const onnx::TensorProto& t : graph.initializer()) constants.insert(t.name());
  std::vector<OpenDimension> found;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (constants.count(info.name()) != 0 || !info.type().tensor_type().has_shape()) continue;
    const auto& dims = info.type().tensor_type().shape();
    for (int i = 0; i < dims.dim_size(); ++i) {
      if (dims.dim(i).has_dim_value()) continue;
      const std::string name = open_dimension_name(info, i);
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const OpenDimension& d) { return d.name == name; });
      OpenDimension& open = known == found.end() ? found.emplace_back() : *known;
      open.name = name;
      open.is_first |= i == 0;
      open.is_other |= i > 0;
      open.is_length |= dims.dim_size() == 1;
    }
  }
  constexpr size_t kMostNames = 256;
  if (found.size() > kMostNames) return found;  // more than can stay open
  // All sums are found before the first is left out, since a sum's name may be a part of another's.
  std::vector<OpenDimension> apart;
  for (size_t i = 0; i < found.size(); ++i) {
    std::vector<OpenDimension> others = found;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (!sum_of(found[i].name, others)) apart.push_back(found[i]);
  }
  return apart;
}

std::optional<NamedSum> sum_of(const std::string& name, const std::vector<OpenDimension>& open) {
  const auto find = [&](const std::string& wanted) {
    return static_cast<size_t>(
        std::find_if(open.begin(), open.end(),
                     [&](const OpenDimension& d) { return d.name == wanted; }) -
        open.begin());
  };
  if (const size_t own = find(name); own < open.size()) return NamedSum{{own}, 0};
  // Exporters name the sum of past_sequence_length and sequence_length total_sequence_length.
  constexpr char kTotal[] = "total_";
  if (name.rfind(kTotal, 0) == 0) {
    const std::string rest = name.substr(sizeof kTotal - 1);
    const size_t past = find("past_" + rest), now = find(rest);
    if (past < open.size() && now < open.size()) return NamedSum{{past, now}, 0};
  }
  NamedSum sum;
  size_t count = 0;
  for (size_t at = 0, end; at <= name.size(); at = end + 1) {
    end = std::min(name.find('+', at), name.size());
    std::string term = name.substr(at, end - at);
    term.erase(0, term.find_first_not_of(' '));
    term.erase(term.find_last_not_of(' ') + 1);
    if (++count > kMostTerms || term.empty()) return std::nullopt;
    constexpr size_t kMostDigits = 9;
    if (term.size() <= kMostDigits && term.find_first_not_of("0123456789") == std::string::npos) {
      sum.constant += std::stoll(term);
      continue;
    }
    sum.terms.push_back(find(term));
    if (sum.terms.back() == open.size()) return std::nullopt;
  }
  if (sum.terms.empty()) return std::nullopt;
  return sum;
}

OpenSizes name_sizes(const onnx::GraphProto& graph, const std::vector<OpenDimension>& open,
                     const std::vector<int64_t>& sizes) {
  OpenSizes by_name;
  for (size_t i = 0; i < open.size(); ++i) by_name[open[i].name] = sizes[i];
  for (const onnx::ValueInfoProto& info : graph.input())
    for (int i = 0; i < info.type().tensor_type().shape().dim_size(); ++i) {
      if (info.type().tensor_type().shape().dim(i).has_dim_value()) continue;
      const std::string name = open_dimension_name(info, i);
      if (by_name.count(name) != 0) continue;
      const std::optional<NamedSum> sum = sum_of(name, open);
      if (!sum) continue;
      int64_t size = sum->constant;
      for (const size_t term : sum->terms) size += sizes[term];
      by_name[name] = size;
    }
  return by_name;
}

std::vector<std::vector<OpenDimension>> possible_ties(const std::vector<OpenDimension>& open) {
  std::vector<std::vector<OpenDimension>> ties = {open};
  std::vector<size_t> firsts, others;
  for (size_t i = 0; i < open.size(); ++i)
    (open[i].is_first && !open[i].is_length ? firsts : others).push_back(i);
  const auto add = [&](const std::vector<std::vector<size_t>>& groups) {
    ties.push_back(open);
    for (const std::vector<size_t>& group : groups)
      for (size_t i = 1; i < group.size(); ++i)
        ties.back()[group[i]].tied_to = static_cast<int>(group[0]);
  };
  constexpr size_t kMostPaired = 4;
  if (others.size() > 2 && others.size() <= kMostPaired)
    for (size_t a = 0; a < others.size(); ++a)
      for (size_t b = a + 1; b < others.size(); ++b) add({{others[a], others[b]}});
  if (firsts.size() > 1) add({firsts});
  if (others.size() > 1) add({others});
  if (firsts.size() > 1 && others.size() > 1) add({firsts, others});
  return ties;
}

namespace {

// Numbers between colons; none where there is anything else.
std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0, end; at <= text.size(); at = end + 1) {
    end = std::min(text.find(':', at), text.size());
    const std::string number = text.substr(at, end - at);
    if (number.empty() || number.size() > 10 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      return {};
    numbers.push_back(std::stoll(number));
  }
  return numbers;
}

}  // namespace

Status set_limits(const std::vector<std::string>& limits, std::vector<OpenDimension>* open) {
  for (const std::string& text : limits) {
    const auto names = [&](const std::string& name) {
      return std::find_if(open->begin(), open->end(),
                          [&](const OpenDimension& d) { return d.name == name; });
    };
    // Names may hold an equals sign themselves.
    const size_t equals = text.rfind('=');
    const bool is_name = names(text) != open->end();
    const auto found = names(is_name ? text : text.substr(0, equals));
    if (found == open->end()) {
      std::string known;
      for (const OpenDimension& d : *open) known += (known.empty() ? "'" : ", '") + d.name + "'";
      return error(Code::kInvalidArgument, "--open %s: the model's open dimensions are %s",
                   text.c_str(), known.empty() ? "none" : known.c_str());
    }
    found->is_wanted = true;
    if (is_name) continue;
    const std::vector<int64_t> n = numbers_of(text.substr(equals + 1));
    if (n.size() == 3 && n[0] == 0 && n[2] > 1)
      return error(
          Code::kInvalidArgument,
          "--open %s: only a step of 1 goes with a least size of 0: begin at 1 or more, or "
          "leave the step out",
          text.c_str());
    if (n.size() < 2 || n.size() > 3 || n[1] < std::max<int64_t>(n[0], 1) || n[1] > INT32_MAX ||
        (n.size() == 3 && n[2] < 1))
      return error(Code::kInvalidArgument,
                   "--open %s: expected NAME=LEAST:MOST or NAME=LEAST:MOST:STEP, as seq=1:512:8",
                   text.c_str());
    found->least = std::max<int64_t>(n[0], 1);
    found->wants_zero = n[0] == 0;
    found->step = n.size() == 3 ? n[2] : 1;
    found->most = n[1] - (n[1] - found->least) % found->step;
    found->has_limits = true;
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
