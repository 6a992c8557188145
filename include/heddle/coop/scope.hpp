#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {

/// The reaction of a scope to a strand in it that throws.
enum class on_failure {
  cancel_others,  // and throw it from join()
  keep_on,        // it is for those who join the strand
};

/// Strands that do not outlive the block of code that spawned them: structured concurrency. What
/// they refer to in that block is there until they have ended. Made by in_scope().
///
/// When one of them throws, the others are cancelled, and join() throws what it threw, the first if
/// there are several; unless made with on_failure::keep_on. A strand that is cancelled is no
/// failure.
class scope : private detail::strand_parent {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] join_awaitable
      : public detail::awaitable<join_awaitable> {
   public:
    explicit join_awaitable(scope & its_scope) noexcept : scope_(its_scope) {}
    bool ready() const noexcept { return scope_.children_.empty(); }
    void park(detail::strand_block & self) noexcept {
      detail::wait_in(self, node_, scope_.joiners_);
    }
    void get() const {
      if (scope_.error_) std::rethrow_exception(std::exchange(scope_.error_, nullptr));
    }

   private:
    scope& scope_;
    detail::wait_node node_;
  };

  /// Like join(), but neither a cancellation of the strand that waits nor an error ends it.
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] drain_awaitable
      : public detail::awaitable<drain_awaitable> {
   public:
    explicit drain_awaitable(scope & its_scope) noexcept : scope_(its_scope) {}
    static constexpr bool shielded() noexcept { return true; }
    bool ready() const noexcept { return scope_.children_.empty(); }
    void park(detail::strand_block & self) noexcept {
      detail::wait_in(self, node_, scope_.joiners_);
    }
    void get() const noexcept {}

   private:
    scope& scope_;
    detail::wait_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit scope(scheduler& on, std::string name = {},
                 on_failure policy = on_failure::cancel_others)
      : strand_parent{&child_ended},
        on_(on),
        policy_(policy),
        name_(std::move(name)),
        joiners_("scope", name_) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  /// Every strand in it must have ended, or the program ends with a message: a destructor cannot
  /// wait for them, in a task at all, and in a fiber not while that is destroyed itself. in_scope()
  /// sees to it.
  ~scope() {
    if (!children_.empty()) [[unlikely]] {
      ends_before_children();
    }
  }

  /// Like scheduler::spawn(), in this scope.
  template <class F>
  auto spawn(F&& body, std::string_view name = {}) {
    return adopt(on_.spawn(std::forward<F>(body), name));
  }
  template <class F>
  auto spawn(stack_size stack, F&& body, std::string_view name = {}) {
    return adopt(on_.spawn(stack, std::forward<F>(body), name));
  }

  /// Asks every strand in it to end; see strand_ref::cancel(). More may be spawned afterwards.
  void cancel() {
    for (std::size_t i = children_.size(); i-- > 0;) {
      // One that never ran ends at once, and the last takes its place: that was asked before.
      if (i < children_.size()) detail::cancel_child(*children_[i]);
    }
  }

  /// Waits until every strand in it has ended; throws the first error of one.
  /// Suspends if there are any; made ready by the end of the last one, from inside the scheduler,
  /// on this thread. Cancelled, timed out or destroyed while it waits: the strands go on.
  join_awaitable join() noexcept { return join_awaitable(*this); }
  /// Waits until every strand in it has ended, whatever happens: it throws none of their errors,
  /// and a cancellation of the strand that waits is kept for its next wait.
  /// Suspends and is made ready as join(). Destroyed while it waits: by the scheduler's destructor
  /// alone, which destroys the strands first.
  drain_awaitable drain() noexcept { return drain_awaitable(*this); }

  /// For in_scope(), which the body has left by `thrown`: what it is to throw. If it was cancelled,
  /// and a strand has failed, perhaps while it was cancelled too, that counts for more.
  [[nodiscard]] std::exception_ptr failure_or(std::exception_ptr thrown) noexcept;

  /// Strands in it that have not ended.
  [[nodiscard]] std::size_t alive() const noexcept { return children_.size(); }

 private:
  [[noreturn]] void ends_before_children() const noexcept;
  template <class T>
  strand<T> adopt(strand<T> handle) {
    detail::strand_block& child = handle.block();
    child.extra().parent = this;
    child.extra().child_index = children_.size();
    children_.push_back(&child);
    return handle;
  }
  static void child_ended(detail::strand_parent& parent, detail::strand_block& child) {
    scope& self = static_cast<scope&>(parent);
    const std::size_t place = child.extra().child_index;
    self.children_[place] = self.children_.back();
    self.children_[place]->extra().child_index = place;
    self.children_.pop_back();
    if (child.error() && !self.error_ && self.policy_ == on_failure::cancel_others) {
      self.error_ = child.error();
      self.cancel();
    }
    if (!self.children_.empty()) return;
    while (!self.joiners_.empty()) scheduler_access::wake(*self.joiners_.first());
  }

  scheduler& on_;
  on_failure policy_;
  std::vector<detail::strand_block*> children_;
  std::exception_ptr error_;
  std::string name_;
  detail::wait_list joiners_;
};

}  // namespace heddle::coop
