// The traced program's threads: birth at the first hook, names, growth, end.
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
  Segment* current;  ///< never null; read by the hook, replaced only with signals blocked
  Thread* self;      ///< null before the first hook and after the end; wiped in a forked child
  bool busy;         ///< inside the slow path: hooks are called by the recorder itself
  std::uint32_t lost_instance;  ///< process instance in which no file could be made for this thread
  std::uint32_t ended_instance, ended_number;  ///< the file this thread had before its end was seen
};

extern Segment unattached;
extern __thread Local local __attribute__((tls_model("initial-exec")));

/// Records an event where the quick way is closed: first event, a module to look for, or no file.
[[gnu::cold]] void record_slowly(std::uint64_t function, std::uint64_t call_site,
                                 std::uint64_t stack_pointer, std::uint64_t exit_bit);

/// Stores an event for which `index` was reserved on `segment` and found no room.
[[gnu::cold]] void record_beyond(std::uint64_t when, std::uint64_t function,
                                 std::uint64_t call_site, std::uint64_t stack_pointer,
                                 std::uint64_t index, const Segment* segment);

/// Makes every thread's next hooks look for new modules.
void expect_module();

/// Reads the name of a thread into its header; of one given by its pthread_t, or of all.
void refresh_name(std::uint64_t pthread);
void refresh_names(Process& process);

/// Makes the key whose destructor tells of a thread's end.
void prepare_thread_ends();

}  // namespace heddle::trace
