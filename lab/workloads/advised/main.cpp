// advised PROGRAM --model=cooperative/advised|parallel/advised [--NAME=VALUE …]: predicts by
// `heddle advise` what a lab program takes under CM (cooperative/asm), or PCM (parallel/asm), from
// a recording of it under CP (thread); then runs it so, and prints that run's line with
//
//   cp_ns                     under CP, not recorded: processor time
//   predicted_ns              cp_ns less what advise says that CM saves; not of PCM
//   low_ns, high_ns           the limits of that; of PCM, time: from all processors busy to one
//   measured_ns               under CM: processor time; under PCM: time
//   predicted_over_measured   and low_… and high_…
//   beyond                    how many times too low or high the nearer limit is: 1 within them
//   predicted_over_cp         and measured_over_cp; not of PCM
//   pairs                     P operations that advise says need not be, of 100
//
// What operations cost is measured by `heddle compare` before, where that was done more than an
// hour ago.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "workloads/recorded/line.hpp"
#include "workloads/tracing/command.hpp"

using namespace heddle::lab;

namespace {

constexpr std::string_view model_option = "--model=";

struct request {
  tracing::command program;  // and its arguments, without a model
  std::string model;         // as it is to be printed
  bool groups = false;       // PCM
};

request parse(int argc, char** argv) {
  request wanted;
  tracing::command arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with(model_option)) {
      wanted.model = word.substr(model_option.size());
    } else {
      (word.starts_with("--") ? arguments : wanted.program).push_back(word);
    }
  }
  wanted.groups = wanted.model == "parallel/advised";
  if (wanted.program.size() != 1 || !(wanted.groups || wanted.model == "cooperative/advised")) {
    throw recorded::usage_error(
        "expected PROGRAM --model=cooperative/advised|parallel/advised [--NAME=VALUE …]");
  }
  wanted.program.insert(wanted.program.end(), arguments.begin(), arguments.end());
  return wanted;
}

tracing::command with(tracing::command words, const std::string& more) {
  words.push_back(more);
  return words;
}

// The first number that is called so behind `from`; none: null, or no such member.
double number(const std::string& json, const std::string& member, std::size_t from = 0) {
  const std::size_t at = json.find("\"" + member + "\":", from);
  if (at == std::string::npos) throw std::runtime_error("no " + member + " in `" + json + "`");
  const std::string text = json.substr(at + member.size() + 3);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str())
    throw std::runtime_error("no number in " + member + " of `" + json + "`");
  return value;
}

// A report that says what operations cost: of less than an hour ago, or new.
std::string costs(const tracing::scratch& place) {
  namespace fs = std::filesystem;
  const fs::path kept = tracing::lab_directory() / "advised-costs";
  std::error_code none;
  const auto made = fs::last_write_time(kept / "results.jsonl", none);
  if (!none && fs::file_time_type::clock::now() - made < std::chrono::hours(1)) return kept;
  const fs::path fresh = place.fresh("costs");
  (void)tracing::run({tracing::heddle_command(), "compare", "e10-costs", "s14-group-handoff",
                      "b2-spawn", "-m", "thread,cooperative/asm,parallel/asm", "-n", "10", "--json",
                      "-o", fresh});
  fs::remove_all(kept, none);
  // An installed lab cannot be written to.
  fs::rename(fresh, kept, none);
  return none ? fresh : kept;
}

std::string run(const request& wanted) {
  const tracing::scratch place;
  const std::string report = costs(place);
  const std::string cp = tracing::run(with(wanted.program, "--model=thread"));
  const std::string trace = place.fresh("trace");
  tracing::command record{tracing::heddle_command(), "record", "--sched", "-o", trace, "--"};
  record.insert(record.end(), wanted.program.begin(), wanted.program.end());
  record.insert(record.end(), {"--model=thread", "--warmup=0"});
  (void)tracing::run(record);
  const std::string advice =
      tracing::run({tracing::heddle_command(), "advise", "--json", "--costs", report, trace});
  const std::string model = wanted.groups ? "parallel/asm" : "cooperative/asm";
  std::string line = tracing::run(with(wanted.program, "--model=" + model));

  const double cp_ns = number(cp, "cpu_ns");
  const double measured = number(line, wanted.groups ? "wall_ns" : "cpu_ns");
  const double processors = wanted.groups ? number(line, "processors") : 1;
  const std::size_t saved =
      advice.find(wanted.groups ? "\"pcm_saves_cpu_ns\":" : "\"cm_saves_cpu_ns\":");
  if (saved == std::string::npos) throw std::runtime_error("no prediction in `" + advice + "`");
  const double low = std::max(0.0, (cp_ns - number(advice, "high", saved)) / processors);
  const double high = cp_ns - number(advice, "low", saved);
  const double all = number(advice, "p_free") + number(advice, "p_waited");
  std::string metrics;
  const auto add = [&](const char* name, double value) {
    metrics += "\"" + std::string(name) + "\": " + std::to_string(value) + ", ";
  };
  add("cp_ns", cp_ns);
  add("low_ns", low);
  add("high_ns", high);
  add("measured_ns", measured);
  add("low_over_measured", low / measured);
  add("high_over_measured", high / measured);
  add("beyond", std::max({1.0, measured / high, low / measured}));
  add("pairs", all > 0 ? 100 * number(advice, "p_that_can_go") / all : 0);
  if (!wanted.groups) {
    const double predicted = cp_ns - number(advice, "value", saved);
    add("predicted_ns", predicted);
    add("predicted_over_measured", predicted / measured);
    add("predicted_over_cp", predicted / cp_ns);
    add("measured_over_cp", measured / cp_ns);
  }
  return recorded::with_model(recorded::with_metrics(std::move(line), metrics), wanted.model);
}

}  // namespace

int main(int argc, char** argv) {
  return recorded::answer([&] { return run(parse(argc, argv)); });
}
