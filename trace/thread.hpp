// The traced program's threads: birth at the first hook, names, end.
#pragma once

#include "bases.hpp"
#include "process.hpp"
#include "run.hpp"

namespace heddle::trace {

struct Frame;

/// A thread that has a buffer; in memory of its own that fork wipes. When the thread has ended,
/// another goes on with it.
struct Thread {
  Window window;
  Buffer buffer;
  RunRecord* run;             ///< in the buffer
  RunRecord about;            ///< what its next run will say
  std::uint64_t* sequence;    ///< where it announces restartable sequences
  std::uint64_t stack_owner;  ///< pthread_self() of the one whose stack `about` knows
  Thread* next;
  Thread* previous;
  std::uint64_t pthread;          ///< pthread_self(), to find it by
  std::uint32_t look_again;       ///< hooks left that look for a module that dlopen may have loaded
  std::uint64_t skipped;          ///< events since recording was paused, not yet told as a gap
  bool named;                     ///< by the program: the kernel's name for it does not count
  Frame* frames;                  ///< the filter's, for as many as it follows
  Bases bases;                    ///< with --min-time
  std::uint64_t idle_until;       ///< the position as long as it has recorded nothing but makings
  bool full;                      ///< there is no more room: from here on its events are dropped
  arch::VectorRegisters vectors;  ///< the program's, in the slow path (shelter.hpp)
};

/// The thread-local state that a thread's hooks find through the thread pointer.
struct Local {
  Window* current;  ///< null only before the loader has initialised thread-local memory; read by
                    ///< the hook, replaced only with signals blocked
  Thread* self;     ///< null before the first hook and after the end; wiped in a forked child
  bool busy;        ///< inside the slow path: hooks are called by the recorder itself
  std::uint32_t lost_instance;  ///< process instance in which this thread got no buffer
  std::uint32_t ended_instance, ended_number, ended_runs;  ///< what it was before its end was seen
  std::uint32_t made_instance, making;  ///< the making by which it was created, and whose that is
  std::uint64_t
      given_stack;  ///< the lowest address of the stack that its creator gave it; 0 = none
};

extern Window unattached;
extern __thread Local local __attribute__((tls_model("initial-exec")));

/// Whether the calling thread has a buffer. Not so in a child that fork has just made.
[[nodiscard]] bool attached();

/// From here on the calling thread's hooks only count: it got no buffer. Not for good: a forked
/// child starts from nothing, and may have what its parent lacked.
void lose_thread(Process& process);
[[nodiscard]] bool is_lost(const Process& process);

/// Starts whatever of process and thread has not begun. False: this thread's events can only be
/// counted. Signals blocked, Busy. With `sheltered` the vector registers are kept.
[[nodiscard]] bool attach(Process& process, std::uint64_t stack_pointer, bool sheltered);

/// Sends the thread's hooks to their quick way, or to the slow path while there is a module to look
/// for. Process lock held, or the thread not yet linked.
void publish(const Process& process, Thread& thread);
void publish_all(Process& process);

/// Within the slow path, with signals blocked: hooks that the recorder itself causes (through
/// functions that the program put in libc's place) are not the program's calls; they find no
/// window and return.
class [[nodiscard("ends at once")]] Busy {
 public:
  Busy() {
    local.busy = true;
    local.current = &unattached;
  }
  ~Busy() { local.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

/// Counts, in the header, threads that are in the slow path: one that is killed there stays, which
/// tells whose system call a filter did not allow. Signals blocked: in a child that a handler forks
/// the header is not mapped.
class [[nodiscard("ends at once")]] AtWork {
 public:
  explicit AtWork(ProcessHeader * header) : header_(header) { add(1); }
  ~AtWork() { add(-1u); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  void add(std::uint32_t threads) {
    if (header_ != nullptr) __atomic_fetch_add(&header_->at_work, threads, __ATOMIC_RELAXED);
  }

  ProcessHeader* header_;
};

/// Reads the name of a thread into its run: of the calling one, of one given by its pthread_t, or
/// of all (process lock held).
void name_self(Thread& thread);
void name_for_good(Thread& thread, const char* name);  ///< by the program itself
void refresh_name(std::uint64_t pthread);
void refresh_names(Process& process);

/// Makes the key whose destructor tells of a thread's end.
void prepare_thread_ends();

}  // namespace heddle::trace
