#include "workloads/deletion/workload.hpp"

#include <alloca.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include "harness/processors.hpp"

namespace heddle::lab::deleting {
namespace {

// Stack bytes beside those that touch_stack() uses: for a context's first frames and a call, and
// for a thread's own variables, which are on its stack, too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t spare_bytes = 40 * 1024;
#else
constexpr std::size_t spare_bytes = 6 * 1024;
#endif

std::int64_t kernel_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("contexts", 100, 1, 20'000, "how many"),
      parameter::integer("counter", 3, 1, 1'000'000, "yields of each before it is deleted"),
      parameter::integer("stack-kilobytes", 64, 16, 64 * 1024, "of each"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("contexts", std::min<std::int64_t>(values.integer("contexts"), 2));
}

problem::problem(const parameters& values)
    : contexts_(values.integer("contexts")),
      counter_(values.integer("counter")),
      stack_bytes_(static_cast<std::uint32_t>(values.integer("stack-kilobytes") * 1024)) {
  pin_to_one_processor();
}

// If the stack were smaller than was asked for, this would be its overflow.
[[gnu::noinline]] void problem::touch_stack() const {
  const std::size_t bytes = std::max<std::size_t>(stack_bytes_, spare_bytes + 1) - spare_bytes;
  volatile char* const all = static_cast<char*>(alloca(bytes));
  for (std::size_t i = 0; i < bytes; i += 1024) all[i] = 1;
}

void problem::count_threads_before() { threads_before_ = kernel_threads(); }

// A thread that was joined may take a moment to leave /proc: those that stay are there after a
// thousand looks, too.
void problem::count_threads_after() {
  std::int64_t left = 0;
  for (int look = 0; look < 1000; ++look) {
    left = kernel_threads() - threads_before_;
    if (left <= 0) break;
    std::this_thread::sleep_for(std::chrono::microseconds(promised_ ? 1000 : 10));
  }
  threads_left_ = left;
}

void problem::small_stack(bool refused, std::string_view message) {
  small_stack_error_ = refused;
  small_stack_message_ = message;
}

verdict problem::check() const {
  const std::string expected =
      std::to_string(contexts_) + " contexts yielded " + std::to_string(counter_) + " times each";
  if (yields_ != contexts_ * counter_) {
    return {false, "expected: " + expected + "; there were " + std::to_string(yields_) + " yields"};
  }
  if (!promised_) return {true, expected};
  const bool said =
      small_stack_error_ && small_stack_message_.find("too small") != std::string::npos;
  if (unwound_ != contexts_ || threads_left_ != 0 || !said) {
    return {false, "expected: " + expected +
                       ", all are unwound, no thread is left, and a stack that is too small is an "
                       "error; unwound: " +
                       std::to_string(unwound_) + ", threads: " + std::to_string(threads_left_) +
                       ", the error says `" + small_stack_message_ + "`"};
  }
  return {true, expected + ", were unwound, left no thread, and refuse too small a stack"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto contexts = static_cast<double>(contexts_);
  out.metrics.add("delete_ns", static_cast<double>(timed.wall_ns()) / contexts);
  const double left = static_cast<double>(threads_left_) / contexts;
  out.counters.add("threads_left", left)
      .add("threads_gone", 1 - left)
      .add("unwound", static_cast<double>(unwound_) / contexts)
      .add("small_stack_error", std::int64_t{small_stack_error_});
  if (hangs_ >= 0) out.counters.add("delete_hangs", std::int64_t{hangs_});
}

}  // namespace heddle::lab::deleting
