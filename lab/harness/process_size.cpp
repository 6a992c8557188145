#include "harness/process_size.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace heddle::lab {
namespace {

// The line `name:   value`.
std::int64_t number(const std::string& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
  }
  throw std::runtime_error(file + " does not say " + name);
}

// The line `name:   value kB`.
std::int64_t read(const std::string& file, const std::string& name) {
  return number(file, name) * 1024;
}

}  // namespace

process_size process_size::now() {
  const char* const status = "/proc/self/status";
  return {.resident = read(status, "VmRSS"),
          .page_tables = read(status, "VmPTE"),
          .reserved = read(status, "VmSize"),
          .threads = number(status, "Threads")};
}

std::int64_t resident_bytes(pid_t process) {
  return read("/proc/" + std::to_string(process) + "/status", "VmRSS");
}

std::int64_t proportional_bytes(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process);
  return read(directory + "/smaps_rollup", "Pss") + read(directory + "/status", "VmPTE");
}

std::int64_t machine_bytes(const char* name) { return read("/proc/meminfo", name); }

}  // namespace heddle::lab
