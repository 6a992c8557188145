#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "heddle/coop/wait_list.hpp"

namespace heddle::coop {

class scheduler;

namespace detail {

class fiber;
struct strand_block;

/// Who is told when a strand has ended, or was destroyed. A scope, as a rule.
struct strand_parent {
  void (*child_ended)(strand_parent& self, strand_block& child);
};

/// How a coroutine frame begins, with GCC and with Clang on every platform that we build for. A
/// block that begins like one can be the continuation of a task: it is resumed when the task ends,
/// and costs no frame of its own.
struct frame_header {
  void (*resume)(frame_header*);
  void (*destroy)(frame_header*);
};

enum class strand_kind : std::uint8_t {
  fiber,
  task,
  none,  // stands for the flow that runs or destroys the scheduler: it cannot wait
};

enum class strand_status : std::uint8_t {
  ready,    // in the ready queue, or running
  polling,  // in the ready queue, but runs only if its predicate is true when its turn comes
  waiting,  // in a wait_list or the timer queue
  finished,
  hole,  // no strand: a place in the ready queue that one has left
};

enum class wake_reason : std::uint8_t { granted, timed_out, cancelled };

/// A predicate that the scheduler evaluates when the strand's turn comes.
struct poll_function {
  bool (*holds)(void* predicate) noexcept;
  void* predicate;
};

/// What the scheduler keeps for each strand. `frame_header::resume` runs the body of a fiber, and
/// is what the end of a task resumes; `destroy` frees the block.
struct strand_block : frame_header {
  static constexpr std::uint32_t no_timer = UINT32_MAX;

  // What a switch touches, in one cache line.
  void* resume_at = nullptr;  // task: the frame that waits. Fiber: its stack, to prefetch
  fiber* runner = nullptr;    // fiber: null until it first runs
  std::uint64_t slot = 0;     // in the ready queue
  scheduler* owner = nullptr;
  strand_kind kind = strand_kind::none;
  strand_status status = strand_status::ready;
  wake_reason reason = wake_reason::granted;  // granted again once it was looked at
  bool cancel_pending = false;                // to be thrown at the next wait
  bool shielded = false;                      // this wait is not cancelled
  bool cancelled = false;                     // ended by the exception `cancelled`
  bool started = false;
  std::uint32_t references = 1;    // the handles', and one until it ends
  std::uint32_t timer = no_timer;  // its place in the timer queue

  wait_node* waits = nullptr;           // a chain of siblings
  const poll_function* poll = nullptr;  // while polling
  strand_block* newer = nullptr;        // all that have not ended, in the order they were spawned
  strand_block* older = nullptr;
  std::uint64_t id = 0;  // 1 for the first one spawned
  std::string name;
  wait_list joiners{"the end of", name};
  std::exception_ptr error;
  strand_parent* parent = nullptr;
  std::size_t child_index = 0;   // for the parent
  void (*clear)(strand_block&);  // destroys what the body holds

  strand_block(void (*resume_function)(frame_header*), void (*destroy_function)(frame_header*),
               void (*clear_function)(strand_block&), strand_kind its_kind) noexcept
      : frame_header{resume_function, destroy_function}, kind(its_kind), clear(clear_function) {}
  strand_block(const strand_block&) = delete;
  strand_block& operator=(const strand_block&) = delete;

  [[nodiscard]] std::coroutine_handle<> as_continuation() noexcept {
    return std::coroutine_handle<>::from_address(static_cast<frame_header*>(this));
  }
};

}  // namespace detail
}  // namespace heddle::coop
