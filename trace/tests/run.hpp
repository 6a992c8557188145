// Runs a traced program in a fresh directory of its own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// A directory that goes with its owner.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int exit_code;  ///< minus the signal's number if one killed it
  std::string out, err;
  pid_t pid;
};

struct Run {
  std::vector<std::string> arguments{};    ///< the first is a program of TRACED_PROGRAMS, or a path
  std::filesystem::path directory{};       ///< working directory
  std::string trace{};                     ///< HEDDLE_DIR; empty: a bare preload
  bool recorded = true;                    ///< false: without the library
  std::function<void()> in_child = [] {};  ///< limits, before exec
  useconds_t kill_after = 0;               ///< SIGKILL after so many microseconds
};

[[nodiscard]] Outcome run(const Run& what);

/// Number of programs that a test kills at random instants: HEDDLE_KILLS, or 20.
[[nodiscard]] int kills();
