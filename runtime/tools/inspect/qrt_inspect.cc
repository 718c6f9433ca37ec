// SPDX-License-Identifier: Apache-2.0
// qrt_inspect: what a .qrt file holds and how this machine would run it, as text, JSON, a Graphviz
// graph or a page for a browser.
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "runtime/allowed_isas.h"
#include "runtime/parts.h"
#include "runtime/plan.h"
#include "runtime/tools/dims.h"
#include "runtime/tools/files.h"
#include "runtime/tools/inspect/print.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/page/page.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

struct Options {
  std::vector<std::string> models, dims;
  std::string isa, format = "text", html;
  size_t batch = 0;
  bool ops = false, tensors = false, ops_list = false;
};

// Prints a value for CMake's QRT_OPS: a library with these operators and parts runs all the models.
Status list_operators(const Options& options) {
  std::set<std::string> names;
  for (const std::string& path : options.models) {
    auto model = load_verified(path);
    QRT_TRY(std::move(model.status()));
    for (const fb::Operator* op : *(*model)->file().operators())
      names.insert(find_op(op->options_type())->name);
    for (const Part* part : parts_of((*model)->file())) names.insert(part->name);
  }
  for (const std::string& name : names) puts(name.c_str());
  return {};
}

Status inspect(Options options) {
  for (std::string& path : options.models) QRT_TRY(take_stdin(&path));
  if (options.ops_list) return list_operators(options);
  const std::string& path = options.models[0];
  auto isas = allowed_isas(options.isa.empty() ? nullptr : options.isa.c_str());
  QRT_TRY(std::move(isas.status()));
  QRT_TRY(check_outputs({options.html}, {path}));
  auto model = load_verified(path);
  QRT_TRY(std::move(model.status()));
  PlanOptions plan_options;
  Dims dims;
  for (const std::string& text : options.dims) QRT_TRY(dims.parse(text));
  QRT_TRY(set_sizes(**model, dims, &plan_options).at(path));
  if (options.batch != 0) plan_options.batch = options.batch;
  plan_options.isas = *isas;
  auto plan = make_plan(*model, plan_options);
  QRT_TRY(std::move(plan.status()).at(path));
  if (!options.html.empty())
    return write_page(options.html, {{*plan, with_stdin_named(path), nullptr}});
  const nlohmann::ordered_json all = describe(**plan, with_stdin_named(path));
  if (options.format == "json")
    puts(all.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace).c_str());
  else if (options.format == "dot")
    print_dot(all);
  else
    print_text(all, options.ops, options.tensors);
  return {};
}

int inspect_main(int argc, char** argv) {
  CommandLine line(
      "Shows what a .qrt model takes, gives and costs.",
      "  qrt_inspect model.qrt\n"
      "  qrt_inspect model.qrt --ops --tensors       the long tables\n"
      "  qrt_inspect model.qrt --format json | jq .memory\n"
      "  qrt_inspect model.qrt --format dot | dot -Tsvg > model.svg\n"
      "  qrt_inspect model.qrt --html model.html     graph and memory, to click through\n"
      "  qrt_inspect a.qrt b.qrt --ops-list > ops    for cmake -DQRT_OPS=$PWD/ops");
  Options options;
  line.some_arguments("MODEL", &options.models,
                      "A .qrt file, - is standard input; with --ops-list several");
  line.choice("--format NAME", &options.format, {"text", "json", "dot"}, "Form of the output");
  line.text("--html FILE", &options.html,
            "File for a page that shows graph and memory in a browser, instead of text");
  line.flag("--ops", &options.ops, "Text: every operator with its kernel and arithmetic");
  line.flag("--tensors", &options.tensors,
            "Text: every tensor with its place in memory and its quantisation");
  line.flag("--ops-list", &options.ops_list,
            "Only the names of the operators of all models: what a library needs that is built "
            "with -DQRT_OPS");
  line.number("--batch COUNT", &options.batch, 1, size_t{1} << 31,
              "Batch to plan for (default: the model's)");
  line.texts(
      "--dims SIZES", &options.dims,
      "NAME=SIZE, sizes of open dimensions to plan for (default: the model's); may be repeated");
  line.text("--isa NAME", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  if (options.models.size() > 1 && !options.ops_list)
    return refuse_usage("one model at a time, but for --ops-list");
  const Status status = inspect(options);
  return status.ok() ? kDone : fail(status);
}

}  // namespace
}  // namespace qrt::tool

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::tool::inspect_main, argc, argv); }
