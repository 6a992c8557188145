#include "harness/energy.hpp"

#include <fstream>
#include <system_error>

namespace heddle::lab {
namespace {

template <class Value>
bool read(const std::filesystem::path& file, Value& value) {
  std::ifstream in(file);
  return static_cast<bool>(in >> value);
}

}  // namespace

energy energy::now(const std::filesystem::path& powercap) {
  energy found;
  std::error_code none;
  for (const auto& zone : std::filesystem::directory_iterator(powercap, none)) {
    // Not the parts of a package (core, dram), which it includes, nor the whole platform (psys).
    std::string name;
    if (!read(zone.path() / "name", name) || !name.starts_with("package")) continue;
    counter package;
    if (read(zone.path() / "energy_uj", package.microjoules) &&
        read(zone.path() / "max_energy_range_uj", package.range)) {
      found.packages_.emplace(zone.path().filename().string(), package);
    }
  }
  return found;
}

std::optional<std::uint64_t> energy::since(const energy& start) const {
  std::optional<std::uint64_t> used;
  for (const auto& [name, end] : packages_) {
    const auto begin = start.packages_.find(name);
    if (begin == start.packages_.end()) continue;
    const std::uint64_t from = begin->second.microjoules;
    const std::uint64_t wrapped = end.microjoules < from ? end.range : 0;
    used = used.value_or(0) + end.microjoules + wrapped - from;
  }
  return used;
}

}  // namespace heddle::lab
