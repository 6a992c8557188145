#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace heddle::lab {

/// The energy that the processor's packages have used, as the kernel's powercap interface counts it
/// (RAPL, about once a millisecond): everything on the machine, not this process alone. Usually
/// only root may read it.
class energy {
 public:
  /// Reads all packages below `powercap`; none where there are none that may be read.
  [[nodiscard]] static energy now(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Whether there was a package that could be read.
  [[nodiscard]] bool readable() const { return !packages_.empty(); }
  /// Microjoules since `start`; nothing if no package was read both times.
  [[nodiscard]] std::optional<std::uint64_t> since(const energy& start) const;

 private:
  struct counter {
    std::uint64_t microjoules = 0;
    std::uint64_t range = 0;  // where it begins at 0 again
  };
  std::map<std::string, counter> packages_;
};

}  // namespace heddle::lab
