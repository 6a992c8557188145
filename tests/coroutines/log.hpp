// The truth: what the program does to which coroutine, a line each. `born FRAME` (its function is
// entered for the first time next), `resume FRAME`, `destroy FRAME`.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#define PLAIN __attribute__((no_instrument_function, noinline))

struct log_line {
  const char* what;
  const void* frame;
};

PLAIN inline std::vector<log_line>& lines() {
  static std::vector<log_line> all;
  return all;
}

/// Only one thread runs coroutines at a time, so their order is that of time.
PLAIN inline void log(const char* what, const void* frame) { lines().push_back({what, frame}); }

PLAIN inline void print_log() {
  for (const auto& [what, frame] : lines()) std::printf("%s %p\n", what, frame);
}

/// The same for every promise: frames come from malloc, and say so.
struct logged {
  PLAIN static void* operator new(std::size_t size) {
    void* const frame = std::malloc(size);
    log("born", frame);
    return frame;
  }
  PLAIN static void operator delete(void* frame) { std::free(frame); }
};

PLAIN inline void resume(std::coroutine_handle<> handle) {
  log("resume", handle.address());
  handle.resume();
}

PLAIN inline void destroy(std::coroutine_handle<> handle) {
  log("destroy", handle.address());
  handle.destroy();
}
