/* Tells the recorder (`heddle record`) what only the program knows. For C and C++; nothing to link.
 *
 * Where the recorder is not loaded, each of these is a load and a branch that is never taken, in
 * static programs, too. Where it is, they may be called from any thread and from signal handlers,
 * and leave errno alone. Texts are copied, and cut at 4000 bytes.
 *
 *     #include <heddle/trace.h>
 *
 *     void serve(const Request* request) {
 *       heddle_mark(request->path);
 *       …
 *     }
 */
#ifndef HEDDLE_TRACE_H
#define HEDDLE_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Not a call of the program's own. */
#ifdef __GNUC__
#define HEDDLE_API_ static inline __attribute__((no_instrument_function, unused))
#else
#define HEDDLE_API_ static inline
#endif

/* Puts the recorder's function, or 0, into a pointer. Through the global offset table, because a
 * linker that makes a program of fixed address takes a weak function that nobody defines for 0 at
 * once and for ever. */
#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)
#define HEDDLE_FIND_(function, name) \
  __asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(function))
#else
#define HEDDLE_FIND_(function, name) (function) = 0
#endif

/** Record the calls of all threads from here on: after heddle_stop(), or in a program that was
 * started by `heddle record --paused`. What was not recorded is a counted gap in the trace. */
HEDDLE_API_ void heddle_start(void) {
  void (*start)(void);
  HEDDLE_FIND_(start, heddle_trace_start);
  if (start) start();
}

/** Don't record calls from here on, until heddle_start(). */
HEDDLE_API_ void heddle_stop(void) {
  void (*stop)(void);
  HEDDLE_FIND_(stop, heddle_trace_stop);
  if (stop) stop();
}

/** Under `heddle record --flight SIZE`: keeps what the flight recorder holds now, as a trace of its
 * own, snapshot-1, snapshot-2 … in the trace directory. Returns 0, or an error number (errno(3)); 0
 * as well where nothing is to be done: no recorder, or one that keeps everything. Takes as long as
 * writing SIZE bytes; other threads go on. */
HEDDLE_API_ int heddle_snapshot(void) {
  int (*snapshot)(void);
  HEDDLE_FIND_(snapshot, heddle_trace_snapshot);
  return snapshot ? snapshot() : 0;
}

/** Names the calling thread in the trace, in up to 63 bytes, whatever the kernel calls it. */
HEDDLE_API_ void heddle_name_thread(const char* name) {
  void (*give)(const char*);
  HEDDLE_FIND_(give, heddle_trace_name_thread);
  if (give) give(name);
}

/** A point in time on the calling thread, or on the strand that it runs, with a text. */
HEDDLE_API_ void heddle_mark(const char* text) {
  void (*mark)(const char*);
  HEDDLE_FIND_(mark, heddle_trace_mark);
  if (mark) mark(text);
}

/** For runtimes. The calling thread runs this strand from now on; 0: none, its own code. A strand
 * is any number but 0 that is not used for two at a time: the address of its control block, say.
 * Nothing that is traced may be called or return between this and the switch, or it counts as the
 * new strand's: let code that is not traced do both, or the strand that has arrived say it. */
HEDDLE_API_ void heddle_strand_switch(uint64_t strand) {
  void (*run)(uint64_t);
  HEDDLE_FIND_(run, heddle_trace_strand_switch);
  if (run) run(strand);
}

/** For runtimes. The strand that the calling thread runs makes this one, or the thread does, if it
 * runs none: before that one runs. */
HEDDLE_API_ void heddle_strand_made(uint64_t strand) {
  void (*made)(uint64_t);
  HEDDLE_FIND_(made, heddle_trace_strand_made);
  if (made) made(strand);
}

/** Names a strand. */
HEDDLE_API_ void heddle_name_strand(uint64_t strand, const char* name) {
  void (*give)(uint64_t, const char*);
  HEDDLE_FIND_(give, heddle_trace_name_strand);
  if (give) give(strand, name);
}

/** The strand is about to wait, and for what. */
HEDDLE_API_ void heddle_strand_waits(uint64_t strand, const char* reason) {
  void (*waits)(uint64_t, const char*);
  HEDDLE_FIND_(waits, heddle_trace_strand_waits);
  if (waits) waits(strand, reason);
}

/** The strand has ended; its number may be another's now. */
HEDDLE_API_ void heddle_strand_end(uint64_t strand) {
  void (*end)(uint64_t);
  HEDDLE_FIND_(end, heddle_trace_strand_end);
  if (end) end(strand);
}

#ifdef __cplusplus
}
#endif

#endif
