#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/detail/strand_block.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/stop_handle.hpp"
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
/// Whether it is `cancelled`.
[[nodiscard]] bool is_cancellation(const std::exception_ptr& error) noexcept;
/// Throws what the strand ended with, if it ended with an exception, which is seen then.
void rethrow_error(strand_block& strand);
/// Somebody who waited for the strand's end has been told of one error, this one or another.
inline void mark_seen(strand_block& strand) noexcept;
void forget_unseen(strand_block& strand) noexcept;
[[noreturn]] void throw_joined_before(const strand_block& strand);
void cancel(strand_block& strand);
/// By its scope.
void cancel_child(strand_block& strand);
[[nodiscard]] stop_handle stopper_of(const strand_block& strand);
/// Ends the program with a message if `strand` is of another group than the one that runs, whose
/// strand does with it what only its own group may.
void require_same_group(const strand_block& strand, const char* what) noexcept;
/// Who holds a lock, by the number of its strand: no strand has one of these.
inline constexpr std::uint64_t nobody = 0;
inline constexpr std::uint64_t outside = UINT64_MAX;  // code that runs outside of strands
/// Ends the program with a message unless the one that unlocks it may: code outside of strands may
/// unlock what is locked. Returns whether it is to be unlocked: not by a strand that is destroyed
/// while it does not have the lock, as it waits for a condition.
[[nodiscard]] bool check_holder(const char* kind, const std::string& name,
                                std::uint64_t holder) noexcept;
/// Ends the program with a message: the running strand is about to wait for a lock that it holds.
[[noreturn]] void relocked(const char* kind, const std::string& name) noexcept;
/// A lock goes while `holder` holds it, or, if that is nobody, while some read. Ends the program
/// with a message if a strand destroys it, and the holder will unlock it later. Outside of strands
/// it is not known whether the holder is still there.
void destroyed_locked(const char* kind, const std::string& name, std::uint64_t holder) noexcept;
/// `strand 3 "reader"`, of one that has not ended.
[[nodiscard]] std::string named(const strand_block& strand);
/// The same of one that has ended.
[[nodiscard]] std::string ended_name(const strand_block& strand);
/// Names the objects that the strand waits for, as reports do: `semaphore "door" or the end of
/// strand (unnamed)`. Empty if it sleeps.
[[nodiscard]] std::string waited_for(const strand_block& strand);

inline void mark_seen(strand_block& strand) noexcept {
  if (strand.rare != nullptr && strand.rare->unseen) [[unlikely]] {
    forget_unseen(strand);
  }
}

inline void release(strand_block& strand) noexcept {
  if (--strand.references != 0) return;
  if (strand.rare != nullptr) strand.drop_extra();
  strand.ask(block_call::dispose);
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
struct no_body {};

/// The result of a strand, moved out by join().
template <class T>
struct result_block : strand_block {
  using strand_block::strand_block;
  using stored =
      std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<std::remove_reference_t<T>>,
                         std::remove_cv_t<T>>;

  [[no_unique_address]] std::conditional_t<std::is_void_v<T>, no_value, std::optional<stored>>
      value;

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
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      return *value;
    } else if constexpr (!std::is_void_v<T>) {
      if (!value) [[unlikely]] {
        throw_joined_before(*this);
      }
      stored taken(std::move(*value));
      value.reset();
      return taken;
    }
  }
};

/// A value whose end is said by hand; it takes no room where it is empty.
template <class F,
          bool = std::is_empty_v<F>&& std::is_trivially_destructible_v<F> && !std::is_final_v<F>>
struct body_holder {
  union {
    F body;
  };
  template <class Init>
  explicit body_holder(Init&& init) : body(std::forward<Init>(init)) {}
  ~body_holder() {}  // NOLINT: not the body's end
  F& get() noexcept { return body; }
  void end() noexcept { body.~F(); }
};
template <class F>
struct body_holder<F, true> : private F {
  template <class Init>
  explicit body_holder(Init&& init) : F(std::forward<Init>(init)) {}
  F& get() noexcept { return *this; }
  void end() noexcept {}
};

/// Keeps the body that a strand was spawned with until the strand has ended, in the same piece of
/// memory as the block; for both kinds of strand. Few functions depend on the body's type, because
/// a program has as many such types as it has places that spawn.
template <class Self, class Base, class F>
struct block_with : Base {
  [[no_unique_address]] body_holder<F> body;

  template <class Init>
  block_with(Init&& init, strand_kind its_kind)
      : Base(&act<&Self::run>, its_kind), body(std::forward<Init>(init)) {
#if !defined(HEDDLE_ASAN)
    if constexpr (std::is_trivially_destructible_v<F> &&
                  std::is_trivially_destructible_v<decltype(this->value)> &&
                  frame_pool::class_of(sizeof(Self)) < frame_pool::classes) {
      static_assert(frame_pool::classes <= static_cast<std::size_t>(block_call::run));
      this->call = static_cast<block_call>(frame_pool::class_of(sizeof(Self)));
    }
#endif
  }

  /// A block's `resume`; `Run` is what `block_call::run` means.
  template <void (Self::*Run)()>
  static void act(frame_header* header) {
    Self& self = static_cast<Self&>(static_cast<strand_block&>(*header));
    if (self.call <= block_call::run) [[likely]] {
      (self.*Run)();
    } else {
      end(self);
    }
  }

 private:
  [[gnu::noinline]] static void end(Self& self) noexcept {
    if constexpr (std::is_trivially_destructible_v<F>) {
      self.clear();
    } else if (self.has_body) {
      self.has_body = false;
      self.clear();
      self.body.end();
    }
    if (self.call == block_call::dispose) {
      self.~Self();
      frame_pool::release(&self, sizeof(Self));
    }
  }
};

template <class F>
struct fiber_block final : block_with<fiber_block<F>, result_block<strand_result<F>>, F> {
  template <class Init>
  explicit fiber_block(Init&& init)
      : block_with<fiber_block, result_block<strand_result<F>>, F>(std::forward<Init>(init),
                                                                   strand_kind::fiber) {}
  void run() {
    run_guarded(*this, [](strand_block& strand) {
      auto& self = static_cast<fiber_block&>(strand);
      self.store(self.body.get());
    });
  }
  void clear() noexcept {}
};

/// A task's coroutine and its result, whatever it was spawned with.
template <class T>
struct task_result : result_block<T> {
  using result_block<T>::result_block;
  using handle = std::coroutine_handle<task_promise<T>>;

  handle frame() const noexcept { return handle::from_address(this->coroutine); }

  void adopt(task<T>&& made) noexcept {
    this->coroutine = std::move(made).release().address();
    frame().promise().tell(*this);
  }
  void take_result() {
    if (frame().promise().failed()) [[unlikely]] {
      fail();
    } else if constexpr (!moves_without_throwing) {
      take_guarded();
    } else {
      this->store([this]() -> T { return frame().promise().take(); });
      end();
    }
  }
  void clear() noexcept {
    if (this->coroutine != nullptr) [[unlikely]] {
      destroy();
    }
  }

 private:
  static constexpr bool moves_without_throwing =
      std::is_void_v<T> || std::is_nothrow_move_constructible_v<T>;

  // The coroutine destroys itself when it has told of its end.
  void end() noexcept {
    this->coroutine = nullptr;
    this->status = strand_status::finished;
  }
  // These are out of line, and the last thing that their callers do: so the plain way saves no
  // register.
  [[gnu::noinline]] void fail() {
    fail_by(*this, frame().promise().take_error());
    end();
  }
  [[gnu::noinline]] void take_guarded() {
    run_guarded(*this, [](strand_block& strand) {
      auto& self = static_cast<task_result&>(strand);
      self.store([&self]() -> T { return self.frame().promise().take(); });
    });
    end();
  }
  [[gnu::noinline]] void destroy() noexcept {
    frame().destroy();
    this->coroutine = nullptr;
  }
};

template <class T, class F>
struct task_block final : block_with<task_block<T, F>, task_result<T>, F> {
  template <class Init>
  explicit task_block(Init&& init)
      : block_with<task_block, task_result<T>, F>(std::forward<Init>(init), strand_kind::task) {
    this->resume_at = static_cast<frame_header*>(this);  // the first turn is run()
  }

  // The first turn: makes the coroutine, which calls this block when it has ended, and starts it.
  // The scheduler catches an exception that making the coroutine throws.
  void run() {
    this->adopt(this->body.get()());
    if constexpr (!std::is_void_v<T>) {
      this->resume = &task_block::template act<&task_block::finish>;
    }
    this->frame().resume();
  }
  void finish() { this->take_result(); }
};

/// The block of a task that exists already: the first turn is its coroutine's.
template <class T>
struct task_block<T, no_body> final : block_with<task_block<T, no_body>, task_result<T>, no_body> {
  explicit task_block(task<T>&& given) noexcept
      : block_with<task_block, task_result<T>, no_body>(no_body{}, strand_kind::task) {
    this->adopt(std::move(given));
    this->resume_at = this->coroutine;
  }
  void run() { this->take_result(); }
};

template <class T>
result_block<T>* make_block(task<T>&& body) {
  using block = task_block<T, no_body>;
  return new (frame_pool::allocate(sizeof(block))) block(std::move(body));
}

template <class F>
result_block<strand_result<std::decay_t<F>>>* make_block(F&& body) {
  using D = std::decay_t<F>;
  using block = std::conditional_t<is_task<std::invoke_result_t<D&>>,
                                   task_block<strand_result<D>, D>, fiber_block<D>>;
  static_assert(alignof(block) <= frame_pool::alignment, "the body asks for too much alignment");
  return new (frame_pool::allocate(sizeof(block))) block(std::forward<F>(body));
}

}  // namespace detail

/// Refers to a strand of any result. Copies refer to the same one; it keeps what is left of an
/// ended strand, no more. Belongs to the strand's scheduler, as everything does: of one in a group,
/// only strands of that group, and the thread that made the groups while they do not run, may copy
/// it, cancel it or join it; those of another group that try end the program with a message.
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
  [[nodiscard]] std::string_view name() const noexcept { return block_->name(); }

  /// Asks the strand to end: its present wait, or else its next one, throws `cancelled`, once.
  /// A wait that was already granted completes; the strand is cancelled at its next wait. A strand
  /// that has ended is not affected; one that never ran ends without running.
  void cancel() const { detail::cancel(*block_); }
  /// By which other threads can ask the same; of no strand if this one has ended. Made on the
  /// strand's own thread: one that another thread asks for ends the program with both their names.
  [[nodiscard]] stop_handle stopper() const { return detail::stopper_of(*block_); }

  /// For those who write awaitables.
  [[nodiscard]] detail::strand_block& block() const noexcept { return *block_; }

 protected:
  /// The first handle of a block, counted from its beginning.
  explicit strand_ref(detail::strand_block* block) noexcept : block_(block) {}

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
      if (self.owner != joined_.block().owner) [[unlikely]] {
        detail::require_same_group(joined_.block(), "joins");
      }
      detail::wait_in(self, node_, joined_.block().joiners());
    }
    T get() { return static_cast<detail::result_block<T>&>(joined_.block()).take(); }

   private:
    strand_ref joined_;
    detail::wait_node node_;
  };

  /// Awaits the end of the strand: its result, moved out, or its exception; strand_cancelled if it
  /// was cancelled. A result that is copied like plain memory, and a reference, can be joined any
  /// number of times; of another one, a second join throws std::logic_error.
  /// Suspends if the strand has not ended; made ready by its end, on this thread, from inside the
  /// scheduler. Destroyed while it waits: it waits no more, the strand goes on.
  join_awaitable join() const noexcept { return join_awaitable(*this); }

  void operator co_await() const = delete;  // instead: co_await handle.join()

 private:
  friend class scheduler;
  explicit strand(detail::strand_block* block) noexcept : strand_ref(block) {}
};

}  // namespace heddle::coop
