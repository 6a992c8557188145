#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>

namespace heddle::lab {

/// Ends the program, none of whose strands can ever go on: prints the line of a run that ended in
/// a deadlock (docs/workloads.md), which the comparison counts as `hung` at once. `what` says who
/// waits for what; its first line is printed. Exit code 1.
///
/// Nothing is destroyed: kernel threads that wait for each other cannot be ended one by one.
[[noreturn]] void end_in_deadlock(std::string_view what) noexcept;

/// Looks from a thread of its own for a deadlock of all other threads of the process, and calls
/// `found` if there is one.
///
/// It is one when at two looks, 20 ms apart, all other threads sleep, `progress()` is the same, and
/// no thread has run in between (the kernel has switched to none). So the threads may sleep for
/// nothing but each other: no device, no timer. Who is only slow, on a busy machine, is ready to
/// run and does not sleep.
class deadlock_watch {
 public:
  /// `progress()` is called by the watching thread, at any time.
  deadlock_watch(std::function<std::int64_t()> progress, std::function<void()> found);

 private:
  struct look {
    std::int64_t progress = 0;
    std::optional<std::uint64_t> switches;  // of all other threads; nothing unless all sleep

    [[nodiscard]] bool operator==(const look&) const = default;
  };

  void watch(const std::stop_token& stop) const;
  [[nodiscard]] look look_now(std::int64_t progress_before) const;

  std::function<std::int64_t()> progress_;
  std::function<void()> found_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace heddle::lab
