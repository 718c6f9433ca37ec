// SPDX-License-Identifier: Apache-2.0
// Overrides as a file: JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/quantize/overrides/overrides.h"
#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

using Json = nlohmann::ordered_json;

Status refuse(const std::string& path, const std::string& what) {
  return error(Code::kInvalidArgument, "%s: %s", path.c_str(), what.c_str());
}

bool is_number(const Json& j) { return j.is_number() && std::isfinite(j.get<float>()); }

bool read_whole(const Json& object, const char* key, int64_t least, int64_t most, int32_t* value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return false;
  const auto v = found->get<int64_t>();
  *value = static_cast<int32_t>(v);
  return v >= least && v <= most;
}

// Reads [low, high], or an object of both and of a coding. Returns false where it is neither.
bool read_range(const Json& j, GivenRange* given) {
  if (j.is_array()) {
    if (j.size() != 2 || !is_number(j[0]) || !is_number(j[1])) return false;
    given->range = {j[0].get<float>(), j[1].get<float>()};
  } else {
    if (!j.is_object() || !j.contains("low") || !j.contains("high") || !is_number(j["low"]) ||
        !is_number(j["high"]))
      return false;
    given->range = {j["low"].get<float>(), j["high"].get<float>()};
    Coding& c = given->coding;
    if (j.contains("scale")) {
      int32_t bits = 0;
      if (!is_number(j["scale"]) || !read_whole(j, "bits", 8, 16, &bits) ||
          (bits != 8 && bits != 16) || !j.contains("signed") || !j["signed"].is_boolean())
        return false;
      c.scale = j["scale"].get<float>();
      c.bits = bits;
      c.is_signed = j["signed"].get<bool>();
      c.is_narrow = j.value("narrow", Json(false)) == Json(true);
      if (!(c.scale > 0) || !read_whole(j, "zero_point", c.lowest(), c.highest(), &c.zero_point))
        return false;
      given->has_coding = true;
    }
  }
  return given->range.lo < given->range.hi;
}

Status read_bits(const std::string& path, const Json& bits, Overrides* overrides) {
  if (!bits.is_object()) return refuse(path, "\"bits\" is no object of patterns");
  for (const auto& [pattern, value] : bits.items()) {
    if (value != Json(8) && value != Json(16))
      return refuse(path, "\"bits\" of '" + pattern + "': expected 8 or 16");
    overrides->bits.emplace_back(pattern, value.get<int>());
  }
  return {};
}

Status read_ranges(const std::string& path, const Json& ranges, Overrides* overrides) {
  if (!ranges.is_object()) return refuse(path, "\"ranges\" is no object of tensors");
  for (const auto& [name, value] : ranges.items()) {
    GivenRange given;
    if (!read_range(value, &given))
      return refuse(path, "the range of '" + name + "': expected [low, high], the lower one first");
    overrides->ranges[name] = given;
  }
  return {};
}

Status read_exclude(const std::string& path, const Json& exclude, Overrides* overrides) {
  if (!exclude.is_array()) return refuse(path, "\"exclude\" is no list of nodes and types");
  for (const Json& name : exclude) {
    if (!name.is_string()) return refuse(path, "\"exclude\" is no list of nodes and types");
    overrides->exclude.push_back(name.get<std::string>());
  }
  return {};
}

}  // namespace

Status read_overrides(const std::string& path, Overrides* overrides) {
  std::string text;
  QRT_TRY(tool::read_text(path, &text));
  const Json file = Json::parse(text, nullptr, false);
  if (!file.is_object()) return refuse(path, "is no JSON object");
  for (const auto& [key, value] : file.items()) {
    if (key == "exclude") {
      QRT_TRY(read_exclude(path, value, overrides));
    } else if (key == "bits") {
      QRT_TRY(read_bits(path, value, overrides));
    } else if (key == "ranges") {
      QRT_TRY(read_ranges(path, value, overrides));
    } else if (key == "equalised") {
      if (!value.is_boolean()) return refuse(path, "\"equalised\" is not true or false");
      overrides->is_equalised = value.get<bool>();
    } else {
      return refuse(path, "'" + key + "' is unknown: expected exclude, bits, ranges or equalised");
    }
  }
  return {};
}

std::string save_ranges(const std::map<std::string, Coding>& codings, bool is_equalised) {
  Json file = {{"equalised", is_equalised}, {"ranges", Json::object()}};
  for (const auto& [name, c] : codings) {
    Json& range = file["ranges"][name] = {{"low", c.low()},   {"high", c.high()},
                                          {"scale", c.scale}, {"zero_point", c.zero_point},
                                          {"bits", c.bits},   {"signed", c.is_signed}};
    if (c.is_narrow) range["narrow"] = true;
  }
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qrt::quantize
