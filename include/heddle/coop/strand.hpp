#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heddle/coop/awaitable.hpp"
#include "heddle/coop/frame_pool.hpp"
#include "heddle/coop/strand_block.hpp"
#include "heddle/coop/task.hpp"

namespace heddle::coop {

/// Thrown by join() when the strand was cancelled and so has no result.
class strand_cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// Runs `code(strand)`; what it throws becomes the strand's error, except forced_unwind.
/// Not inline, so that a program compiled without exceptions can use the scheduler.
void run_guarded(strand_block& strand, void (*code)(strand_block&));
/// Throws what the strand ended with, if it ended with an exception.
void rethrow_error(strand_block& strand);
void cancel(strand_block& strand);

inline void release(strand_block& strand) noexcept {
  if (--strand.references == 0) strand.destroy(&strand);
}

template <class T>
struct task_value {
  using type = T;
};
template <class T>
struct task_value<task<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

template <class F>
using strand_result = typename task_value<std::invoke_result_t<F&>>::type;

struct no_value {};

/// The result of a strand, moved out by join().
template <class T>
struct result_block : strand_block {
  using strand_block::strand_block;
  using result_type = T;
  using stored = std::conditional_t<
      std::is_void_v<T>, no_value,
      std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::remove_cv_t<T>>>;

  std::optional<stored> value;

  template <class F>
  void store(F&& code) {
    if constexpr (std::is_void_v<T>) {
      std::forward<F>(code)();
    } else if constexpr (std::is_reference_v<T>) {
      value.emplace(std::addressof(std::forward<F>(code)()));
    } else {
      value.emplace(std::forward<F>(code)());
    }
  }

  T take() {
    rethrow_error(*this);
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(**value);
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(*value);
    }
  }
};

template <class F>
struct fiber_block final : result_block<strand_result<F>> {
  std::optional<F> body;

  template <class Init>
  explicit fiber_block(Init&& init)
      : result_block<strand_result<F>>(&run, &dispose, &clear, strand_kind::fiber),
        body(std::forward<Init>(init)) {}

  static void run(frame_header* header) {
    run_guarded(static_cast<fiber_block&>(*header), [](strand_block& strand) {
      auto& self = static_cast<fiber_block&>(strand);
      self.store([&]() -> decltype(auto) { return std::invoke(*self.body); });
    });
  }
  static void clear(strand_block& strand) { static_cast<fiber_block&>(strand).body.reset(); }
  static void dispose(frame_header* header) {
    auto* const self = static_cast<fiber_block*>(header);
    self->~fiber_block();
    frame_pool::release(self, sizeof(fiber_block));
  }
};

template <class F>
struct task_block final : result_block<strand_result<F>> {
  using T = strand_result<F>;
  std::optional<F> maker;  // holds the captures of the coroutine, and so outlives it
  std::optional<task<T>> body;

  template <class Init>
  explicit task_block(Init&& init)
      : result_block<T>(&start, &dispose, &clear, strand_kind::task),
        maker(std::forward<Init>(init)) {}

  // First turn: makes the coroutine, whose end resumes this block, and runs it.
  static void start(frame_header* header) {
    auto& self = static_cast<task_block&>(*header);
    self.frame_header::resume = &ended;
    run_guarded(self, [](strand_block& strand) {
      auto& block = static_cast<task_block&>(strand);
      block.body.emplace(std::invoke(*block.maker));
    });
    if (!self.body.has_value()) {
      self.status = strand_status::finished;
      return;
    }
    self.body->start(self.as_continuation()).resume();
  }
  // The coroutine is at its end, but still on the call stack where a transfer is a call (-O0), so
  // that run() takes it away.
  static void ended(frame_header* header) {
    auto& self = static_cast<task_block&>(*header);
    run_guarded(self, [](strand_block& strand) {
      auto& block = static_cast<task_block&>(strand);
      block.store([&]() -> decltype(auto) { return block.body->result(); });
    });
    self.status = strand_status::finished;
  }
  static void clear(strand_block& strand) {
    auto& self = static_cast<task_block&>(strand);
    self.body.reset();
    self.maker.reset();
  }
  static void dispose(frame_header* header) {
    auto* const self = static_cast<task_block*>(header);
    self->~task_block();
    frame_pool::release(self, sizeof(task_block));
  }
};

template <class F>
auto* make_block(F&& body) {
  using D = std::decay_t<F>;
  using block =
      std::conditional_t<is_task<std::invoke_result_t<D&>>, task_block<D>, fiber_block<D>>;
  static_assert(alignof(block) <= alignof(std::max_align_t),
                "the body asks for too much alignment");
  return new (frame_pool::allocate(sizeof(block))) block(std::forward<F>(body));
}

}  // namespace detail

/// Refers to a strand of any result. Copies refer to the same one; it keeps what is left of an
/// ended strand, no more.
class strand_ref {
 public:
  strand_ref(const strand_ref& other) noexcept : block_(other.block_) { ++block_->references; }
  strand_ref(strand_ref&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  strand_ref& operator=(strand_ref other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~strand_ref() {
    if (block_ != nullptr) detail::release(*block_);
  }

  /// Whether it has ended.
  [[nodiscard]] bool done() const noexcept {
    return block_->status == detail::strand_status::finished;
  }
  [[nodiscard]] std::string_view name() const noexcept { return block_->name; }

  /// Asks the strand to end: its present wait, or else its next one, throws `cancelled`, once.
  /// What it was granted already it keeps, and is told at the wait after. Nothing for one that has
  /// ended; one that never ran ends without running.
  void cancel() const { detail::cancel(*block_); }

  /// For those who write awaitables.
  [[nodiscard]] detail::strand_block& block() const noexcept { return *block_; }

 protected:
  explicit strand_ref(detail::strand_block* block) noexcept : block_(block) {
    ++block_->references;
  }

 private:
  detail::strand_block* block_;
};

/// The handle of a strand that results in a T.
template <class T = void>
class strand : public strand_ref {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] join_awaitable
      : public detail::awaitable<join_awaitable> {
   public:
    explicit join_awaitable(const strand& joined) noexcept : joined_(joined) {}
    bool ready() const noexcept { return joined_.done(); }
    void park(detail::strand_block & self) {
      detail::wait_in(self, node_, joined_.block().joiners);
    }
    T get() { return static_cast<detail::result_block<T>&>(joined_.block()).take(); }

   private:
    strand_ref joined_;
    detail::wait_node node_;
  };

  /// Awaits the end of the strand: its result, moved out, or its exception; strand_cancelled if it
  /// was cancelled. To be joined once if the result can only be moved.
  /// Suspends if the strand has not ended; made ready by its end, on this thread, from inside the
  /// scheduler. Destroyed while it waits: it waits no more, the strand goes on.
  join_awaitable join() const noexcept { return join_awaitable(*this); }

 private:
  friend class scheduler;
  explicit strand(detail::strand_block* block) noexcept : strand_ref(block) {}
};

}  // namespace heddle::coop
