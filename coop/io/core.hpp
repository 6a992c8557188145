#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "epoll_engine.hpp"
#include "heddle/coop/ext/engine.hpp"
#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/ext/reactor.hpp"
#include "heddle/coop/scheduler.hpp"
#include "operation_queue.hpp"
#include "polled.hpp"
#include "resolver.hpp"

namespace heddle::coop::io::detail {

/// Whether reads and writes of it end by themselves: a regular file or a block device.
bool ends_soon(int fd) noexcept;

/// The part between strands and the engines: keeps which strand waits for which operation, the
/// operations that are started again, and those that no strand waits for any more. Lives until the
/// service and the last file are gone.
///
/// Invariant: an operation in flight is in an engine (`taken`), in `backlog_`, `starved_` or
/// `ended_`, with the resolver, or the `closer` of its file; and in the list from `oldest_`.
class core final : public reactor, public completions {
 public:
  /// `sockets_by_epoll`: otherwise they are the engine's as files are.
  core(scheduler& on, std::unique_ptr<io::engine> engine, std::string choice, bool sockets_by_epoll,
       std::string socket_choice);
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
  void interrupt() noexcept override { engine_->interrupt(); }
  [[nodiscard]] bool interruptible() const noexcept override { return true; }

  /// To be called before the first polled_state is made. Throws std::system_error if there can be
  /// no epoll.
  void allow_sockets();
  /// Whether descriptors of sockets are O_NONBLOCK: epoll wants it, and with io_uring requests
  /// would end instead of waiting.
  [[nodiscard]] bool nonblocking() const noexcept { return sockets_by_epoll_; }
  /// done_at_once(), of the file's own core.
  bool try_at_once(operation& wanted) noexcept;
  /// Closes a socket's descriptor; no operation of it is in flight. Returns 0 or -errno.
  long close_polled(polled_state& socket, int fd) noexcept;

  void acquire() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ == 0) delete this;
  }

  [[nodiscard]] const std::string& choice() const noexcept { return choice_; }
  [[nodiscard]] const std::string& socket_choice() const noexcept { return socket_choice_; }

 private:
  void submit(operation& ready) noexcept;
  void cancel(operation& unwanted) noexcept;
  void collect(std::optional<duration> limit);
  void cancel_all(file_state& file) noexcept;
  void tell_ended() noexcept;
  void begin_connect(operation& wanted) noexcept;
  void connect_next(operation& wanted) noexcept;
  bool goes_on(operation& failed, int error) noexcept;
  void starve(operation& wanted) noexcept;
  void feed_starved() noexcept;
  void finish(operation& over) noexcept;
  static bool is_enough(operation& over, long outcome) noexcept;
  static void take_outcome(operation& over, long outcome) noexcept;
  static void count_bytes(operation& over, long outcome) noexcept {
    const auto moved = static_cast<std::size_t>(outcome);
    if (over.file->polled) {
      polled_state& socket = polled(over);
      bool& may = socket.may[over.way];
      may = true;
      if (moved != over.rest_bytes() && moved != 0) {
        // With a hang-up, there is no further event for the end of the stream.
        may = over.way == inward && (!socket.short_is_empty || socket.hung_up);
      }
      if (over.parts != nullptr) [[unlikely]] {
        over.parts->skip(moved);
      }
    }
    over.done += moved;
  }
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
  std::unique_ptr<epoll_engine> sockets_;  // once there are sockets, if epoll is for them
  std::string choice_;
  std::string socket_choice_;
  bool sockets_by_epoll_;
  resolver resolver_;
  operation_queue backlog_;  // the engine had no room
  operation_queue ended_;    // cancelled, or to be closed: told at the next collect()
  // The system had no descriptor, or no room for one more connection or datagram.
  operation_queue starved_;
  time_point feeding_time_;  // of those, if there are any
  operation* oldest_ = nullptr;
  operation* newest_ = nullptr;
  std::size_t awaited_ = 0;          // by a strand
  std::size_t prompt_ = 0;           // of those, the ones that end by themselves
  std::size_t woken_ = 0;            // strands, so far
  std::size_t files_in_flight_ = 0;  // operations that are none of sockets
  unsigned at_once_ = 0;             // operations done so since anybody has waited
  std::size_t references_ = 1;
  bool waited_ = false;  // since the last keep_up()
};

}  // namespace heddle::coop::io::detail
