#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace heddle::coop::detail {

class link_side;
struct link_wait;

enum class envelope_kind : std::uint8_t {
  call,
  one_way,
  returned,  // a one-way message that comes back, as it cannot be sent on
  refused,   // one that comes back as the other end is being closed: `closing` follows
  closing,   // the other end is closed; the last that comes from there
};

/// The state of a call. The side that changes it to `over` or `abandoned` last gives the envelope
/// back.
enum class call_state : std::uint8_t {
  sent,       // its strand looks out, or is about to park
  parked,     // its strand waits: the reply has to be sent home
  over,       // the outcome is in the envelope
  abandoned,  // nobody waits for it any more
};

enum class call_outcome : std::uint8_t { replied, failed, closed };

/// Describes an exception that left a handler.
struct handler_error {
  std::string type;
  std::string what;
};

/// One message and, if it is a call, its reply. Made by the side that sends, which takes it back
/// and uses it again: messages cost no allocation, as soon as there have been as many at once.
struct link_envelope {
  link_envelope* next = nullptr;       // in a queue, or among those that are free
  link_envelope* made_next = nullptr;  // among all that its home has made
  link_side* const home;
  link_wait* wait = nullptr;  // of a parked call; for its home alone
  envelope_kind kind;
  call_outcome outcome = call_outcome::closed;
  std::atomic<call_state> state{call_state::sent};
  std::uint64_t number = 0;              // for a side that is a connection
  std::unique_ptr<handler_error> error;  // of one that has failed

  link_envelope(link_side& its_home, envelope_kind its_kind) noexcept
      : home(&its_home), kind(its_kind) {}
  virtual ~link_envelope() = default;
  /// Destroys what it carries.
  virtual void clear() noexcept {}
  /// It is not needed any more, and will be filled again.
  void reset() noexcept {
    clear();
    error.reset();
    wait = nullptr;
  }
};

/// First in, first out. For one thread.
class envelope_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void append(link_envelope& added) noexcept {
    added.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &added;
    last_ = &added;
    ++size_;
  }
  /// Not if empty().
  link_envelope& pop() noexcept {
    link_envelope& taken = *first_;
    first_ = taken.next;
    --size_;
    return taken;
  }

 private:
  link_envelope* first_ = nullptr;
  link_envelope* last_ = nullptr;
  std::size_t size_ = 0;
};

/// The envelopes that a side has made: owns all of them, and knows which are free. For one thread.
class envelope_pool {
 public:
  envelope_pool() noexcept = default;
  envelope_pool(const envelope_pool&) = delete;
  envelope_pool& operator=(const envelope_pool&) = delete;
  ~envelope_pool() {
    while (made_ != nullptr) delete std::exchange(made_, made_->made_next);
  }

  /// Whether none is free.
  [[nodiscard]] bool empty() const noexcept { return free_ == nullptr; }
  /// Not if empty().
  link_envelope& take() noexcept {
    link_envelope& taken = *free_;
    free_ = taken.next;
    return taken;
  }
  /// One of this pool is free again, and was reset().
  void put(link_envelope& unused) noexcept {
    unused.next = free_;
    free_ = &unused;
  }
  /// A new one.
  void own(link_envelope& made) noexcept {
    made.made_next = made_;
    made_ = &made;
    put(made);
  }

 private:
  link_envelope* free_ = nullptr;
  link_envelope* made_ = nullptr;
};

}  // namespace heddle::coop::detail
