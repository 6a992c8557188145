// Coroutines of which the optimiser leaves little to see: their first activation is inlined into
// the ramp, and that into its caller, and one frame follows another at one address. lives.tree says
// how many instances of each there are, and who made them.
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <utility>

#define PLAIN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

volatile int sum;
CALLED void leaf() { sum = sum + 1; }

using handle = std::coroutine_handle<>;
handle waiting;

struct waits {
  PLAIN bool await_ready() noexcept { return false; }
  PLAIN void await_suspend(handle who) noexcept { waiting = who; }
  PLAIN void await_resume() noexcept {}
};

/// With OWN_MEMORY, frames do not come from the C++ library's operator new.
struct memory {
#ifdef OWN_MEMORY
  PLAIN static void* operator new(std::size_t bytes) {
    void* const frame = std::malloc(bytes);
    if (frame == nullptr) std::abort();
    return frame;
  }
  PLAIN static void operator delete(void* frame) { std::free(frame); }
#endif
};

/// Begins when it is resumed, and is destroyed by its handle.
struct lazy {
  struct promise_type : memory {
    PLAIN lazy get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    PLAIN std::suspend_always initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_always final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
  handle body;
};

/// Begins at once, and its frame is gone when it ends.
struct fired {
  struct promise_type : memory {
    PLAIN fired get_return_object() noexcept { return {}; }
    PLAIN std::suspend_never initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_never final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
};

/// Destroys itself when it has ended.
struct self_destroying {
  struct promise_type : memory {
    struct last {
      PLAIN bool await_ready() noexcept { return false; }
      PLAIN void await_suspend(handle ended) noexcept { ended.destroy(); }
      PLAIN void await_resume() noexcept {}
    };
    PLAIN self_destroying get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    PLAIN std::suspend_always initial_suspend() noexcept { return {}; }
    PLAIN last final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
  handle body;
};

/// Says who it is by how often it calls.
CALLED lazy child(int calls) {
  for (int i = 0; i < calls; ++i) leaf();
  co_return;
}

std::array<handle, 10> children;

template <int Number>
CALLED lazy maker() {
  children[Number] = child(Number + 1).body;
  co_await std::suspend_always{};
  leaf();
}

/// The child that was made last runs first.
template <int... Number>
CALLED void in_the_other_order(std::integer_sequence<int, Number...>) {
  const handle makers[] = {maker<Number>().body...};
  for (const handle each : makers) each.resume();
  for (std::size_t i = children.size(); i > 0; --i) children[i - 1].resume();
  for (const handle each : makers) each.resume();
  for (const handle each : children) each.destroy();
  for (const handle each : makers) each.destroy();
}

CALLED fired fires(int calls) {
  leaf();
  co_await waits{};
  for (int i = 0; i < calls; ++i) leaf();
}

CALLED void one_after_another() {
  for (int i = 0; i < 10; ++i) {
    fires(i);
    waiting.resume();
  }
}

/// It never suspends.
CALLED fired runs_through(int calls) {
  for (int i = 0; i < calls; ++i) leaf();
  co_return;
}

CALLED void all_at_once() {
  for (int i = 0; i < 10; ++i) runs_through(i);
}

CALLED lazy never_runs() {
  leaf();
  co_return;
}

CALLED void destroyed_unrun() {
  for (int i = 0; i < 10; ++i) never_runs().body.destroy();
}

CALLED self_destroying ends_itself() {
  leaf();
  co_await waits{};
  leaf();
}

CALLED void ending_themselves() {
  for (int i = 0; i < 10; ++i) {
    ends_itself().body.resume();
    waiting.resume();
  }
}

/// Called in one place, so that its ramp is inlined there.
static fired inlined(int calls) {
  leaf();
  co_await waits{};
  for (int i = 0; i < calls; ++i) leaf();
}

CALLED void in_their_caller() {
  for (int i = 0; i < 10; ++i) {
    inlined(i);
    waiting.resume();
  }
}

/// Makes a child in its first activation.
CALLED fired starts() {
  const handle begun = child(20).body;
  co_await waits{};
  begun.resume();
  begun.destroy();
}

CALLED void starting() {
  for (int i = 0; i < 10; ++i) {
    starts();
    waiting.resume();
  }
}

int main() {
  in_the_other_order(std::make_integer_sequence<int, 10>{});
  one_after_another();
  all_at_once();
  destroyed_unrun();
  ending_themselves();
  in_their_caller();
  starting();
}
