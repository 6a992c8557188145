// The exit status and the output of another program.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "heddle/coop/ext/sanitizer.hpp"

struct child_outcome {
  int status = 0;
  std::string output;  // both streams

  child_outcome(const std::string& program, const std::string& way) {
    FILE* const child = popen(("exec '" + program + "' " + way + " 2>&1").c_str(), "r");
    REQUIRE(child != nullptr);
    for (int byte; (byte = std::getc(child)) != EOF;) output += static_cast<char>(byte);
    status = pclose(child);
  }

  [[nodiscard]] bool says(const std::string& words) const {
    return output.find(words) != std::string::npos;
  }
  /// By an access that is not allowed.
  [[nodiscard]] bool died_of_it() const {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
    // A sanitizer handles SIGSEGV itself, after us, and exits.
    return says("Sanitizer") && WIFEXITED(status) && WEXITSTATUS(status) != 0;
#else
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#endif
  }
};
