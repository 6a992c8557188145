// The truth of who runs what, told by the program itself in marks of its trace (heddle_mark): which
// strand runs, and the calls that are open on it. Nothing here is instrumented.
//
//     TRACED void work() {
//       truth::call here{"work"};       // mark: truth 3 fiber body/work
//       give_way();                     // others run
//       here.back();                    // and now this strand again
//       truth::point();                 // mark: truth 3 fiber body/work/point
//     }
//
// A mark lies right behind the enter of the innermost function that it names: so it says of which
// strand that enter is, and what every exit and enter before it must have left open.
#pragma once

#include <heddle/trace.h>

/// Not traced.
#define PLAIN __attribute__((no_instrument_function, noinline))
/// Traced by either way in: by -mfentry an inlined function is not. TRUTH_MAY_INLINE: by the other
/// it is, and may be inlined.
#ifdef TRUTH_MAY_INLINE
#define TRACED
#else
#define TRACED __attribute__((noinline))
#endif

namespace truth {

enum class kind { thread, fiber, coroutine };

class call;

/// One logical flow of control. Its number is never another's; what tells of it is never freed.
struct strand {
  PLAIN explicit strand(kind its_kind) : what(its_kind) {
    static unsigned long last;
    id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  }
  unsigned long id = 0;
  kind what;
  const call* innermost = nullptr;
};

/// A text that is made from its end, in little room: small stacks have no more.
class backwards {
 public:
  PLAIN backwards(char* text, unsigned long bytes) : text_(text), end_(text + bytes - 1) {
    *end_ = 0;
  }
  PLAIN void put(const char* word) {
    unsigned long length = __builtin_strlen(word);
    if (static_cast<unsigned long>(end_ - text_) < length) __builtin_abort();
    end_ -= length;
    __builtin_memcpy(end_, word, length);
  }
  /// A number that is not 0.
  PLAIN void put(unsigned long number) {
    for (; number != 0; number /= 10) {
      const char digit[2] = {static_cast<char>('0' + number % 10), 0};
      put(digit);
    }
  }
  PLAIN const char* text() const { return end_; }

 private:
  char* text_;
  char* end_;
};

/// Tells who made a strand.
PLAIN inline void made(const strand& child, const strand& by) {
  char room[64];
  backwards text(room, sizeof room);
  text.put(by.id);
  text.put(" by ");
  text.put(child.id);
  text.put("truth made ");
  heddle_mark(text.text());
}

/// The strand that the calling thread runs; at first, the thread itself. Callers ask anew each
/// time: after a switch they may run on another thread.
PLAIN __attribute__((noipa)) inline strand*& running() {
  static thread_local strand* current;
  if (current == nullptr) current = new strand(kind::thread);
  return current;
}

/// A strand for an instance of a coroutine.
PLAIN inline strand* coroutine() { return new strand(kind::coroutine); }

/// A call that is open on the strand that runs as it begins.
class [[nodiscard]] call {
 public:
  PLAIN explicit call(const char* function) : call(function, running()) {}
  /// The first of a strand that this thread runs from now on: `call here{"sums", coroutine()}` at
  /// the beginning of a coroutine's body.
  PLAIN call(const char* function, strand* on)
      : function_(function), strand_(on), below_(strand_->innermost) {
    back();
    mark();
  }
  /// Also puts right what calls that were jumped over have left.
  PLAIN ~call() { strand_->innermost = below_; }
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  /// Control is here again: behind what may have switched, thrown or jumped.
  PLAIN void back() const {
    running() = strand_;
    strand_->innermost = this;
  }

 private:
  PLAIN inline void mark() const;

  const char* function_;
  strand* strand_;
  const call* below_;
};

/// A local that tells of its end, also where that is the end of a coroutine that is destroyed.
struct guard {
  const call& around;
  TRACED ~guard() {
    around.back();
    const call here{"~guard"};
  }
};

/// A call that does nothing but be there.
TRACED inline void point() { const call here{"point"}; }

void call::mark() const {
  static thread_local char room[4096];
  backwards text(room, sizeof room);
  // From its end, as the innermost call is the one that is known.
  for (const call* at = this; at != nullptr; at = at->below_) {
    text.put(at->function_);
    if (at->below_ != nullptr) text.put("/");
  }
  constexpr const char* kinds[] = {" thread ", " fiber ", " coroutine "};
  text.put(kinds[static_cast<int>(strand_->what)]);
  text.put(strand_->id);
  text.put("truth ");
  heddle_mark(text.text());
}

}  // namespace truth
