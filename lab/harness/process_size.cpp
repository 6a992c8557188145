#include "harness/process_size.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace heddle::lab {
namespace {

// The line `name:   value kB`.
std::int64_t read(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  throw std::runtime_error(std::string(file) + " does not say " + name);
}

}  // namespace

process_size process_size::now() {
  const char* const status = "/proc/self/status";
  return {.resident = read(status, "VmRSS"),
          .page_tables = read(status, "VmPTE"),
          .reserved = read(status, "VmSize")};
}

std::int64_t machine_bytes(const char* name) { return read("/proc/meminfo", name); }

}  // namespace heddle::lab
