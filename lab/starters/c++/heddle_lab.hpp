// The part of a lab program that is the same in each: it reads the command line, runs one model,
// has the result checked, and prints the one JSON line that `heddle compare` reads. C++20, Linux.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heddle_lab {

/// The oracle's answer: whether the result is right, and what was compared.
struct verdict {
  bool ok = false;
  std::string checked;
};

/// Thrown by a model that lacks something on this machine: what is missing, and what would help.
/// `heddle compare` then skips the model and prints that.
struct cannot_run : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A lab program. Declare its parameters and models, then return run() from main:
///
///     heddle_lab::program lab("primes", argc, argv);
///     const long n = lab.parameter("n", 20'000, 1, 10'000'000);
///     long found = 0;
///     lab.model("serial", [&] { found = count(n); });
///     return lab.run([&] { return heddle_lab::verdict{found == known(n), "the primes"}; });
class program {
 public:
  program(std::string workload, int argc, char** argv)
      : workload_(std::move(workload)), name_(argc > 0 ? argv[0] : "program") {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::size_t equals = argument.find('=');
      if (argument == "--help" || argument == "--list") {
        list_ = true;
      } else if (argument.rfind("--", 0) != 0 || equals == std::string::npos) {
        fail("`" + argument + "`: expected --NAME=VALUE");
      } else if (argument.substr(2, equals - 2) == "model") {
        model_ = argument.substr(equals + 1);
      } else {
        given_.push_back({argument.substr(2, equals - 2), argument.substr(equals + 1)});
      }
    }
  }

  /// The value of --NAME=…, or `fallback`. One outside of `least` … `most` ends the program.
  long parameter(const std::string& name, long fallback, long least, long most) {
    long value = fallback;
    for (auto& [key, text] : given_) {
      if (key != name) continue;
      char* end = nullptr;
      value = std::strtol(text.c_str(), &end, 10);
      if (text.empty() || *end != '\0' || value < least || value > most) {
        fail("--" + name + "=" + text + ": expected " + std::to_string(least) + " … " +
             std::to_string(most));
      }
      key.clear();  // known
    }
    parameters_ += (parameters_.empty() ? "" : ",") + quoted(name) + ":" + std::to_string(value);
    known_ += " --" + name;
    return value;
  }

  /// Declares a model. `body` is what is measured, all of it.
  void model(const std::string& name, std::function<void()> body) {
    models_.push_back({name, std::move(body)});
  }

  /// Adds a figure of your own, with its unit in its name (`_ns`, `_bytes`, `_per_s`).
  void metric(const std::string& name, double value) { add(metrics_, name, value); }
  /// Adds a count that says why: `p_operations`, `allocations` …
  void counter(const std::string& name, double value) { add(counters_, name, value); }
  /// Sets the answer or a checksum of it: all models must come to the same one.
  void result(const std::string& text) { result_ = text; }

  /// Runs the model that the command line names, has `oracle` check its result, and prints the
  /// line. Returns the exit code.
  int run(const std::function<verdict()>& oracle) {
    if (list_) {
      for (const auto& each : models_) std::printf("%s\n", each.first.c_str());
      return 0;
    }
    for (const auto& each : given_) {
      if (!each.first.empty()) fail("unknown parameter --" + each.first + "; there are:" + known_);
    }
    for (const auto& each : models_) {
      if (each.first == model_) return run(each.second, oracle);
    }
    std::string names;
    for (const auto& each : models_) names += " " + each.first;
    fail("unknown model `" + model_ + "`; there are:" + names);
  }

 private:
  using fields = std::vector<std::pair<std::string, double>>;

  int run(const std::function<void()>& body, const std::function<verdict()>& oracle) {
    try {
      const rusage before = used();
      const double cpu_start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
      const double start = clock_ns(CLOCK_MONOTONIC);
      body();
      metric("wall_ns", clock_ns(CLOCK_MONOTONIC) - start);
      metric("cpu_ns", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
      const rusage after = used();
      counter("voluntary_switches", static_cast<double>(after.ru_nvcsw - before.ru_nvcsw));
      counter("involuntary_switches", static_cast<double>(after.ru_nivcsw - before.ru_nivcsw));
      const verdict said = oracle();
      std::printf(
          "{\"workload\":%s,\"model\":%s,\"params\":{%s},\"oracle\":{\"ok\":%s,"
          "\"checked\":%s},\"result\":%s,\"metrics\":{%s},\"counters\":{%s}}\n",
          quoted(workload_).c_str(), quoted(model_).c_str(), parameters_.c_str(),
          said.ok ? "true" : "false", quoted(said.checked).c_str(), quoted(result_).c_str(),
          json(metrics_).c_str(), json(counters_).c_str());
      return std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const cannot_run& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
      return 77;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
      return 1;
    }
  }

  static rusage used() {
    rusage now{};
    getrusage(RUSAGE_SELF, &now);
    return now;
  }

  static double clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  }

  static void add(fields& all, const std::string& name, double value) {
    if (std::isfinite(value)) all.push_back({name, value});  // JSON has no other numbers
  }

  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
  }

  static std::string json(const fields& all) {
    std::string out;
    for (const auto& [name, value] : all) {
      char text[32];
      std::snprintf(text, sizeof text, "%.15g", value);
      out += (out.empty() ? "" : ",") + quoted(name) + ":" + text;
    }
    return out;
  }

  [[noreturn]] void fail(const std::string& why) const {
    std::fprintf(stderr, "error: %s\nusage: %s --model=MODEL [--NAME=VALUE …], or --list\n",
                 why.c_str(), name_.c_str());
    std::exit(2);
  }

  std::string workload_;
  std::string name_;
  std::string model_;
  std::string parameters_;
  std::string known_ = " --model";
  std::string result_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::pair<std::string, std::function<void()>>> models_;
  fields metrics_;
  fields counters_;
  bool list_ = false;
};

}  // namespace heddle_lab
