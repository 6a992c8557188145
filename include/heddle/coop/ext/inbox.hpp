#pragma once

#include <atomic>

namespace heddle::coop {

class scheduler;

/// Something for a scheduler to do, posted by any thread: see group::post() and
/// scheduler_access::post(). It lives in what it is about (an awaitable, as a rule), so that
/// posting takes no memory.
struct message {
  /// Called by the scheduler, on its thread, outside of any strand, once for each post: may wake
  /// and spawn, must not wait or throw. From the moment of the call on the message may be posted
  /// again. `to` is null if the scheduler is gone: then what the message owns is to be freed, no
  /// more.
  void (*deliver)(message& self, scheduler* to) noexcept;
  message* next = nullptr;  // in the inbox

  explicit constexpr message(void (*deliver_function)(message&, scheduler*) noexcept) noexcept
      : deliver(deliver_function) {}
  message(const message&) = delete;
  message& operator=(const message&) = delete;
};

namespace detail {

/// The messages that were posted to a scheduler, which takes all of them at once. Any number of
/// writers, one reader; none waits for another. Its line stays in the reader's cache while no
/// message is posted.
class inbox {
 public:
  /// Whether there was nothing at some moment since the last take_all().
  [[nodiscard]] bool empty() const noexcept {
    return newest_.load(std::memory_order_relaxed) == nullptr;
  }
  /// The same, in the one order of all operations that are sequentially consistent.
  [[nodiscard]] bool empty_in_order() const noexcept {
    return newest_.load(std::memory_order_seq_cst) == nullptr;
  }

  /// Returns whether it was empty. What the writer did before, the reader sees.
  bool push(message& added) noexcept {
    // Guessed to be empty, without a look: that would fetch the line once more.
    message* newest = nullptr;
    do {
      added.next = newest;
      // Release: for the reader. And seq_cst: for a reader that sleeps, see group::post().
    } while (!newest_.compare_exchange_weak(newest, &added, std::memory_order_seq_cst,
                                            std::memory_order_relaxed));
    return newest == nullptr;
  }

  /// All of them, linked from the oldest to the newest; null if there is none.
  [[nodiscard]] message* take_all() noexcept {
    message* newest = newest_.exchange(nullptr, std::memory_order_acquire);
    message* oldest = nullptr;
    while (newest != nullptr) {
      message* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

 private:
  std::atomic<message*> newest_{nullptr};
};

}  // namespace detail
}  // namespace heddle::coop
