#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "heddle/coop/io/engine.hpp"
#include "heddle/coop/io/operation.hpp"
#include "heddle/coop/reactor.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::io::detail {

/// Whether reads and writes of it end by themselves: a regular file or a block device.
bool ends_soon(int fd) noexcept;

/// Operations in order of their start.
class operation_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] operation* first() const noexcept { return first_; }
  void push(operation& added) noexcept {
    added.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &added;
    last_ = &added;
  }
  operation& pop() noexcept {
    operation& taken = *first_;
    first_ = taken.next;
    if (first_ == nullptr) last_ = nullptr;
    return taken;
  }
  /// Returns whether it was there. O(n).
  bool remove(operation& unwanted) noexcept;

 private:
  operation* first_ = nullptr;
  operation* last_ = nullptr;
};

/// Between strands and the engine: who waits for what, what is started again, what nobody waits for
/// any more. Lives until the service and the last file are gone.
///
/// Invariant: an operation in flight is in the engine (`taken`), in `backlog_`, or the `closer` of
/// its file; and in the list from `oldest_`.
class core final : public reactor, public completions {
 public:
  core(scheduler& on, std::unique_ptr<io::engine> engine, std::string choice);
  ~core() = default;

  /// The service's end: cancels everything, and waits until nothing is in flight.
  void stop() noexcept;
  [[nodiscard]] bool stopped() const noexcept { return engine_ == nullptr; }

  void start(operation& wanted, coop::detail::strand_block& self);
  void give_up(operation& unwanted);
  void abandon(operation& unwanted) noexcept;
  void complete(operation& over, long outcome) noexcept override;

  [[nodiscard]] expectation expected() const noexcept override {
    if (prompt_ != 0) return expectation::prompt;
    return awaited_ != 0 ? expectation::open_ended : expectation::nothing;
  }
  bool poll() override;
  void keep_up() override;
  void wait(std::optional<time_point> limit) override;
  void scheduler_gone() noexcept override { scheduler_ = nullptr; }

  void acquire() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ == 0) delete this;
  }

  [[nodiscard]] const std::string& choice() const noexcept { return choice_; }

 private:
  void submit(operation& ready) noexcept;
  void cancel(operation& unwanted) noexcept;
  void collect(std::optional<duration> limit);
  void finish(operation& over) noexcept;
  static bool is_enough(operation& over, long outcome) noexcept;
  static void take_outcome(operation& over, long outcome) noexcept;
  void count_in(const operation& awaited) noexcept {
    ++awaited_;
    prompt_ += awaited.prompt ? 1 : 0;
  }
  void count_out(const operation& awaited) noexcept {
    --awaited_;
    prompt_ -= awaited.prompt ? 1 : 0;
  }

  scheduler* scheduler_;
  std::unique_ptr<io::engine> engine_;
  std::string choice_;
  operation_queue backlog_;  // the engine had no room
  operation* oldest_ = nullptr;
  operation* newest_ = nullptr;
  std::size_t awaited_ = 0;  // by a strand
  std::size_t prompt_ = 0;   // of those, the ones that end by themselves
  std::size_t woken_ = 0;    // strands, so far
  std::size_t references_ = 1;
  bool waited_ = false;  // since the last keep_up()
};

}  // namespace heddle::coop::io::detail
