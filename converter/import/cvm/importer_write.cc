// SPDX-License-Identifier: Apache-2.0
// Writes the operator that a chain becomes: a product's requantisation, a table, a Formula.
#include <algorithm>

#include "converter/import/cvm/importer.h"

namespace qrt::convert::from_cvm {

void Importer::report_chain(const Chain& chain, const std::string& became) {
  for (size_t i = 0; i < chain.nodes.size(); ++i) became_[chain.nodes[i]] = became;
}

Stored Importer::write(EntryId entry, const Chain& chain, const Storage* wanted) {
  const Op op = op_of(entry);
  if (chain.product) return write_product(op, chain, wanted);
  if (chain.pair) return write_pair(op, chain, wanted);
  const Stored made = write_formula(op, chain.from, chain.links, chain.range(), wanted);
  report_chain(chain, std::string(made.value == chain.from.value ? "nothing to do"
                                  : chain.from.storage.dtype == DType::kUInt8 &&
                                          made.storage.dtype != DType::kInt32
                                      ? "Lut"
                                      : "Formula") +
                          ", " + describe(made.storage, made.range));
  return made;
}

Stored Importer::write_formula(const Op& op, const Stored& from, const std::vector<Link>& links,
                               Range range, const Storage* wanted) {
  const Storage storage = wanted ? *wanted : storage_for(range);
  if (links.empty() && storage == from.storage) return from;
  if (from.storage.dtype == DType::kUInt8 && storage.dtype != DType::kInt32) {
    std::vector<int32_t> results(256);
    for (int32_t i = 0; i < 256; ++i) {
      int32_t v = i - from.storage.zero_point;
      for (const Link& link : links) v = apply(link, v);
      // Results for bytes that do not occur do not matter.
      results[static_cast<size_t>(i)] =
          static_cast<int32_t>(std::clamp<int64_t>(v, range.lo, range.hi));
    }
    return {write_table(op, from, results, storage), storage, range};
  }
  const Shape& shape = graph_->values[from.value].type.shape;
  const Stored made{new_value(op.node.name, storage, shape), storage, range};
  auto& o = add_node<fb::FormulaOptionsT>(op, {from.value}, made.value);
  o.a_zero_point = from.storage.zero_point;
  o.a_steps = formula_steps(links);
  o.zero_point = storage.zero_point;
  return made;
}

Stored Importer::limited(const Op& op, const Stored& from, Link link) {
  bool wraps = false;
  const Range range = range_after(link, from.range, &wraps);
  return write_formula(op, from, {std::move(link)}, range, nullptr);
}

Stored Importer::table_of(const Op& op, const Stored& from, const std::vector<int32_t>& results,
                          Range range) {
  const Storage storage = storage_for(range);
  return {write_table(op, from, results, storage), storage, range};
}

ValueId Importer::write_table(const Op& op, const Stored& from, const std::vector<int32_t>& results,
                              Storage storage) {
  Value table;
  table.type = {storage.dtype, {256}};
  table.is_constant = true;
  table.data = stored_bytes(results, storage);
  const ValueId id = graph_->add_value(std::move(table));
  const ValueId made = new_value(op.node.name, storage, graph_->values[from.value].type.shape);
  add_node<fb::LutOptionsT>(op, {from.value, id}, made);
  return made;
}

Stored Importer::clamped_indices(const Op& op, EntryId entry, int64_t size) {
  const Storage wide{DType::kInt32, 0};
  const Stored from = stored(entry);
  if (from.storage == wide && from.range.within(0, size - 1)) return from;
  const auto last = static_cast<int32_t>(size - 1);
  bool wraps = false;
  const Link link = clamp_to(0, last);
  return write_formula(op, from, {link}, range_after(link, from.range, &wraps), &wide);
}

Stored Importer::write_pair(const Op& op, const Chain& chain, const Storage* wanted) {
  const Pair& p = *chain.pair;
  const Storage storage = wanted ? *wanted : storage_for(chain.range());
  const Stored made{new_value(op.node.name, storage, shape(op.output())), storage, chain.range()};
  auto& o = add_node<fb::FormulaOptionsT>(op, {p.a.value, p.b.value}, made.value);
  o.a_zero_point = p.a.storage.zero_point;
  o.a_steps = formula_steps(p.a_links);
  o.pair = p.function;
  o.b_zero_point = p.b.storage.zero_point;
  o.b_steps = formula_steps(p.b_links);
  o.steps = formula_steps(chain.links);
  o.zero_point = storage.zero_point;
  report_chain(chain, "Formula, " + describe(storage, chain.range()));
  return made;
}

// Writes the product with all of the chain in its requantisation if the result is a byte; else with
// the longest part that gives one, and a table; else its sums and a Formula.
Stored Importer::write_product(const Op& op, const Chain& chain, const Storage* wanted) {
  const Product& product = *chain.product;
  for (size_t count = chain.links.size() + 1; count-- > 0;) {
    const Range range = chain.ranges[count];
    const bool is_all = count == chain.links.size();
    const Storage storage = is_all && wanted ? *wanted : storage_for(range);
    if (storage.dtype != DType::kUInt8 || chain.wraps) continue;
    const std::vector<Link> rest(chain.links.begin() + static_cast<ptrdiff_t>(count),
                                 chain.links.end());
    const auto requant = requantization(chain.links, count, chain.ranges[0]);
    if (!requant || !is_scalar_chain(rest)) continue;
    const ValueId value = product.emit(requant->options(storage), storage);
    const Stored bytes{value, storage, range};
    std::string text = product.name + ", " + describe(storage, range);
    if (is_all) {
      graph_->values[value].name = op.node.name;
      report_chain(chain, text);
      return bytes;
    }
    const Stored made = write_formula(op, bytes, rest, chain.range(), wanted);
    report_chain(chain, text + ", then a table to " + describe(made.storage, made.range));
    return made;
  }
  const Stored sums{product.emit(nullptr, {DType::kInt32, 0}), {DType::kInt32, 0}, chain.ranges[0]};
  Stored made;
  if (is_scalar_chain(chain.links)) {
    made = write_formula(op, sums, chain.links, chain.range(), wanted);
  } else {
    // Factors of single channels become an operand; scale_channels() has made sure that there is
    // one list of them.
    const auto at = std::find_if(chain.links.begin(), chain.links.end(),
                                 [](const Link& l) { return !l.by_channel.empty(); });
    Chain rest;
    rest.pair = std::make_shared<Pair>();
    rest.pair->a = sums;
    rest.pair->a_links.assign(chain.links.begin(), at);
    rest.pair->function = fb::FormulaPair::MULTIPLY;
    Shape operand = shape(op.output());
    for (int d = 0; d < operand.rank(); ++d)
      if (d != product.channel_axis) operand[d] = 1;
    const ValueId factors = graph_->add_constant("", DType::kInt32, operand, at->by_channel);
    rest.pair->b = {factors, {DType::kInt32, 0}, range_of(at->by_channel)};
    rest.links.assign(at + 1, chain.links.end());
    rest.ranges = {chain.range()};
    made = write_pair(op, rest, wanted);
  }
  report_chain(chain, product.name + ", int32 sums, then a Formula to " +
                          describe(made.storage, made.range));
  return made;
}

}  // namespace qrt::convert::from_cvm
