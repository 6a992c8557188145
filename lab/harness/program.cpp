#include "harness/program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "harness/deadlock.hpp"
#include "harness/model.hpp"
#include "harness/profile.hpp"
#include "harness/sampler.hpp"

namespace heddle::lab {

std::vector<model_entry>& registry() {
  static std::vector<model_entry> models;
  return models;
}

namespace {

const std::string compiler =
#if defined(__clang__)
    "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
    std::to_string(__clang_patchlevel__);
#else
    "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
    std::to_string(__GNUC_PATCHLEVEL__);
#endif

std::vector<parameter> declared() {
  std::vector<parameter> all = registry().front().declare();
  all.push_back(parameter::integer("warmup", 1, 0, 1, "run a small problem first, unmeasured"));
  all.push_back(parameter::integer("energy", 0, 0, 1, "1: do not run where none can be read"));
  all.push_back(
      parameter::integer("profile-us", 0, 0, 1'000'000,
                         "processor time from one sample of a profile to the next; 0: none"));
  return all;
}

std::string model_names() {
  std::vector<std::string> names;
  for (const model_entry& each : registry()) names.emplace_back(each.name);
  std::sort(names.begin(), names.end());
  std::string joined;
  for (const std::string& name : names) joined += name + "\n";
  return joined;
}

std::string help(const char* program_name) {
  std::string text = "Runs the workload `" + std::string(registry().front().workload) +
                     "` once and prints one JSON line.\n\nusage: " + program_name +
                     " --model=MODEL [--NAME=VALUE …]\n       " + program_name +
                     " --list\n\nmodels:\n" + model_names() + "\nparameters:\n";
  for (const parameter& each : declared()) {
    text += "--" + each.name + "=" + each.range() + "\n    " + each.help + "\n";
  }
  return text;
}

struct request {
  const model_entry* model = nullptr;
  parameters values{declared()};
};

const model_entry& find_model(std::string_view name) {
  for (const model_entry& each : registry()) {
    if (each.name == name) return each;
  }
  throw usage_error("unknown model `" + std::string(name) + "`; there are:\n" + model_names());
}

request parse(const std::vector<std::string_view>& arguments) {
  request wanted;
  for (const std::string_view argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) {
      throw usage_error("`" + std::string(argument) + "`: expected --NAME=VALUE (see --help)");
    }
    const std::string_view name = argument.substr(2, equals - 2);
    const std::string_view value = argument.substr(equals + 1);
    if (name == "model") {
      wanted.model = &find_model(value);
    } else {
      wanted.values.set(name, value);
    }
  }
  if (wanted.model == nullptr) {
    throw usage_error("which model? --model= one of:\n" + model_names());
  }
  return wanted;
}

void add_harness_figures(const region& timed, results& out) {
  out.metrics.add("wall_ns", timed.wall_ns())
      .add("total_ns", timed.total_ns())
      .add("cpu_ns", timed.cpu_ns())
      .add("grown_bytes", timed.grown_bytes())
      .add("reserved_bytes", timed.reserved_bytes());
  if (timed.energy_uj()) out.metrics.add("energy_uj", *timed.energy_uj());
  const usage& used = timed.used();
  const counters& counted = timed.counted();
  out.counters.add("user_ns", used.user_ns)
      .add("sys_ns", used.sys_ns)
      .add("peak_rss_bytes", used.peak_rss_bytes)
      .add("page_faults", timed.page_faults())
      .add("voluntary_switches", used.voluntary_switches)
      .add("involuntary_switches", used.involuntary_switches)
      .add("strand_switches", counted.strand_switches)
      .add("p_operations", counted.p_operations)
      .add("blocked_p_operations", counted.blocked_p_operations)
      .add("allocations", counted.allocations)
      .add("kernel_threads", timed.kernel_threads());
}

// Before anything is run: it is known by then.
void require_energy() {
  if (energy::now().readable()) return;
  throw cannot_run(
      "no energy counter of the processor (RAPL) can be read: virtual machines have none; "
      "elsewhere it takes root, or `chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj`");
}

void require_debug_information() {
  if (has_debug_information()) return;
  throw cannot_run(
      "a profile needs debug information, to tell inlined functions: run the program that is built "
      "with it, …-O2-profiled");
}

// What a line begins and ends with, whatever comes of the run.
struct run_identity {
  std::string_view workload;
  std::string_view model;
  json_object params;
  std::string_view flags;

  [[nodiscard]] std::string line(const json_object& oracle, const results& out) const {
    json_object line;
    line.add("workload", workload).add("model", model).add("params", params).add("oracle", oracle);
    if (!out.ran.empty()) line.add("ran", out.ran);
    if (!out.result.empty()) line.add("result", out.result);
    return line.add("metrics", out.metrics)
        .add("counters", out.counters)
        .add("build", json_object().add("compiler", compiler).add("flags", flags))
        .text();
  }
};

// The run that is under way, for the one that finds that it will not end.
run_identity under_way;

std::string run(const request& wanted, std::string_view flags) {
  if (wanted.values.integer("energy") != 0) require_energy();
  const model_entry& model = *wanted.model;
  under_way = {model.workload, model.name, wanted.values.json(), flags};
  const rerun again = [&model](const parameters& values) {
    region unmeasured;
    model.prepare(values)->run(unmeasured);
  };
  // First calls bind symbols, fault pages in and wake the processor up: not what is compared.
  if (wanted.values.integer("warmup") != 0) again(model.small(wanted.values));

  const std::unique_ptr<prepared> work = model.prepare(wanted.values);
  std::optional<sampler> sampling;
  if (const std::int64_t period = wanted.values.integer("profile-us"); period != 0) {
    require_debug_information();
    sampling.emplace(sampler::duration(period));
  }
  region timed;
  timed.measure([&] {
    if (sampling) sampling->start();
    work->run(timed);
    if (sampling) sampling->stop();
  });
  const verdict oracle = work->check();
  results out;
  add_harness_figures(timed, out);
  if (sampling) profile(sampling->taken()).report(timed.cpu_ns(), out);
  work->report(timed, out, again);

  return under_way.line(json_object().add("ok", oracle.ok).add("checked", oracle.checked), out);
}

}  // namespace

void end_in_deadlock(std::string_view what) noexcept {
  const json_object oracle = json_object()
                                 .add("ok", false)
                                 .add("deadlock", true)
                                 .add("checked", what.substr(0, what.find('\n')));
  std::printf("%s\n", under_way.line(oracle, {}).c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

int program(int argc, char** argv, std::string_view flags) noexcept {
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.size() == 1 && arguments[0] == "--help") {
      std::fputs(help(argv[0]).c_str(), stdout);
      return 0;
    }
    if (arguments.size() == 1 && arguments[0] == "--list") {
      std::fputs(model_names().c_str(), stdout);
      return 0;
    }
    std::printf("%s\n", run(parse(arguments), flags).c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const usage_error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const cannot_run& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace heddle::lab
