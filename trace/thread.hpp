// The traced program's threads: birth at the first hook, names, end.
#pragma once

#include "process.hpp"
#include "thread_file.hpp"

namespace heddle::trace {

/// A thread that has a file; in memory of its own that fork wipes.
struct Thread {
  ThreadFile file;
  Thread* next;
  Thread* previous;
  std::uint32_t tid;
  std::uint32_t number;
  std::uint64_t pthread;     ///< pthread_self(), to find it by
  std::uint32_t look_again;  ///< hooks left that look for a module that dlopen may have loaded
};

/// What a thread's hooks find through the thread pointer.
struct Local {
  Segment* current;  ///< null only before the loader has initialised thread-local memory; read by
                     ///< the hook, replaced only with signals blocked
  Thread* self;      ///< null before the first hook and after the end; wiped in a forked child
  bool busy;         ///< inside the slow path: hooks are called by the recorder itself
  std::uint32_t lost_instance;  ///< process instance in which no file could be made for this thread
  std::uint32_t ended_instance, ended_number;  ///< the file this thread had before its end was seen
};

extern Segment unattached;
extern __thread Local local __attribute__((tls_model("initial-exec")));

/// Whether the calling thread has a file. Not so in a child that fork has just made.
[[nodiscard]] bool attached();

/// Starts whatever of process and thread has not begun. False: this thread's events can only be
/// counted. Signals blocked, Busy.
[[nodiscard]] bool attach(Process& process);

/// Within the slow path, with signals blocked: hooks that the recorder itself causes (through
/// functions that the program put in libc's place) are not the program's calls; they find no
/// segment and return.
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

/// Reads the name of a thread into its header: of the calling one, of one given by its pthread_t,
/// or of all (process lock held).
void name_self(Thread& thread);
void refresh_name(std::uint64_t pthread);
void refresh_names(Process& process);

/// Makes the key whose destructor tells of a thread's end.
void prepare_thread_ends();

}  // namespace heddle::trace
