#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/coop/detail/door.hpp"
#include "heddle/coop/detail/fiber.hpp"
#include "heddle/coop/detail/idle_fibers.hpp"
#include "heddle/coop/detail/own_thread.hpp"
#include "heddle/coop/detail/ready_queue.hpp"
#include "heddle/coop/detail/scheduler_group.hpp"
#include "heddle/coop/detail/scheduler_list.hpp"
#include "heddle/coop/detail/spawn_message.hpp"
#include "heddle/coop/detail/strand_block.hpp"
#include "heddle/coop/detail/strand_registry.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/detail/timer_queue.hpp"
#include "heddle/coop/ext/reactor.hpp"
#include "heddle/coop/stop_handle.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/task.hpp"

// Whether each spawn and each wake-up is checked to be by the scheduler's own thread: in debugging
// builds, which are not optimised, unless it is said.
#if !defined(HEDDLE_THREAD_CHECKS)
#if defined(NDEBUG) || defined(__OPTIMIZE__)
#define HEDDLE_THREAD_CHECKS 0
#else
#define HEDDLE_THREAD_CHECKS 1
#endif
#endif

namespace heddle::coop {

namespace detail {
class watch;
}

/// The clock of a scheduler.
enum class clock_policy {
  real,       // the steady clock; with nothing ready, the thread sleeps until the next timer
  simulated,  // virtual time: stands still while strands run; with nothing ready, it jumps to the
              // next timer
};

struct scheduler_options {
  clock_policy clock = clock_policy::real;
  /// Set: the next strand is chosen at random, the same way for the same seed. Not set: the one
  /// that has been ready the longest.
  std::optional<std::uint64_t> random_seed = {};
  /// The stack size of each fiber that is not spawned with a stack_size, at least
  /// stack::minimum_bytes.
  std::size_t stack_bytes = 64 * 1024;
  /// Without one, fibers may have stacks smaller than a page: see `stack`.
  coop::stack_guard stack_guard = coop::stack_guard::page;
  /// Whether strands wait for more than what strands do: for what other threads post() or give by
  /// parallel:: types; in wait_for(), for the real clock, another thread's variable, a device. If
  /// so, all of them waiting is no deadlock; the scheduler sleeps until something is posted, and
  /// evaluates predicates of wait_for(), if there are any, again every 50 µs.
  bool outside_events = false;
};

/// Thrown by scheduler::run() when no strand can ever run again, yet some have not ended; what()
/// names each of them and what it waits for.
class deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs strands of both kinds on one kernel thread, one at a time, each until it waits, yields or
/// ends: cooperative multithreading (CM).
///
///     scheduler s;
///     s.spawn([] { for (;;) { step(); await(yield()); } }, "stackful");     // a fiber
///     s.spawn([]() -> task<> { co_await sleep_for(1s); }, "stackless");     // a task
///     s.run();
///
/// Everything that waits is an awaitable: a task says `co_await x`, a fiber `await(x)`.
///
/// The order is deterministic: first ready, first run. A scheduler, and everything that strands of
/// it share, belongs to the thread that made it; other threads reach it by post(), by a stop_handle
/// and by the types of parallel/. With HEDDLE_THREAD_CHECKS (by default in builds that are neither
/// optimised nor define NDEBUG) a spawn or a wake-up by another thread ends the program with a
/// message; one of run() or cancel() always does.
class scheduler {
 public:
  /// Throws std::invalid_argument if the stacks are too small.
  explicit scheduler(scheduler_options options = {});
  /// Strands that have not ended are destroyed, the youngest first: what lives on their stacks and
  /// in their frames is destructed. Destructors must not wait then.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Makes a strand that is ready to run `body()`: in its coroutine frames if that returns a
  /// task<T>, otherwise as a fiber, with a stack of its own from its first turn on. `body` lives
  /// until the strand has ended; so a lambda that is a coroutine may capture.
  ///
  /// An exception that leaves the body goes to the strand that joins; if none does, run() throws
  /// it, when the others have ended, the first if there are several.
  template <class F>
  auto spawn(F&& body, std::string_view name = {})
      -> strand<detail::strand_result<std::decay_t<F>>> {
    return add(detail::make_block(std::forward<F>(body)), name);
  }
  /// The same as a fiber whose stack has so many bytes, for one that calls more deeply than the
  /// others, or less. Rounded up to a power of two; the guard is as the scheduler's stacks'. Stacks
  /// that are free wait for the next strand of their size. Throws std::invalid_argument if it is
  /// too small or too large for any stack.
  ///
  ///     s.spawn(stack_size{1024 * 1024}, [] { parse(document); }, "parser");
  template <class F>
  auto spawn(stack_size stack, F&& body, std::string_view name = {})
      -> strand<detail::strand_result<std::decay_t<F>>> {
    static_assert(!detail::is_task<std::invoke_result_t<std::decay_t<F>&>>,
                  "a task has no stack: it runs on that of run()");
    const std::size_t size = fiber_size(stack);
    auto* const block = detail::make_block(std::forward<F>(body));
    block->stack_bytes = size;
    return add(block, name);
  }
  template <class T>
  strand<T> spawn(task<T> body, std::string_view name = {}) {
    return add(detail::make_block(std::move(body)), name);
  }

  /// Makes a strand that runs `body()`, as spawn() does, but from any thread, without a handle, and
  /// soon: when the scheduler has nothing else to run, or after some tens of turns. One that sleeps
  /// is woken, by one system call. The scheduler must not be destroyed meanwhile; if run() has
  /// returned, the strand begins in the next one. Where all others wait, run() only waits for posts
  /// if scheduler_options::outside_events says that there will be some.
  ///
  ///     std::thread other([&] { s.post([&] { finished.V(); }); });
  template <class F>
  void post(F&& body, std::string_view name = {}) {
    post(detail::make_spawn_message(std::nullopt, std::forward<F>(body), name));
  }
  template <class F>
  void post(stack_size stack, F&& body, std::string_view name = {}) {
    static_assert(!detail::is_task<std::invoke_result_t<std::decay_t<F>&>>,
                  "a task has no stack: it runs on that of run()");
    static_cast<void>(fiber_size(stack));  // here, where it can throw
    post(detail::make_spawn_message(stack, std::forward<F>(body), name));
  }

  /// Runs until every strand has ended. May be called again after more were spawned; not from a
  /// strand. Throws `deadlock`; the exception of a strand that nobody has joined;
  /// std::system_error if there is no room for a stack. Strands that it leaves go on in the next
  /// call. They are destroyed before, as by the destructor, when something that they may use goes
  /// on this thread: a lock, a semaphore, a channel and the like.
  void run();

  /// The time on its clock.
  [[nodiscard]] time_point now() const noexcept;
  [[nodiscard]] clock_policy clock() const noexcept { return options_.clock; }

  /// Strands that have not ended.
  [[nodiscard]] std::size_t alive() const noexcept { return all_.size(); }

  /// One line for each strand that has not ended: its number, its name, what it waits for.
  [[nodiscard]] std::string dump() const;

 private:
  friend class scheduler_access;
  friend detail::fiber;  // goes from one strand to the next on its own stack

  template <class T>
  strand<T> add(detail::result_block<T>* block, std::string_view name) {
    strand<T> handle(block);  // frees it if there is no memory
#if HEDDLE_THREAD_CHECKS
    if (detail::this_scheduler() != this) require_own_thread("spawns a strand in");
#endif
    struct registration {  // taken back where the ready queue cannot grow
      scheduler& its;
      detail::strand_block* strand;
      ~registration() {
        if (strand != nullptr) its.all_.remove(*strand);
      }
    };
    block->owner = this;
    if (!name.empty()) block->extra().name = name;
    all_.add(*block);
    registration made{*this, block};
    if (is_told_of_spawns_) [[unlikely]]
      note_spawned(*block);
    ready_.push(*block);
    made.strand = nullptr;
    block->references = 2;  // last: a handle that is dropped at once then costs nothing
    return handle;
  }

  /// Takes the next strand out of the ready queue; null if nothing can run. `leaving`: the fiber
  /// that asks, from its own stack, to go there.
  [[gnu::always_inline]] detail::strand_block* next(detail::strand_block* leaving = nullptr) {
    if (--turns_ == 0 || ready_.empty()) [[unlikely]] {
      return next_slow(leaving);
    }
    detail::strand_block& first = ready_.pop_slot();
    return detail::may_run(first.status) ? &first : next_special(first);
  }
  detail::strand_block* next_slow(detail::strand_block* leaving);
  detail::strand_block* next_special(detail::strand_block& slot);
  detail::strand_block* next_polled(detail::strand_block* candidate);
  detail::strand_block* pop() {
    return options_.random_seed ? ready_.pop_any(random_) : ready_.pop();
  }
  [[gnu::always_inline]] inline void switch_fiber(detail::strand_block& self,
                                                  detail::strand_block* to);

  // To the recorder, if there is one: see coop/core/announce.cpp.
  struct announcer {
    bool on;
    std::uint64_t first_number = 0;  // the numbers of this scheduler's strands follow
    std::uint64_t running = 0;       // as was said last
    announcer() noexcept;
  };
  [[nodiscard]] std::uint64_t number(const detail::strand_block& strand) const noexcept {
    return announcer_.first_number + all_.id(strand);
  }
  void announce_made(const detail::strand_block& strand) const noexcept;
  void announce_wait(const detail::strand_block& strand) const;
  void announce_end(const detail::strand_block& strand) const noexcept;
  void announce_turn(const detail::strand_block* to);

  void note_spawned(detail::strand_block& spawned);
  void run_strands();
  detail::strand_block* next_after_timers();
  void wake_due();
  bool pass_time(bool polled);
  bool nap(std::optional<time_point> until);

  detail::strand_block* run_tasks(detail::strand_block* first);
  void run_fiber(detail::strand_block& strand);
  void start_on(detail::strand_block& strand, detail::fiber& runner) noexcept;
  std::unique_ptr<detail::fiber> let_go(detail::fiber& runner) noexcept;
  void take_in(std::unique_ptr<detail::fiber> runner);
  void send_leaving() noexcept;
  void send(detail::strand_block& strand, detail::strand_carrier& carrier) noexcept;
  void arrive(detail::strand_block& strand);
  detail::fiber& new_fiber(std::size_t size);
  [[nodiscard]] std::size_t fiber_size(stack_size wanted) const;
  inline void finish(detail::strand_block& strand);
  void finish_rare(detail::strand_block& strand);
  void destroy_strand(detail::strand_block& strand) noexcept;
  void destroy_strands() noexcept;
  void make_ready(detail::strand_block& strand) {
    strand.status = detail::strand_status::ready;
    ready_.push(strand);
  }
  void cancel(detail::strand_block& strand);
  void give_up(detail::strand_block& strand, detail::wake_reason reason);
  void leave_all(detail::strand_block& strand) noexcept;
  bool leave_others(detail::wait_node& woken, detail::strand_block& strand) noexcept;
  void post(message& posted) noexcept;
  bool deliver_posts() noexcept;
  void close_door() noexcept;
  [[nodiscard]] bool on_own_thread() const noexcept;
  /// Ends the program with a message on a thread that may not use it.
  void require_own_thread(const char* does) const noexcept;
  stop_handle stopper_of(const detail::strand_block& strand);
  void note_unseen(detail::strand_block& failed);
  void forget_unseen(detail::strand_block& failed) noexcept;
  [[nodiscard]] std::string dump_unseen() const;
  std::exception_ptr take_unhandled() noexcept;

  detail::ready_queue ready_;
  std::uint32_t turns_ = 1;  // left until next() takes the slow way
  detail::strand_block* named_ = nullptr;
  detail::strand_block* handed_ = nullptr;  // from a fiber to run(): what to run next
  detail::fiber_context main_;              // of run()
  detail::timer_queue timers_;
  reactor* reactor_ = nullptr;
  detail::scheduler_group* group_ = nullptr;  // null: it runs alone
  struct {
    detail::strand_block* strand = nullptr;  // its status is `leaving`
    detail::strand_carrier* carrier = nullptr;
  } leaving_;
  scheduler_options options_;
  std::mt19937_64 random_;
  time_point simulated_now_{};
  detail::strand_registry all_;
  std::vector<std::unique_ptr<detail::fiber>> fibers_;
  detail::idle_fibers idle_fibers_;
  std::exception_ptr unhandled_;
  // Those that ended by an exception and are not joined, while handles refer to them.
  std::vector<detail::strand_block*> unseen_;
  std::atomic<bool> in_run_{false};   // read by other threads to see whether they may use it
  std::uint32_t expected_posts_ = 0;  // see scheduler_access::expect_post()
  detail::own_thread thread_;
  detail::door door_;
  detail::stop_line_end stop_line_;
  announcer announcer_;
  bool is_told_of_spawns_ = false;  // by note_spawned(): a recorder, or strands in contexts
  detail::watch* watch_ = nullptr;  // of a watchdog
  detail::scheduler_list_entry listed_{*this};
  detail::strands_left left_{
      [](void* self) noexcept { static_cast<scheduler*>(self)->destroy_strands(); }, this};
};

inline void scheduler::finish(detail::strand_block& strand) {
  strand.status = detail::strand_status::finished;
  if (strand.references != 1) [[unlikely]] {
    finish_rare(strand);
  } else if (strand.call < detail::block_call::run) [[likely]] {
    all_.remove(strand);
    detail::frame_pool::recycle(&strand, static_cast<std::size_t>(strand.call));
  } else if (strand.rare != nullptr) {
    finish_rare(strand);
  } else {
    strand.coroutine = nullptr;
    all_.remove(strand);
    strand.ask(detail::block_call::dispose);
  }
}

inline void scheduler::switch_fiber(detail::strand_block& self, detail::strand_block* to) {
  if (to == &self) return;
  if (to != nullptr && to->kind == detail::strand_kind::fiber && to->runner != nullptr) [[likely]] {
    detail::set_this_strand(to);
    detail::fiber_context::switch_to(self.runner->context, to->runner->context);
  } else {
    handed_ = to;
    detail::fiber_context::switch_to(self.runner->context, main_);
  }
}

}  // namespace heddle::coop
