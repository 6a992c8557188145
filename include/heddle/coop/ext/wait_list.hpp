#pragma once

#include <cstddef>
#include <string>

namespace heddle::coop {
namespace detail {

struct strand_block;
class wait_list;

/// One strand's place in one wait_list. It lives in the awaitable: on the fiber's stack or in the
/// coroutine's frame, which stay where they are while the strand waits.
///
/// Filled in by wait_in(): most are made for waits that turn out not to be necessary.
struct wait_node {
  strand_block* who;
  wait_node* next;
  wait_node* previous;  // not of a list's first
  wait_list* list;      // null: that is gone, or the node was woken and its strand waits for more
};

/// One of the nodes of a wait in several lists. See wait_in_several().
struct several_node : wait_node {
  wait_node* sibling;    // the node in the next list
  std::size_t* pending;  // the wait ends when this many nodes are woken; null: at the first
};

/// Strands that wait for one thing, first come, first served.
///
/// Invariant: a node in a list belongs to a strand that waits, and whose `waits` chain holds it.
class wait_list {
 public:
  /// When a wait in this list is given up (a timeout, a cancellation), after its node was taken
  /// out. Returns true if the strand waits elsewhere instead of running now.
  using given_up_function = bool (*)(wait_list& list, wait_node& node);

  /// `kind` is what the report of a deadlock calls it ("semaphore"), a literal; `name` says which
  /// one, and must outlive the list.
  wait_list(const char* kind, const std::string& name,
            given_up_function on_given_up = nullptr) noexcept
      : kind_(kind), name_(name), given_up_(on_given_up) {}
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;
  /// Strands may still wait in it: what is declared after its scheduler goes before it. They are
  /// never woken then, but can be cancelled, timed out and destroyed.
  ~wait_list() {
    for (wait_node* node = first_; node != nullptr; node = node->next) node->list = nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] wait_node* first() const noexcept { return first_; }
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] given_up_function given_up() const noexcept { return given_up_; }

  void append(wait_node& node) noexcept {
    node.list = this;
    node.next = nullptr;
    if (first_ != nullptr) {
      node.previous = last_;
      last_->next = &node;
    } else {
      set_first(&node);
    }
    last_ = &node;
  }

  void remove(wait_node& node) noexcept {
    if (&node == first_) {
      remove_first();
      return;
    }
    node.previous->next = node.next;
    (node.next != nullptr ? node.next->previous : last_) = node.previous;
  }

  /// Not if empty(). Its node is first() before.
  strand_block& remove_first() noexcept {
    strand_block& strand = *first_strand_;
    if (wait_node* const next = first_->next) {
      set_first(next);
    } else {
      first_ = nullptr;
    }
    return strand;
  }

 private:
  void set_first(wait_node* node) noexcept {
    first_ = node;
    first_strand_ = node->who;
  }

  wait_node* first_ = nullptr;
  wait_node* last_;  // if there is a first
  // The strand of the first node: a waker need not wait until the node comes from the strand's
  // frame.
  strand_block* first_strand_ = nullptr;
  const char* kind_;
  const std::string& name_;
  given_up_function given_up_;
};

}  // namespace detail
}  // namespace heddle::coop
