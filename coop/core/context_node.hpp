#pragma once

#include <cstddef>
#include <memory>

#include "heddle/coop/detail/strand_attachments.hpp"
#include "heddle/coop/detail/strand_block.hpp"
#include "heddle/coop/detail/timer_queue.hpp"

namespace heddle::coop::detail {

/// A strand_context, made of another one. On its scheduler's thread, like strands.
///
/// Invariants: `alive` counts the strands in it and in contexts made of it. The timer of a deadline
/// runs while there are any and the context is not over.
struct context_node : std::enable_shared_from_this<context_node> {
  const std::shared_ptr<context_node> parent;  // null: made of the empty one
  time_point deadline = time_point::max();     // its own
  const void* key = nullptr;                   // of its value; null: it has none
  std::shared_ptr<const void> value;
  int error = 0;  // an errno once it is over
  scheduler* owner = nullptr;
  std::size_t alive = 0;
  // Those made of it, each of which keeps it.
  context_node* first_child = nullptr;
  context_node* next = nullptr;
  context_node* previous = nullptr;
  strand_attachments* first = nullptr;  // the strands in it

  explicit context_node(std::shared_ptr<context_node> made_of);
  ~context_node();
  context_node(const context_node&) = delete;
  context_node& operator=(const context_node&) = delete;

  /// It is over: it cancels what runs in it.
  void end(int why);
  /// Why this context is over, or one that it is made of; 0 if none is.
  [[nodiscard]] int error_of_all() const noexcept;

  void add(strand_attachments& strand);
  void remove(strand_attachments& strand) noexcept;

 private:
  bool cancel_unstarted();
  bool end_child(int why);
  void start_timer();
  void drop_timer() noexcept;
  static void time_is_over(frame_header* timer);

  /// In the scheduler's timer queue it stands for the context: a strand of no kind.
  struct timer_entry : strand_block {
    context_node& context;
    explicit timer_entry(context_node& its_context) noexcept
        : strand_block(&time_is_over, strand_kind::none), context(its_context) {}
  };
  std::unique_ptr<timer_entry> timer_;
};

/// The strand's, made if it has none.
[[nodiscard]] strand_attachments& attachments_of(strand_block& strand);
/// Nothing if it is in none.
void leave_context(strand_attachments& strand) noexcept;

}  // namespace heddle::coop::detail
