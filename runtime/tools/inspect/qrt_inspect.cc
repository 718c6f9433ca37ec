// qrt_inspect: what a .qrt file holds and how this machine would run it, as text, JSON, a Graphviz
// graph or a page for a browser.
#include <cstdio>

#include "runtime/plan.h"
#include "runtime/session.h"
#include "runtime/tools/files.h"
#include "runtime/tools/inspect/print.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/page/page.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

struct Options {
  std::string model, isa, format = "text", html;
  size_t batch = 0;
  bool ops = false, tensors = false;
};

Status inspect(const Options& options) {
  auto isas = allowed_isas(options.isa.empty() ? nullptr : options.isa.c_str());
  QRT_TRY(std::move(isas.status()));
  QRT_TRY(check_writable(options.html));
  auto model = load_verified(options.model);
  QRT_TRY(std::move(model.status()));
  PlanOptions plan_options;
  plan_options.batch = options.batch;
  plan_options.isas = *isas;
  auto plan = make_plan(*model, plan_options);
  QRT_TRY(std::move(plan.status()).at(options.model));
  if (!options.html.empty()) return write_page(options.html, {{*plan, options.model, nullptr}});
  const nlohmann::ordered_json all = describe(**plan, options.model);
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
      "  qrt_inspect model.qrt --html model.html     graph and memory, to click through");
  Options options;
  line.argument("MODEL", &options.model, "A .qrt file");
  line.choice("--format", &options.format, {"text", "json", "dot"}, "text, json or dot");
  line.text("--html", &options.html,
            "File for a page that shows graph and memory in a browser, instead of text");
  line.flag("--ops", &options.ops, "Text: every operator with its kernel and arithmetic");
  line.flag("--tensors", &options.tensors,
            "Text: every tensor with its place in memory and its quantisation");
  line.number("--batch", &options.batch, 1, size_t{1} << 31,
              "Batch to plan for (default: the model's)");
  line.text("--isa", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  const Status status = inspect(options);
  return status.ok() ? kDone : fail(status);
}

}  // namespace
}  // namespace qrt::tool

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::tool::inspect_main, argc, argv); }
