#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/scheduler_group.hpp"
#include "heddle/coop/detail/spawn_message.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/ext/spin.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::parallel {

namespace detail {

class team;
/// Converts `length` to a group's ticks; their rate is measured once.
std::uint64_t ticks_in(duration length);

/// The states of a group's thread with regard to sleep.
enum class rest_state : std::uint32_t {
  awake,
  asleep,        // on the futex of this word; a timer may end it
  passive,       // as asleep, and nothing but another group can end it
  in_reactor,    // in reactor::wait()
  interrupting,  // somebody is ending that by reactor::interrupt()
};

}  // namespace detail

/// Strands that run on one kernel thread, pinned to one processor, one at a time: a scheduler that
/// others can wake. Made by `groups`. What only strands of one group use needs no synchronisation,
/// and all that serves a scheduler's strands serves them; what strands of several groups share is
/// in parallel/.
class group final : private coop::detail::scheduler_group {
 public:
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group();

  /// Makes a strand in this group, as scheduler::spawn() does. From any thread: a strand of any
  /// group while they run, or the thread that made them, before. `body` is moved there and
  /// destroyed there. An exception that leaves it is thrown by groups::run().
  ///
  /// Allocates a piece of the body's size; costs one cache line between the processors, and a
  /// system call if the group sleeps.
  template <class F>
  void spawn(F&& body, std::string_view name = {}) {
    post_spawn(std::nullopt, std::forward<F>(body), name);
  }
  /// The same as a fiber with a stack of that size. Throws std::invalid_argument as the
  /// scheduler's.
  template <class F>
  void spawn(stack_size stack, F&& body, std::string_view name = {}) {
    static_assert(!coop::detail::is_task<std::invoke_result_t<std::decay_t<F>&>>,
                  "a task has no stack: it runs on that of its group");
    if (scheduler_) scheduler_access::require_fiber_size(*scheduler_, stack);  // else it is gone
    post_spawn(stack, std::forward<F>(body), name);
  }

  /// Its scheduler. For its own strands, and, while the groups do not run, for the thread that made
  /// them: a strand of another group that asks for it ends the program with a message.
  [[nodiscard]] coop::scheduler& scheduler() noexcept {
    if (const group* const here = current(); here != nullptr && here != this) [[unlikely]] {
      asked_from(*here);
    }
    return *scheduler_;
  }
  /// From 0, among the groups it was made with.
  [[nodiscard]] std::size_t index() const noexcept { return scheduler_group::index(); }
  /// The number of the processor to which its thread is pinned; -1 if it is not.
  [[nodiscard]] int processor() const noexcept { return set_.processor; }

  /// The group of the running strand; null in others.
  [[nodiscard]] static group* current() noexcept {
    const coop::scheduler* const running = coop::detail::this_scheduler();
    return running != nullptr ? of(*running) : nullptr;
  }
  /// The group of a scheduler; null if it is in none.
  [[nodiscard]] static group* of(const coop::scheduler& which) noexcept {
    return static_cast<group*>(scheduler_access::group(which));  // there are no other kinds
  }

  /// Strands that its balancer has given to others so far. On its own thread, or while the groups
  /// do not run.
  [[nodiscard]] std::uint64_t given_away() const noexcept { return given_away_; }

  // ---- for those who write awaitables and messages ----------------------------------------------

  /// Has the group deliver `posted`, soon: when it has nothing else to run, or after some tens of
  /// turns. From any thread; never waits. A group that sleeps is woken, by one system call.
  void post(message& posted) noexcept override {
    // A sleeper says that it sleeps, then looks into the inbox; we do the opposite, and all four
    // are seq_cst: one of the two sees the other. Who finds the inbox filled leaves it to who
    // filled it.
    if (inbox_.push(posted) && rest_.load(std::memory_order_seq_cst) != detail::rest_state::awake)
        [[unlikely]] {
      wake();
    }
  }

  /// Delivers what has been posted; returns whether there was anything. On its own thread.
  bool receive() noexcept;

  /// For a strand of this group that is about to wait for another group: calls `granted()` again
  /// and again, for a short time, while there is nothing else to run. Returns whether it ever held.
  /// Then a hand-over costs a cache line, and no switch.
  template <class Granted>
  bool spin_for(const Granted& granted) noexcept {
    if (!may_spin()) return false;
    // The clock is read when the first looks were in vain: many are not.
    std::uint64_t begin = 0;
    for (;;) {
      for (int i = 0; i < spins_between_looks; ++i) {
        if (granted()) return true;
        if (!inbox_.empty()) return false;
        detail::pause();
      }
      const std::uint64_t now = ticks();
      if (begin == 0) begin = now;
      if (now - begin > set_.spin_ticks) return false;
    }
  }

 private:
  friend detail::team;
  friend std::uint64_t detail::ticks_in(duration length);

  struct settings {
    int processor;
    std::uint64_t spin_ticks;  // 0: it does not spin
    std::uint64_t look_ticks;  // between looks into the inbox, about
    bool balances;
  };
  group(detail::team& its_team, std::size_t index, const settings& set) noexcept
      : scheduler_group(index), team_(its_team), set_(set) {}
  /// On its thread, before all else and after all else.
  void open(const scheduler_options& options);
  void close() noexcept;
  /// On its thread, while it does not run.
  void destroy_strands() noexcept;
  /// Runs its strands until none can ever run again; returns the exception of a strand to which no
  /// handle refers, if any.
  std::exception_ptr run();

  template <class F>
  void post_spawn(std::optional<stack_size> stack, F&& body, std::string_view name) {
    post(coop::detail::make_spawn_message(stack, std::forward<F>(body), name));
  }

  /// Reads a fast clock, in ticks of its own: see ticks_in().
  static std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }
  void asked_from(const group& other) const noexcept;
  [[nodiscard]] bool may_spin() noexcept;
  /// Ends the group's sleep, if it sleeps.
  void wake() noexcept;
  bool rest(std::optional<time_point> until, reactor* events) noexcept override;
  bool rest_spinning(std::optional<time_point> until) noexcept;
  void rest_in_reactor(std::optional<time_point> until, reactor& events) noexcept;
  void rest_asleep(time_point until) noexcept;
  void rest_passive() noexcept;
  std::uint32_t look() noexcept override;
  bool deliver() noexcept override { return !inbox_.empty() && receive(); }
  [[nodiscard]] std::uint32_t turns_to_run() noexcept;
  void balance() noexcept;

  static constexpr int spins_between_looks = 32;

  detail::team& team_;
  const settings set_;
  std::optional<coop::scheduler> scheduler_;
  bool expects_messages_ = false;  // the last rest was ended by one
  std::uint32_t received_ = 0;     // messages, since surplus memory was last returned
  std::uint32_t turns_ = 1;        // see turns_to_run()
  std::uint64_t looked_at_ = 0;    // in ticks

  // On a line of their own: all that others write.
  alignas(detail::line_bytes) coop::detail::inbox inbox_;
  std::atomic<detail::rest_state> rest_{detail::rest_state::awake};
  // The fields that neighbours read, and add to, if the groups balance.
  alignas(detail::line_bytes) std::atomic<std::size_t> load_{0};  // strands ready, about
  std::uint64_t given_away_ = 0;
};

}  // namespace heddle::coop::parallel
