// SPDX-License-Identifier: Apache-2.0
// The refusals of every operator: each is damaged by itself in some hundred ways, and its message for
// each is compared with refusals.txt, where numbers are # and element types *. A check that is lost, or new, changes
// that file. To write it anew: rm tests/runtime/refusals.txt, then
// QRT_WRITE_REFUSALS=tests/runtime/refusals.txt build/release/tests/runtime_tests refusals_test, and read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/integer_build.h"
#include "runtime/infer.h"
#include "runtime/op.h"
#include "runtime/verify.h"
#include "tests/support/fields.h"
#include "tests/support/other_forms_model.h"

namespace qrt::refusals_test {
namespace {

using Bytes = std::vector<uint8_t>;
using Damage = std::function<void(fb::ModelT&)>;

// Models that together have every operator, in most of its forms.
constexpr testing::ModelBuilder (*kModels[])() = {&testing::every_op_model, &testing::integer_model,
                                                  &testing::other_forms_model};

// Writes every field into the file, defaults included.
Bytes pack(const fb::ModelT& model) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(true);
  fbb.CreateVector(Bytes(64));
  fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, &model));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

std::unique_ptr<fb::ModelT> unpack(const Bytes& file) { return fb::UnPackModel(file.data()); }

constexpr char kSubject[] = "subject";

// Returns the operator that is to be damaged.
fb::OperatorT& subject(const fb::ModelT& m) {
  return **std::find_if(m.operators.begin(), m.operators.end(),
                        [](const auto& op) { return op->name == kSubject; });
}

// Returns a new tensor of the type of another.
uint32_t like(fb::ModelT* m, uint32_t tensor) {
  m->tensors.push_back(std::make_unique<fb::TensorT>(*m->tensors[tensor]));
  return static_cast<uint32_t>(m->tensors.size() - 1);
}

// Gives a LoopBegin, the only operator, a LoopEnd that passes its states on.
void add_loop_end(fb::ModelT* m) {
  const fb::OperatorT& begin = *m->operators[0];
  auto end = std::make_unique<fb::OperatorT>();
  fb::LoopEndOptionsT o;
  o.states = begin.options.AsLoopBegin()->states;
  const auto& slices = begin.options.AsLoopBegin()->slices;
  if (!slices.empty())
    o.trips =
        static_cast<uint32_t>(std::abs(m->tensors[begin.inputs[o.states]]->shape[slices[0]->axis]));
  end->inputs.assign(begin.outputs.begin(), begin.outputs.begin() + 1 + o.states);
  for (uint32_t i = 1; i <= o.states; ++i) end->outputs.push_back(like(m, begin.outputs[i]));
  end->options.Set(std::move(o));
  m->outputs = end->outputs;
  m->operators.push_back(std::move(end));
}

// Gives a LoopEnd, the only operator, a LoopBegin.
void add_loop_begin(fb::ModelT* m) {
  const fb::OperatorT& end = *m->operators[0];
  auto begin = std::make_unique<fb::OperatorT>();
  fb::LoopBeginOptionsT o;
  o.states = end.options.AsLoopEnd()->states;
  begin->outputs = {end.inputs[0]};
  m->inputs.erase(std::find(m->inputs.begin(), m->inputs.end(), end.inputs[0]));
  for (uint32_t i = 1; i <= o.states; ++i) {
    begin->inputs.push_back(like(m, end.inputs[i]));
    begin->outputs.push_back(like(m, end.inputs[i]));
    m->inputs.push_back(begin->inputs.back());
  }
  begin->options.Set(std::move(o));
  m->operators.insert(m->operators.begin(), std::move(begin));
}

// Returns a model of operator `index` alone: what it reads becomes an input of the model, what it
// writes an output, and other tensors and buffers keep their indices but nothing else. A LoopBegin and a LoopEnd get the other.
Bytes alone(const Bytes& file, size_t index) {
  const std::unique_ptr<fb::ModelT> m = unpack(file);
  std::unique_ptr<fb::OperatorT> op = std::move(m->operators[index]);
  m->operators.clear();
  m->variables.clear();
  m->inputs.clear();
  std::vector<bool> used(m->tensors.size()), kept(m->buffers.size());
  for (uint32_t t : op->inputs) {
    if (!used[t] && m->tensors[t]->buffer == 0) m->inputs.push_back(t);
    used[t] = true;
    kept[m->tensors[t]->buffer] = true;
  }
  m->outputs = op->outputs;
  for (size_t t = 0; t < used.size(); ++t) {
    if (used[t]) continue;
    m->tensors[t]->buffer = 0;
    m->tensors[t]->packing = fb::Packing::NONE;
    m->tensors[t]->weight_offset.clear();
    if (m->tensors[t]->dtype == fb::DType::INT4) m->tensors[t]->dtype = fb::DType::INT8;
  }
  if (const auto* lut = op->options.AsLut()) kept[lut->table] = true;
  if (const auto* pair_lut = op->options.AsPairLut()) kept[pair_lut->table] = true;
  if (const auto* softmax = op->options.AsSoftmax()) kept[softmax->table] = true;
  for (size_t b = 0; b < kept.size(); ++b)
    if (!kept[b]) m->buffers[b]->data.clear();
  op->name = kSubject;
  m->operators.push_back(std::move(op));
  if (m->operators[0]->options.AsLoopBegin()) {
    add_loop_end(m.get());
  } else if (m->operators[0]->options.AsLoopEnd()) {
    add_loop_begin(m.get());
  }
  return pack(*m);
}

// Resizes a tensor's buffer to the bytes that its type takes.
void resize_buffer(fb::ModelT& m, fb::TensorT& t) {
  if (t.buffer == 0 || t.packing != fb::Packing::NONE) return;
  TensorType type{static_cast<DType>(t.dtype), {}};
  for (int32_t d : t.shape) type.shape.push_back(d);
  m.buffers[t.buffer]->data.resize(tensor_bytes(type));
}

// Gives a tensor of the operator another type or shape.
void damage_tensor(const fb::ModelT& m, std::function<fb::TensorT&(fb::ModelT&)> find,
                   std::vector<Damage>* all) {
  const auto add = [&](std::function<void(fb::TensorT&)> change) {
    all->push_back([=](fb::ModelT& copy) {
      change(find(copy));
      resize_buffer(copy, find(copy));
    });
  };
  for (fb::DType dtype : {fb::DType::FLOAT32, fb::DType::UINT8, fb::DType::INT8, fb::DType::INT16,
                          fb::DType::UINT16, fb::DType::INT32, fb::DType::INT64, fb::DType::INT4})
    add([=](fb::TensorT& t) { t.dtype = dtype; });
  add([](fb::TensorT& t) { t.shape.push_back(1); });
  add([](fb::TensorT& t) { t.shape.insert(t.shape.begin(), 1); });
  add([](fb::TensorT& t) { t.shape.clear(); });
  const size_t rank = find(const_cast<fb::ModelT&>(m)).shape.size();
  for (size_t d = 0; d < rank; ++d) {
    add([=](fb::TensorT& t) { t.shape.erase(t.shape.begin() + static_cast<ptrdiff_t>(d)); });
    for (int32_t more : {1, 3, 0x10000, 0x7ffffff})
      add([=](fb::TensorT& t) { t.shape[d] = t.buffer != 0 && more > 3 ? 1 : t.shape[d] + more; });
  }
}

// Changes a constant's bytes and form.
void damage_constant(std::function<fb::TensorT&(fb::ModelT&)> find, std::vector<Damage>* all) {
  const auto bytes = [find](fb::ModelT& m) -> Bytes& { return m.buffers[find(m).buffer]->data; };
  all->push_back([=](fb::ModelT& m) { bytes(m).resize(bytes(m).size() + 64); });
  all->push_back([=](fb::ModelT& m) { bytes(m).resize(bytes(m).size() / 2); });
  for (uint8_t value : {0, 1, 127, 128, 255}) {
    all->push_back([=](fb::ModelT& m) { bytes(m).assign(bytes(m).size(), value); });
    all->push_back([=](fb::ModelT& m) { bytes(m).front() = value; });
    all->push_back([=](fb::ModelT& m) { bytes(m).back() = value; });
  }
  for (fb::Packing packing : {fb::Packing::NONE, fb::Packing::GEMM, fb::Packing::DEPTHWISE})
    all->push_back([=](fb::ModelT& m) { find(m).packing = packing; });
  all->push_back([=](fb::ModelT& m) {
    find(m).packing = fb::Packing::NONE;
    find(m).dtype = fb::DType::FLOAT32;
    resize_buffer(m, find(m));
  });
  for (size_t n : {1, 16, 32})
    all->push_back([=](fb::ModelT& m) { find(m).weight_offset.assign(n, 5); });
}

// Returns the damages that the object API can do: to the operator's tensors, one, fewer or more of them.
std::vector<Damage> damages_of_tensors(const fb::ModelT& m) {
  std::vector<Damage> all;
  const fb::OperatorT& op = subject(m);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    // Works on a copy of the tensor, as other inputs may name the same one.
    const auto copy = [i](fb::ModelT& model) -> fb::TensorT& {
      return *model.tensors[subject(model).inputs[i]];
    };
    damage_tensor(m, copy, &all);
    const bool is_constant = m.tensors[op.inputs[i]]->buffer != 0;
    if (is_constant) damage_constant(copy, &all);
    const bool is_made =
        !is_constant && std::count(m.inputs.begin(), m.inputs.end(), op.inputs[i]) == 0;
    if (is_made) continue;                  // by a LoopBegin
    all.push_back([=](fb::ModelT& model) {  // one becomes the other
      fb::TensorT& t = copy(model);
      if (is_constant) {
        t.buffer = 0;
        t.packing = fb::Packing::NONE;
        t.weight_offset.clear();
        model.inputs.push_back(subject(model).inputs[i]);
      } else {
        auto& inputs = model.inputs;
        inputs.erase(std::find(inputs.begin(), inputs.end(), subject(model).inputs[i]));
        for (int32_t& d : t.shape) d = std::max(d, 1);
        t.buffer = static_cast<uint32_t>(model.buffers.size());
        model.buffers.push_back(std::make_unique<fb::BufferT>());
        resize_buffer(model, t);
      }
    });
  }
  for (size_t i = 0; i < op.outputs.size(); ++i)
    damage_tensor(
        m,
        [i](fb::ModelT& model) -> fb::TensorT& {
          return *model.tensors[subject(model).outputs[i]];
        },
        &all);
  for (size_t n = 0; n <= op.inputs.size(); ++n)
    all.push_back([n](fb::ModelT& model) { subject(model).inputs.resize(n, 0); });
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    all.push_back([i](fb::ModelT& model) {  // twice, at the end
      auto& inputs = subject(model).inputs;
      inputs.push_back(inputs[i]);
    });
    for (size_t j = 0; j < i; ++j)
      all.push_back([i, j](fb::ModelT& model) {
        std::swap(subject(model).inputs[i], subject(model).inputs[j]);
      });
  }
  all.push_back([](fb::ModelT& model) {
    const auto last = static_cast<uint32_t>(model.tensors.size());
    model.tensors.push_back(std::make_unique<fb::TensorT>());
    model.tensors.back()->shape = {1};
    subject(model).outputs.push_back(last);
  });
  all.push_back([](fb::ModelT& model) {
    subject(model).outputs.pop_back();
    model.outputs.pop_back();
  });
  for (size_t b = 1; b < m.buffers.size(); ++b) {  // tables
    if (m.buffers[b]->data.empty()) continue;
    for (uint8_t value : {0, 1, 127, 128, 255}) {
      all.push_back([=](fb::ModelT& model) { model.buffers[b]->data[0] = value; });
      all.push_back([=](fb::ModelT& model) { model.buffers[b]->data.back() = value; });
    }
    all.push_back([=](fb::ModelT& model) { model.buffers[b]->data.pop_back(); });
    all.push_back([=](fb::ModelT& model) { model.buffers[b]->data.push_back(0); });
    all.push_back([=](fb::ModelT& model) { model.buffers[b]->data.clear(); });
  }
  return all;
}

// Returns the message of a refusal, without the parts that differ from one damage to the next.
std::string refusal(const Bytes& file) {
  auto result = verify(std::move(*ModelBytes::copy(file.data(), file.size())));
  if (result.ok()) return "accepted";
  static const std::regex kWhere("^op [0-9]+ \\([^)]*\\): ");
  static const std::regex kTensor("tensor [0-9]+ \\('[^']*'\\)");
  static const std::regex kShape("\\[-?[0-9]*(, -?[0-9]+)*\\]");
  static const std::regex kType("\\b(u?int[0-9]+|float[0-9]+)\\b");
  static const std::regex kNumber("-?\\b(0x[0-9a-f]+|[0-9][0-9.]*(e[+-]?[0-9]+)?|nan|inf)\\b");
  std::string text = std::regex_replace(result.status().message(), kWhere, "");
  text = std::regex_replace(text, kTensor, "tensor T");
  text = std::regex_replace(text, kShape, "[#]");
  text = std::regex_replace(text, kType, "*");
  return std::regex_replace(text, kNumber, "#");
}

using Refusals = std::map<std::string, int>;

void damage_alone(const Bytes& file, Refusals* refusals) {
  ASSERT_EQ(refusal(file), "accepted");
  for (const Damage& damage : damages_of_tensors(*unpack(file))) {
    const std::unique_ptr<fb::ModelT> m = unpack(file);
    damage(*m);
    ++(*refusals)[refusal(pack(*m))];
  }
  const testing::Fields fields = testing::fields_of(file);
  for (const testing::Field& field : fields.numbers) {
    const auto is_of = [&](const testing::TypeTable* type) { return field.table == type; };
    if (is_of(fb_types::ModelTypeTable()) || is_of(fb_types::TensorTypeTable()) ||
        is_of(fb_types::BufferTypeTable()) || is_of(fb_types::OperatorTypeTable()) ||
        is_of(fb_types::QuantizationTypeTable()))
      continue;
    for (const int64_t value :
         {int64_t{0},          int64_t{1},          int64_t{2},          int64_t{3},
          int64_t{5},          int64_t{16},         int64_t{40},         int64_t{127},
          int64_t{128},        int64_t{-128},       int64_t{255},        int64_t{-1},
          int64_t{256},        int64_t{40000},      int64_t{-60000},     int64_t{0x3f800000},
          int64_t{0xbf800000}, int64_t{0x7f7fffff}, int64_t{0x7f800000}, int64_t{0x7fc00000},
          int64_t{INT32_MIN},  int64_t{INT32_MAX}}) {
      Bytes changed = file;
      testing::set(&changed, field, value);
      ++(*refusals)[refusal(changed)];
    }
  }
  // The lengths of its vectors: of links within the operator, which stands before all it names.
  for (const testing::Reference& reference : fields.references) {
    if (reference.element < 0 || reference.type != nullptr) continue;
    uint32_t length;
    memcpy(&length, file.data() + reference.to, sizeof length);
    for (uint32_t shorter : {0u, length / 2, length - 1}) {
      if (shorter >= length) continue;
      Bytes changed = file;
      memcpy(changed.data() + reference.to, &shorter, sizeof shorter);
      ++(*refusals)[refusal(changed)];
    }
  }
}

// refusals.txt, by operator.
std::map<std::string, std::string> expected_sections() {
  std::map<std::string, std::string> sections;
  std::ifstream file(QRT_TESTS_DIR "/runtime/refusals.txt");
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != ' ') name = line;
    if (!line.empty() && line[0] == ' ') sections[name] += line + "\n";
  }
  return sections;
}

class RefusalsOf : public ::testing::TestWithParam<fb::OpOptions> {};

TEST_P(RefusalsOf, AreThoseListed) {
  if (is_integer_build()) GTEST_SKIP() << "has fewer operators";
  Refusals refusals;
  for (const auto make : kModels) {
    const Bytes file = pack(make().model());
    const auto& operators = *fb::GetModel(file.data())->operators();
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (operators.Get(i)->options_type() != GetParam()) continue;
      const Bytes model = alone(file, i);
      // An operator that reads constants alone makes a model without inputs, which is none.
      if (fb::GetModel(model.data())->inputs() == nullptr) continue;
      ASSERT_NO_FATAL_FAILURE(damage_alone(model, &refusals)) << "operator " << i;
    }
  }
  std::string actual;
  for (const auto& [message, count] : refusals)
    actual += "  " + std::to_string(count) + " x " + message + "\n";
  const std::string name = find_op(GetParam())->name;
  if (const char* path = getenv("QRT_WRITE_REFUSALS")) {
    std::ofstream(path, std::ios::app) << name << "\n" << actual;
    return;
  }
  EXPECT_EQ(expected_sections()[name], actual);
}

std::vector<fb::OpOptions> all_operators() {
  std::vector<fb::OpOptions> all;
  for (fb::OpOptions type : fb::EnumValuesOpOptions())
    if (type != fb::OpOptions::NONE) all.push_back(type);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operators, RefusalsOf, ::testing::ValuesIn(all_operators()),
                         [](const auto& info) {
                           return std::string(fb::EnumNameOpOptions(info.param));
                         });

}  // namespace
}  // namespace qrt::refusals_test
