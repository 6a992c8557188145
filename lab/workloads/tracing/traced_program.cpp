#include "workloads/tracing/traced_program.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "workloads/tracing/recorder.hpp"

namespace heddle::lab::tracing {

traced_program::outcome traced_program::run(std::string_view build, command prefix) const {
  const auto program = lab_directory() / "traced" / (name_ + "-" + std::string(build));
  prefix.push_back(program.string());
  prefix.push_back(std::to_string(threads_));
  prefix.push_back(std::to_string(rounds_));
  const std::string line = tracing::run(prefix);
  std::istringstream in(line);
  outcome found;
  if (!(in >> found.cpu_ns >> found.wall_ns >> found.result)) {
    throw std::runtime_error(program.string() + " printed `" + line + "`, not three numbers");
  }
  return found;
}

traced_program::calls traced_program::count(std::string_view build, const scratch& place) const {
  const auto counted = place.fresh("count");
  (void)run(build, preloaded("count", counted));
  std::ifstream file(counted / "count");
  calls found;
  if (!(file >> found.enters >> found.exits) || found.enters == 0) {
    throw std::runtime_error("no calls were counted in the build `" + std::string(build) + "`");
  }
  if (found.exits == 0) found.exits = found.enters;  // mcount is called at the enter alone
  return found;
}

void traced_program::last_for(std::string_view build, std::int64_t events, std::int64_t longest_ns,
                              const scratch& place) {
  constexpr std::int64_t few = 4;
  rounds_ = few;
  const auto made = static_cast<std::int64_t>(count(build, place).events());
  const auto took_ns = static_cast<std::int64_t>(run("plain").cpu_ns);
  rounds_ = std::max<std::int64_t>(
      1, std::min(few * events / made, few * longest_ns / std::max<std::int64_t>(1, took_ns)));
}

}  // namespace heddle::lab::tracing
