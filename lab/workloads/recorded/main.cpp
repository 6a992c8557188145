// recorded PROGRAM --model=MODEL/VARIANT [--NAME=VALUE …]: runs a lab program's MODEL under `heddle
// record`, and prints its line. VARIANT is what is recorded: `calls`, or besides them `sync`,
// `sched`, `alloc`, or `args`, of all functions.
//
// recorded PROGRAM --model=MODEL/traced [--NAME=VALUE …]: runs it under `heddle record`, and prints
// its line with what the trace says of the same run:
//
//   traced_ns           the time between enter and exit of the model's function, run()
//   traced_over_timer   the same over total_ns, which the program's own timer says
//   traced_calls        calls that were recorded in that time, on all threads
//
// The program must be built to be recorded, and be run with --warmup=0: then run() is called once.
#include <string>
#include <string_view>

#include "workloads/recorded/line.hpp"
#include "workloads/recorded/profile.hpp"
#include "workloads/tracing/command.hpp"

using namespace heddle::lab;

namespace {

constexpr std::string_view model_option = "--model=";
constexpr std::string_view traced = "/traced";
// What a variant is, and what is asked of `heddle record` for it.
struct variant {
  std::string_view name;
  tracing::command options;
};
const variant variants[] = {{"/calls", {}},
                            {"/sync", {"--sync"}},
                            {"/sched", {"--sched"}},
                            {"/alloc", {"--alloc"}},
                            {"/args", {"--args", "."}}};
// The set-up and the oracle are not what is measured.
constexpr const char* run_function =
    R"(^heddle::lab::\w+::\(anonymous namespace\)::run\([^()]*region&\)$)";

struct request {
  tracing::command program;     // and its arguments
  std::string model;            // as it is to be printed
  const variant* as = nullptr;  // traced if there is none
};

request parse(int argc, char** argv) {
  request wanted;
  tracing::command arguments;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.starts_with(model_option)) {
      wanted.model = word.substr(model_option.size());
      for (const variant& one : variants) {
        if (word.ends_with(one.name)) wanted.as = &one;
      }
      const std::string_view name = wanted.as != nullptr ? wanted.as->name : traced;
      if (!word.ends_with(name)) {
        throw recorded::usage_error("`" + word +
                                    "`: expected --model=MODEL/traced|calls|sync|sched|alloc|args");
      }
      word.resize(word.size() - name.size());
    }
    (word.starts_with("--") ? arguments : wanted.program).push_back(word);
  }
  if (wanted.program.size() != 1 || wanted.model.empty()) {
    throw recorded::usage_error(
        "expected PROGRAM --model=MODEL/traced|calls|sync|sched|alloc|args [--NAME=VALUE …]");
  }
  wanted.program.insert(wanted.program.end(), arguments.begin(), arguments.end());
  return wanted;
}

std::string run(const request& wanted) {
  const tracing::scratch place;
  const std::string trace = place.fresh("trace").string();
  if (wanted.as != nullptr) {
    tracing::command words{tracing::heddle_command(), "record", "-o", trace};
    words.insert(words.end(), wanted.as->options.begin(), wanted.as->options.end());
    words.emplace_back("--");
    words.insert(words.end(), wanted.program.begin(), wanted.program.end());
    return recorded::with_model(tracing::run(words), wanted.model);
  }
  tracing::command words{tracing::heddle_command(),
                         "record",
                         "-o",
                         trace,
                         "--start-at",
                         run_function,
                         "--stop-at",
                         run_function,
                         "--"};
  words.insert(words.end(), wanted.program.begin(), wanted.program.end());
  const std::string line = tracing::run(words);
  const std::string report =
      tracing::run({tracing::heddle_command(), "report", "--format", "csv", trace});
  return recorded::with_profile(line, wanted.model, recorded::read_profile(report));
}

}  // namespace

int main(int argc, char** argv) {
  return recorded::answer([&] { return run(parse(argc, argv)); });
}
