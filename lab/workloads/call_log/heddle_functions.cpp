#include "workloads/call_log/workload.hpp"
#include "workloads/tracing/recorder.hpp"

namespace heddle::lab::call_log {
namespace {

using tracing::command;

command heddle(command words) {
  words.insert(words.begin(), tracing::heddle_command());
  return words;
}

// Whether the trace is as an expected tree of this directory says. The exit code is 1 if it is not,
// or cannot be read: the two trees tell these apart.
bool as_expected(const std::string& trace, const std::string& tree) {
  const std::string script = "\"$0\" check \"$1\" \"$2\" >&2; echo $?";
  const std::string path = std::string(HEDDLE_LAB_TREES) + "/" + tree;
  return tracing::run({"sh", "-c", script, tracing::heddle_command(), trace, path}) == "0\n";
}

// C's entry with its callers, innermost first.
bool has_backtrace_of_c(const std::string& text) {
  std::size_t at = text.find("C()");
  for (const char* const open : {"#0   C()", "#1   B()", "#2   A()", "#3   main"}) {
    at = text.find(open, at);
    if (at == std::string::npos) return false;
  }
  return true;
}

// Recorded first, printed afterwards.
void run(problem& work, region&) {
  const auto path = work.place().fresh("trace");
  const std::string trace = path.string();
  work.run(tracing::heddle_record(path));
  work.found(parse(tracing::run(heddle({"replay", "--format", "source", trace}))));

  const std::string addresses =
      tracing::run(heddle({"replay", "--format", "source", "--addresses", trace}));
  work.expect(parse_with_addresses(addresses).size() == 8, "8 lines with addresses");
  work.expect(has_backtrace_of_c(tracing::run(heddle({"replay", "--backtrace", trace}))),
              "a back-trace C, B, A, main where C is entered");
  work.expect(as_expected(trace, "abc.tree"), "heddle check finds the design");
  work.expect(!as_expected(trace, "other.tree"), "heddle check finds another design broken");
}

const model<problem> functions{"heddle/functions", &run};

}  // namespace
}  // namespace heddle::lab::call_log
