// SPDX-License-Identifier: Apache-2.0
// The operators that are pending until the quantisation of their float result is known.
#ifndef QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_
#define QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_

#include <memory>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Starts a pending operator as output 0 of a node.
std::shared_ptr<Pending> defer(Importer& importer, const NodeView& node, const Shape& shape);

// Returns an operator that a node which takes over input i may change: the pending operator itself,
// or where others read it, too, or the node has several outputs, a copy, which computes it once
// more; a table or a pair function as one. Null: the input does not wait.
std::shared_ptr<Pending> own_pending(Importer& importer, const NodeView& node, int i);
// Returns input i as a pending function of stored integers (Pending::is_function): tables, pair
// functions and operators with a float form. Null: the input is none of these.
std::shared_ptr<Pending> own_function(Importer& importer, const NodeView& node, int i);
// Reads input i as a table, a float constant or a pending function, which quantize_tensor() takes.
// Returns false where it is none of these.
bool read_function(Importer& importer, const NodeView& node, int i, Tensor* t);
// Returns a table as a pending function that `node` may read.
std::shared_ptr<Pending> pending_table(Importer& importer, const NodeView& node,
                                       const Tensor& table);
// Sets output 0 of the node, of `shape`, to `pending`, which is its own, after one more step.
void follow(Importer& importer, const NodeView& node, std::shared_ptr<Pending> pending,
            const Shape& shape, Pending::Move step);
// Returns a tensor of `shape` that `pending` will make.
Tensor pending_tensor(std::shared_ptr<Pending> pending, const Shape& shape);

// Says why ONNX Runtime does not fuse a pending operator with a QuantizeLinear behind it.
struct Barrier {
  // The first node of the operator and those behind it whose result several nodes read, or that
  // changes something, is no limit, and has no pairs copied across it. Null where there is none.
  const NodeView* node = nullptr;
  bool has_readers = false;  // the former
};
Status find_barrier(Importer& importer, const Pending& pending, Barrier* barrier);

// Makes the operator, quantised as `quantize` says. *result stays kNoValue where it was refused.
// REQUIRES: out.per_tensor().
Status resolve(Importer& importer, const NodeView& quantize,
               const std::shared_ptr<Pending>& pending, const Quant& out, ValueId* result);

// Charges a pending function before it is made, because every reader makes it anew, with all
// pending functions behind it. Fails with kUnsupported where too much was made of the file.
Status charge_function(Importer& importer);

// Makes a function with what follows it, for a reader that quantises it within `limits`. *result
// stays kNoValue where it was refused. REQUIRES: pending.is_function.
Status quantize_function(Importer& importer, const Pending& pending, const Quant& out,
                         Limits limits, ValueId* result);

// Returns whether ONNX Runtime moves a QuantizeLinear behind this node in front of it.
bool quantize_moves_across(const Importer& importer, const NodeView& node);

// Returns whether ONNX Runtime drops a Clip to these bounds before a QuantizeLinear: they lie
// within a float's epsilon, whatever the scale, of the least and greatest value of the integers.
bool is_clip_dropped(const Quant& out, float lo, float hi);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_DEFERRED_PENDING_H_
