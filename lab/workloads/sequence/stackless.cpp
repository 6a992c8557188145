#include <coroutine>
#include <exception>

#include "heddle/coop/generator.hpp"
#include "workloads/sequence/workload.hpp"

namespace heddle::lab::sequence {
namespace {

// The generator that async_simple's benchmark has: nothing but the language, its frame from
// operator new.
class heap_generator {
 public:
  struct promise_type {
    const std::int64_t* item = nullptr;
    heap_generator get_return_object() {
      return heap_generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    // The item lives in the coroutine until it is resumed. A copy would cost more than the switch.
    std::suspend_always yield_value(const std::int64_t& given) noexcept {
      item = &given;
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit heap_generator(std::coroutine_handle<promise_type> body) : body_(body) {}
  heap_generator(const heap_generator&) = delete;
  heap_generator& operator=(const heap_generator&) = delete;
  ~heap_generator() { body_.destroy(); }

  std::int64_t next() {
    body_.resume();
    return *body_.promise().item;
  }

 private:
  std::coroutine_handle<promise_type> body_;
};

heap_generator count_on_the_heap() {
  for (std::int64_t i = 0;; ++i) co_yield i;
}

coop::generator<std::int64_t> count_up() {
  for (std::int64_t i = 0;; ++i) co_yield i;
}

taker take_some(heap_generator& from, std::int64_t count) {
  taker items;
  for (std::int64_t i = 0; i < count; ++i) items.take(from.next());
  return items;
}

taker take_some(coop::generator<std::int64_t>& from, std::int64_t count) {
  taker items;
  auto next = from.begin();
  for (std::int64_t i = 0;;) {
    items.take(*next);
    if (++i == count) return items;
    ++next;
  }
}

void run(problem& work, region& timed) {
  const std::int64_t generators = work.generators();
  if (work.from() == memory::excluded) {
    auto only = count_on_the_heap();
    timed.begin();
    work.finish(take_some(only, generators * work.items()), generators);
    timed.end();
  } else if (work.from() == memory::pooled) {
    timed.begin();
    for (std::int64_t each = 0; each < generators; ++each) {
      auto numbers = count_up();
      work.finish(take_some(numbers, work.items()));
    }
    timed.end();
  } else {
    timed.begin();
    for (std::int64_t each = 0; each < generators; ++each) {
      auto numbers = count_on_the_heap();
      work.finish(take_some(numbers, work.items()));
    }
    timed.end();
  }
  count().strand_switches += static_cast<std::uint64_t>(2 * generators * work.items());
}

const model<problem> registered{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::sequence
