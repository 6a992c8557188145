#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heddle::lab::tracing {

using command = std::vector<std::string>;

/// Runs a command to its end and returns what it printed on standard output; standard error is
/// ours.
///
/// Throws std::system_error if it cannot be started, std::runtime_error with the command in it if
/// it does not end with exit code 0.
std::string run(const command& words);

/// The most memory that the command had which ran last, bytes: of its own and of files.
[[nodiscard]] std::uint64_t peak_of_last();

/// The directory of this program: the lab's.
[[nodiscard]] std::filesystem::path lab_directory();

/// The `heddle` command that was built together with the lab.
[[nodiscard]] std::string heddle_command();

/// A new directory for traces, in the runner's place for files or else in the temporary directory,
/// removed with all that is in it at the end.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  /// A path in it that does not exist yet, for one trace.
  [[nodiscard]] std::filesystem::path fresh(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace heddle::lab::tracing
