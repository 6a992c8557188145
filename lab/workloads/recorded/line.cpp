#include "workloads/recorded/line.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heddle::lab::recorded {
namespace {

// The lab's own line has its members one after the other on one line, and no other object has
// these.
constexpr std::string_view model_member = "\"model\": \"";
constexpr std::string_view timer_member = "\"total_ns\": ";
constexpr std::string_view metrics_member = "\"metrics\": {";

std::size_t behind(const std::string& line, std::string_view member) {
  const std::size_t at = line.find(member);
  if (at == std::string::npos) {
    throw std::runtime_error("no " + std::string(member) + " in the line of the program: `" + line +
                             "`");
  }
  return at + member.size();
}

}  // namespace

std::string with_model(std::string line, std::string_view model) {
  const std::size_t name = behind(line, model_member);
  line.replace(name, line.find('"', name) - name, model);
  return line;
}

std::string with_metrics(std::string line, std::string_view metrics) {
  line.insert(behind(line, metrics_member), metrics);
  return line;
}

std::string with_profile(std::string line, std::string_view model, const profile& traced) {
  const auto timer_ns = std::strtod(line.c_str() + behind(line, timer_member), nullptr);
  const double over_timer = static_cast<double>(traced.run_ns) / timer_ns;
  const std::string metrics = "\"traced_ns\": " + std::to_string(traced.run_ns) +
                              ", \"traced_over_timer\": " + std::to_string(over_timer) +
                              ", \"traced_calls\": " + std::to_string(traced.calls) + ", ";
  return with_model(with_metrics(std::move(line), metrics), model);
}

int answer(const std::function<std::string()>& run) {
  try {
    std::fputs(run().c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const usage_error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace heddle::lab::recorded
