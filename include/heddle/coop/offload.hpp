#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/wait_list.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {

namespace detail {

class offload_wait;

/// A call on its way to a thread of a pool, and its result on the way back.
struct offload_job : message {
  enum class stage : std::uint8_t { queued, runs, over };

  void (*call)(void* job);
  void (*free)(offload_job& job) noexcept;
  offload_wait* wait = nullptr;  // of the strand, on whose thread this is used; null: it is gone
  scheduler* owner = nullptr;
  std::uint64_t number = 0;  // of the strand
  std::exception_ptr error;
  // Under the pool's lock:
  offload_job* following = nullptr;  // in the queue
  stage reached = stage::queued;
  bool is_waited_for = false;  // by the destructor of a wait, which no message reaches any more

  offload_job(void (*its_call)(void*), void (*its_free)(offload_job&) noexcept) noexcept
      : message(&deliver_it), call(its_call), free(its_free) {}
  static void deliver_it(message& self, scheduler* to) noexcept;
};

template <class F>
struct offload_call final : offload_job {
  using result = std::invoke_result_t<F&>;

  F body;
  [[no_unique_address]] std::conditional_t<std::is_void_v<result>, no_value, std::optional<result>>
      value;

  explicit offload_call(F&& its_body)
      : offload_job(&call_it, &free_it), body(std::move(its_body)) {}
  static void call_it(void* job) {
    auto& self = *static_cast<offload_call*>(static_cast<offload_job*>(job));
    if constexpr (std::is_void_v<result>) {
      self.body();
    } else {
      self.value.emplace(self.body());
    }
  }
  static void free_it(offload_job& job) noexcept {
    auto& self = static_cast<offload_call&>(job);
    self.~offload_call();
    frame_pool::release(&self, sizeof(offload_call));
  }
};

}  // namespace detail

/// Threads that run calls which block: see offload(). They start when there is work for them, up to
/// as many as it was made with, and stay. They have all signals blocked, and may use every
/// processor that the program might use when it started.
class thread_pool {
 public:
  /// Throws std::invalid_argument if `most_threads` is 0.
  explicit thread_pool(unsigned most_threads);
  /// Waits for the calls that were begun or are queued.
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// The one of the process, of at most 64 threads, which end with the process.
  static thread_pool& of_process();

  /// Threads that were started.
  [[nodiscard]] unsigned threads() const;

 private:
  friend detail::offload_wait;
  struct state;
  std::unique_ptr<state> state_;
};

namespace detail {

/// A strand's wait for an offloaded call.
class offload_wait : public wait_list {
 public:
  offload_wait(thread_pool& pool, offload_job& job) noexcept;
  ~offload_wait();

  /// Queues the call, and parks the strand. Throws std::system_error if there is no thread for it.
  void park(strand_block& self);

 private:
  friend offload_job;

  static bool on_given_up(wait_list& list, wait_node& node);
  bool withdraw() noexcept;
  void run_to_the_end() noexcept;
  void arrived() noexcept;

  thread_pool& pool_;
  offload_job& job_;
  bool is_under_way_ = false;
  wait_node node_;
};

template <class F>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] offload_awaitable
    : public awaitable<offload_awaitable<F>> {
 public:
  using result = typename offload_call<F>::result;

  offload_awaitable(thread_pool & pool, F && body)
      : pool_(&pool),
        job_(new (frame_pool::allocate(sizeof(offload_call<F>))) offload_call<F>(std::move(body))) {
  }
  bool ready() const noexcept { return false; }
  void park(strand_block & self) { wait_.make(*pool_, *job_).park(self); }
  result get() {
    if (job_->error) std::rethrow_exception(job_->error);
    if constexpr (!std::is_void_v<result>) return std::move(*job_->value);
  }

 private:
  struct freed {
    void operator()(offload_job* job) const noexcept { job->free(*job); }
  };

  thread_pool* pool_;
  std::unique_ptr<offload_call<F>, freed> job_;
  made_at_park<offload_wait> wait_;  // goes before the job, which nobody uses any more then
};

}  // namespace detail

/// Calls `body()` on a thread of the pool, where it may block, and results in what it returns, or
/// throws what it throws: for calls that have no awaitable. Meanwhile other strands run. `body` may
/// use what belongs to the strand that waits, but nothing that belongs to the scheduler: there it
/// is in no strand, and cannot wait.
///
///     const std::string page = co_await offload([&] { return database.query(text); });
///
/// Suspends always; made ready by a message, on this thread, when the call is over. Calls begin in
/// the order in which they were offloaded. Cancelled, out of time or destroyed while it waits: a
/// call that has not begun never runs. One that has begun cannot be stopped, so that the wait lasts
/// until it is over; then its result is kept, and a cancellation is thrown at the next wait. If the
/// strand is being destroyed, the thread blocks so long. While a call is under way, virtual time
/// stands still, and that all strands wait is no deadlock.
template <class F>
[[nodiscard]] detail::offload_awaitable<F> offload(thread_pool& pool, F body) {
  using result = std::invoke_result_t<F&>;
  static_assert(!detail::is_task<result>,
                "offload(f) calls f where nothing can wait: f is no coroutine");
  static_assert(!std::is_reference_v<result>, "return a pointer, or a value");
  static_assert(alignof(detail::offload_call<F>) <= detail::frame_pool::alignment,
                "the body asks for too much alignment");
  return {pool, std::move(body)};
}
template <class F>
[[nodiscard]] detail::offload_awaitable<F> offload(F body) {
  return offload(thread_pool::of_process(), std::move(body));
}

}  // namespace heddle::coop
