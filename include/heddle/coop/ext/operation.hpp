#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/detail/timer_queue.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/io/buffer.hpp"
#include "heddle/coop/io/result.hpp"

namespace heddle::coop::io {

namespace detail {

class core;
struct operation;

/// Which of the two ways through a socket an operation uses.
enum direction : std::uint8_t { inward, outward };

/// An open file or socket, or one that is being opened.
struct file_state {
  core* owner;  // counted
  std::string name;
  int fd = -1;                   // -1: not open yet, or not any more
  bool prompt = true;            // a regular file or a block device: its operations end soon
  std::uint32_t references = 1;  // handles and operations
  std::uint32_t in_flight = 0;   // operations that the engine has or is about to get
  operation* closer = nullptr;   // waits for those to end
  bool polled = false;           // a polled_state: a socket, or what else is waited for as one
  /// Whether a call might not have to wait, by direction. Of a polled_state, false only after one
  /// that would have; of others always: their calls are the engine's.
  bool may[2] = {false, false};
};

void release(file_state* state) noexcept;

/// A counted reference to an open file.
class file_ref {
 public:
  file_ref() noexcept = default;
  /// Takes over a reference.
  explicit file_ref(file_state* state) noexcept : state_(state) {}
  file_ref(const file_ref& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) ++state_->references;
  }
  file_ref(file_ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  file_ref& operator=(file_ref other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~file_ref() {
    if (state_ != nullptr) release(state_);
  }
  file_state* operator->() const noexcept { return state_; }
  file_state* get() const noexcept { return state_; }

 private:
  file_state* state_ = nullptr;
};

enum class verb : std::uint8_t {
  open,
  close,
  read,
  write,
  fsync,
  fdatasync,
  size,
  // Operations of sockets and the like alone:
  receive,
  send,
  accept,
  connect,
  readable,
  receive_from,  // a datagram
  send_to,
};

constexpr direction direction_of(verb what) noexcept {
  return what == verb::send || what == verb::write || what == verb::connect || what == verb::send_to
             ? outward
             : inward;
}

/// The words with which a report names the operation that a strand waits for, by verb.
inline constexpr const char* verb_names[] = {
    "an open of",      "a close of",  "a read of",       "a write of",   "an fsync of",
    "an fdatasync of", "the size of", "a read from",     "a write to",   "an accept at",
    "a connect to",    "news from",   "a datagram from", "a datagram to"};
inline const std::string no_name;

bool on_given_up(coop::detail::wait_list& list, coop::detail::wait_node& node);

struct gathered;
struct connecting;
struct envelope;
// They are known only to those who need them.
struct gathered_deleter {
  void operator()(gathered* parts) const noexcept;
};
struct connecting_deleter {
  void operator()(connecting* plan) const noexcept;
};
struct envelope_deleter {
  void operator()(envelope* around) const noexcept;
};

/// One request to the kernel, with all that the kernel uses meanwhile. The awaitable owns it until
/// it is given up while in flight: then the core does, until the kernel has let go.
///
/// It is the list in which the strand waits, so that the report of a deadlock can name it.
struct operation final : coop::detail::wait_list {
  static constexpr std::int64_t at_position = -1;

  verb what;
  direction way;              // of it
  bool whole = false;         // started again until everything is moved
  bool in_flight = false;     // the core counts it
  bool taken = false;         // the engine has it; the others wait for room or for their turn
  bool cancel_asked = false;  // the strand's wait was given up
  bool abandoned = false;     // the strand is gone
  bool prompt = true;         // ends by itself
  bool tried_again = false;   // now and then, as no event says when it need not wait
  int fd = -1;
  int error = 0;  // an errno, once it is over
  int flags = 0;  // of open
  mode_t mode = 0;
  std::int64_t offset = at_position;
  std::byte* data = nullptr;
  std::size_t size = 0;  // to be moved
  std::size_t done = 0;  // moved
  file_ref file;
  file_ref accepted;  // by accept: becomes a socket when that is over
  buffer pinned;      // what `data` points into
  std::unique_ptr<gathered, gathered_deleter> parts;        // of a send from several buffers
  std::unique_ptr<connecting, connecting_deleter> connect;  // where to
  std::unique_ptr<envelope, envelope_deleter> around;       // of a datagram
  coop::detail::wait_node node;
  operation* newer = nullptr;  // all in flight
  operation* older = nullptr;
  operation* next = nullptr;  // in a queue of whoever has it

  /// `memory` is what is moved, or where the answer goes.
  operation(verb its_verb, const file_ref& its_file, const buffer& memory = {}) noexcept
      : wait_list(verb_names[static_cast<std::size_t>(its_verb)],
                  its_file.get() != nullptr ? its_file->name : no_name, &on_given_up),
        what(its_verb),
        way(direction_of(its_verb)),
        data(memory.data()),
        size(memory.size()),
        file(its_file),
        pinned(memory) {}

  static void* operator new(std::size_t bytes) { return coop::detail::frame_pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    coop::detail::frame_pool::release(memory, bytes);
  }

  [[nodiscard]] bool moves_bytes() const noexcept {
    return what == verb::read || what == verb::write || what == verb::receive ||
           what == verb::send || moves_datagram();
  }
  [[nodiscard]] bool moves_datagram() const noexcept {
    return what == verb::receive_from || what == verb::send_to;
  }
  /// Whether it makes what its file refers to.
  [[nodiscard]] bool opens() const noexcept { return what == verb::open || what == verb::connect; }
  // The part of the buffer that is not transferred yet.
  [[nodiscard]] std::byte* rest() const noexcept { return data + done; }
  [[nodiscard]] std::size_t rest_bytes() const noexcept {
    // The most that Linux moves at once (MAX_RW_COUNT, with pages of 4 KB).
    constexpr std::size_t most = 0x7ffff000;
    return size - done < most ? size - done : most;
  }
  [[nodiscard]] std::int64_t rest_offset() const noexcept {
    return offset < 0 ? at_position : offset + static_cast<std::int64_t>(done);
  }
  /// "a read of NAME".
  [[nodiscard]] std::string described() const { return std::string(kind()) + ' ' + name(); }

  /// For the engine that has it.
  template <class T>
  [[nodiscard]] T& engine_data() noexcept {
    static_assert(std::is_trivial_v<T> && sizeof(T) <= sizeof(engine_bytes));
    return *std::launder(reinterpret_cast<T*>(engine_bytes));
  }
  alignas(16) std::byte engine_bytes[64];
};

/// Before it parks: whether it is over already, as its file is closed.
inline bool refuse(operation& wanted) noexcept {
  if (wanted.file.get() != nullptr && (wanted.file->fd >= 0) != wanted.opens()) {
    return false;
  }
  wanted.error = EBADF;
  return true;
}
/// Before it parks, of a polled_state: whether it is over at once, by a system call that does not
/// wait.
bool done_at_once(operation& wanted) noexcept;
/// Parks the strand, and starts the operation.
void start(operation& wanted, coop::detail::strand_block& self);
/// The awaitable is gone: frees the operation, now or when it is over.
void drop(operation* unwanted) noexcept;

template <class T>
class limited_operation;

/// Awaits the end of an operation.
///
/// Suspends always, unless the file is closed, or a socket can do it without waiting (but at most
/// some dozen times in a row, so that others have their turn); made ready by the scheduler, at some
/// strand's wait or when nothing else is ready, on its thread. Cancelled or out of time, it asks
/// the kernel to stop, and goes on waiting until that is done: afterwards the kernel touches
/// nothing any more. If the operation ends as usual all the same, the wait results in what it
/// resulted in, and the cancellation is told at the next wait. Out of time when part of a
/// read_all() or write_all() is done, it results in that: ETIME (std::errc::stream_timeout), and
/// reached() is what was moved. Destroyed while it waits: the operation is cancelled, and keeps its
/// file and its buffer until the kernel is done with both; no strand waits for that.
template <class T>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] operation_awaitable
    : public coop::detail::awaitable<operation_awaitable<T>> {
 public:
  explicit operation_awaitable(operation * wanted) noexcept : operation_(wanted) {}
  operation_awaitable(operation_awaitable && other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)) {}
  operation_awaitable& operator=(operation_awaitable&&) = delete;
  ~operation_awaitable() {
    if (operation_ != nullptr) drop(operation_);
  }

  bool ready() const noexcept {
    if (refuse(*operation_)) return true;
    const file_state& file = *operation_->file.get();
    // close(), an operation without a result, is tried in any case.
    const bool may = std::is_void_v<T> ? file.polled : file.may[operation_->way];
    return may && done_at_once(*operation_);
  }
  void park(coop::detail::strand_block & self) const { start(*operation_, self); }

  /// The same with a limit in time, after which its result is the error std::errc::timed_out: one
  /// result for both, where `coop::within(limit, x)` has an optional of one. What was moved by then
  /// is reached().
  ///
  ///     auto read = co_await peer.read(page).within(10s);
  limited_operation<T> within(coop::detail::length limit)&& noexcept {
    return limited_operation<T>(limit, std::move(*this));
  }
  result<T> get() const { return result_of(operation_->error); }
  /// With another error than its own.
  result<T> result_of(int error) const {
    const operation& over = *operation_;
    if constexpr (std::is_void_v<T>) {
      if (error == 0) return {};
      return {error, over.described()};
    } else {
      T value{};
      if constexpr (std::is_same_v<T, std::size_t>) {
        value = over.done;
      } else if constexpr (requires { T::of(over); }) {
        value = T::of(over);
      } else {
        value = T(over.accepted.get() != nullptr ? over.accepted : over.file);
      }
      if (error == 0) [[likely]] {
        return result<T>(std::move(value));
      }
      return result<T>(error, over.described(), std::move(value));
    }
  }
  [[nodiscard]] int error() const noexcept { return operation_->error; }

 private:
  operation* operation_;
};

/// See operation_awaitable::within().
template <class T>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] limited_operation
    : public coop::detail::awaitable<limited_operation<T>> {
 public:
  limited_operation(duration limit, operation_awaitable<T> && limited) noexcept
      : limit_(limit), limited_(std::move(limited)) {}
  bool ready() const noexcept { return limited_.ready(); }
  void park(coop::detail::strand_block & self) {
    limited_.park(self);
    if (!self.is_waiting()) return;  // it was over while it parked
    const time_point until = coop::detail::later(self.owner->now(), limit_);
    if (scheduler_access::wake_before(self, until)) self_ = &self;
  }
  result<T> get() const {
    if (self_ != nullptr && self_->reason == coop::detail::wake_reason::timed_out) {
      self_->reason = coop::detail::wake_reason::granted;
      return limited_.result_of(ETIMEDOUT);
    }
    // Out of time, too, after a part: see there.
    return limited_.result_of(limited_.error() == ETIME ? ETIMEDOUT : limited_.error());
  }

 private:
  duration limit_;
  operation_awaitable<T> limited_;
  coop::detail::strand_block* self_ = nullptr;  // once it waits
};

}  // namespace detail
}  // namespace heddle::coop::io
