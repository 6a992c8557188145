#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "heddle/coop/ext/wait_list.hpp"

namespace heddle::coop {

class scheduler;

namespace detail {

class fiber;
struct strand_attachments;
struct strand_block;

/// Is notified when a strand has ended, or was destroyed. Usually a scope.
struct strand_parent {
  void (*child_ended)(strand_parent& self, strand_block& child);
};

/// The first words of a coroutine frame, with GCC and with Clang on every platform that we build
/// for. An object that begins with this header can be resumed like a coroutine, when a task ends
/// for example, and needs no frame of its own. (Second in a real frame is `destroy`, which is never
/// called for these.)
struct frame_header {
  void (*resume)(frame_header*);
};

enum class strand_kind : std::uint8_t {
  fiber,
  task,
  none,  // stands for the flow that runs or destroys the scheduler: it cannot wait
};

enum class strand_status : std::uint8_t {
  ready,      // in the ready queue, or running
  unstarted,  // in the ready queue, and has never run
  polling,    // in the ready queue, but runs only if its predicate is true when its turn comes
  waiting,    // sleeps: see is_waiting() for the others
  finished,
  leaving,  // goes to another scheduler as soon as it has switched away: see
            // scheduler_access::move_away()
  hole,     // no strand: a place in the ready queue that one has left
};

/// Whether a strand taken out of the ready queue runs, without further questions.
constexpr bool may_run(strand_status status) noexcept { return status <= strand_status::unstarted; }

enum class wake_reason : std::uint8_t { granted, timed_out, cancelled };

/// A predicate that the scheduler evaluates when the strand's turn comes.
struct poll_function {
  bool (*holds)(void* predicate) noexcept;
  void* predicate;
};

/// The operation that a call of a block's `resume` asks for. The end of a task that has a result
/// calls it too, as `run`.
enum class block_call : std::uint8_t {
  // Below `run`: the same, and says that the block has nothing to destroy when the strand has run
  // to its end, so that it is freed without a call. The number is the frame_pool's size class.
  run = 64,  // a fiber: its body. A task: makes and starts its coroutine, or takes its result
  clear,     // destroys what the body holds, and a coroutine with what lives in it
  dispose,   // clears, and frees the block
};

/// State that only some strands need: allocated at its first use, and freed with the block.
struct strand_extra {
  static constexpr std::uint32_t no_timer = UINT32_MAX;

  std::string name;
  wait_list joiners{"the end of strand", name};
  std::exception_ptr error;  // what the strand ended with
  strand_parent* parent = nullptr;
  std::size_t child_index = 0;     // for the parent; or its place among the scheduler's unseen
  std::uint32_t timer = no_timer;  // its place in the timer queue
  bool movable = false;            // by a balancer: see parallel/balance.hpp
  bool unseen = false;             // it ended by `error`, of which nobody was told yet
  bool told_by_scope = false;      // to end; each of the two does not tell again what the other
  bool told_by_context = false;    // has told, so that one cancellation is thrown once
  strand_attachments* attached = nullptr;
};
static_assert(sizeof(void*) != 8 || sizeof(strand_extra) <= 128);

/// The scheduler's record of a strand: one cache line, all of which a switch may touch. Behind it,
/// in the same piece of memory, are the body and the result, if they are not empty.
struct strand_block : frame_header {  //  0: 8 bytes, what to call: see block_call
  union {
    void* resume_at = nullptr;  //  8: a task, or a fiber that awaits one: the frame that goes on
    std::size_t stack_bytes;    //     a fiber that never ran: its stack_size; 0: the scheduler's
  };
  union {
    fiber* runner = nullptr;  // 16: fiber: null until it first runs
    void* coroutine;          //     task: its outermost frame; null until it first runs
  };
  scheduler* owner = nullptr;  // 24
  union {
    wait_node* waits = nullptr;  // 32: in a wait_list; null while ready
    const poll_function* poll;   //     while polling
  };
  strand_extra* rare = nullptr;  // 40: see extra()
  strand_kind kind;              // 48
  strand_status status = strand_status::unstarted;
  block_call call = block_call::run;              // 50: for `resume`
  wake_reason reason : 2 = wake_reason::granted;  // 51: granted again once it was looked at
  bool shielded : 1 = false;                      //     this wait is not cancelled
  bool cancel_pending : 1 = false;                //     to be thrown at the next wait
  bool cancelled : 1 = false;                     //     ended by the exception `cancelled`
  bool timed : 1 = false;                         //     it is in the timer queue
  bool several : 1 = false;                       //     `waits` is a chain of siblings
  bool has_body : 1 = true;                       //     not cleared yet
  std::uint32_t references = 1;                   // 52: the handles', and one until it ends
  std::uint32_t slot = 0;                         // 56: in the ready queue, modulo 2^32
  std::uint32_t place = 0;                        // 60: among those that have not ended.
                                                  //     Afterwards both: see number_at_end()

  constexpr strand_block(void (*resume_function)(frame_header*), strand_kind its_kind) noexcept
      : frame_header{resume_function}, kind(its_kind) {}
  strand_block(const strand_block&) = delete;
  strand_block& operator=(const strand_block&) = delete;

  void ask(block_call what) {
    call = what;
    resume(this);
  }

  /// Whether it waits, sleeps or polls. One that waits in a list keeps the status `ready`: that it
  /// does is known by the list, and saying it twice would cost every wait two stores.
  [[nodiscard]] bool is_waiting() const noexcept {
    return waits != nullptr || status == strand_status::waiting;
  }

  /// The next in the chain at `waits`, which are several_nodes if there are `several`.
  [[nodiscard]] wait_node* next_wait(const wait_node& node) const noexcept {
    return several ? static_cast<const several_node&>(node).sibling : nullptr;
  }

  /// The number that it had, of one that has ended and to which handles refer.
  [[nodiscard]] std::uint64_t number_at_end() const noexcept {
    return std::uint64_t{place} << 32 | slot;
  }
  void note_end(std::uint64_t number) noexcept {
    slot = static_cast<std::uint32_t>(number);
    place = static_cast<std::uint32_t>(number >> 32);
  }

  strand_extra& extra() { return rare != nullptr ? *rare : make_extra(); }
  void drop_extra() noexcept;

  [[nodiscard]] wait_list& joiners() { return extra().joiners; }
  [[nodiscard]] strand_parent* parent() const noexcept {
    return rare != nullptr ? rare->parent : nullptr;
  }
  [[nodiscard]] std::string_view name() const noexcept {
    return rare != nullptr ? std::string_view(rare->name) : std::string_view();
  }
  [[nodiscard]] std::exception_ptr error() const noexcept {
    return rare != nullptr ? rare->error : nullptr;
  }

 private:
  strand_extra& make_extra();  // which is something to destroy
};
static_assert(sizeof(void*) != 8 || sizeof(strand_block) == 64);

}  // namespace detail
}  // namespace heddle::coop
