#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "event.hpp"
#include "heddle/coop/ext/engine.hpp"
#include "operation_queue.hpp"

namespace heddle::coop::io::detail {

/// Blocking system calls, on threads of its own. They start when there is work for them and stay:
/// a process with a single thread has cheaper system calls, those of its sockets above all.
/// Where no thread is to be had, operations fail with EAGAIN.
///
/// A call on a regular file cannot be interrupted, so that a cancelled one that has begun runs to
/// its end. For a pipe and the like the thread first polls, also for a cancellation. An open() that
/// blocks (a FIFO without a peer) cannot be cancelled either, and delays the service's end.
class thread_engine final : public engine {
 public:
  /// Throws std::system_error if there is no event to be had.
  explicit thread_engine(unsigned threads);
  ~thread_engine() override;

  bool start(operation& wanted) override;
  void cancel(operation& unwanted) override;
  void collect(completions& to, std::optional<duration> limit) override;
  void interrupt() noexcept override { over_.raise(); }
  [[nodiscard]] int fd() noexcept override { return over_.fd(); }

  /// Raised when something is over: for who waits for more than this engine.
  [[nodiscard]] event& over() noexcept { return over_; }
  /// collect() without the waiting.
  void deliver(completions& to);

 private:
  struct worker {
    event cancelled;
    std::thread thread;
  };

  void add_worker();
  void drop_queued(operation& unwanted, long outcome);
  void work(worker& self);

  event over_;
  std::mutex lock_;  // of all below
  std::condition_variable work_there_;
  operation_queue queue_;
  operation_queue done_;
  std::vector<std::unique_ptr<worker>> workers_;
  unsigned prompt_threads_;  // at most
  unsigned idle_ = 0;
  unsigned queued_ = 0;
  unsigned held_ = 0;  // by an operation that need not end
  bool closing_ = false;
};

}  // namespace heddle::coop::io::detail
