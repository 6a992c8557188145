#include "heddle/coop/detail/timer_queue.hpp"

#include <utility>

namespace heddle::coop::detail {

void timer_queue::place(std::size_t index, const entry& value) noexcept {
  heap_[index] = value;
  value.who->rare->timer = static_cast<std::uint32_t>(index);
}

void timer_queue::rise(std::size_t index, const entry& value) noexcept {
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!(value < heap_[parent])) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, value);
}

void timer_queue::sink(std::size_t index, const entry& value) noexcept {
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < value)) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, value);
}

void timer_queue::add(strand_block& strand, time_point at) {
  strand.extra();  // where place() notes it
  strand.timed = true;
  const entry added{at, added_++, &strand};
  heap_.push_back(added);
  rise(heap_.size() - 1, added);
}

void timer_queue::remove(strand_block& strand) noexcept {
  const std::size_t index = std::exchange(strand.rare->timer, strand_extra::no_timer);
  strand.timed = false;
  const entry last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  // The last one fills the gap, and may belong above or below it.
  if (index > 0 && last < heap_[(index - 1) / 2]) {
    rise(index, last);
  } else {
    sink(index, last);
  }
}

}  // namespace heddle::coop::detail
