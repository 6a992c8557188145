#include "heddle/coop/parallel/watched.hpp"

#include <mutex>

namespace heddle::coop::parallel::detail {

// A change has taken it out of the queue. In its own group.
void watch::look(remote_wait& base) noexcept {
  auto& self = static_cast<watch&>(base);
  for (;;) {
    // Empty: the wait is over already, by another variable.
    if (self.empty() || self.condition_.holds(self.condition_.predicate)) return finish(self);
    // Out of time or cancelled while the message was under way: nothing else would end it.
    if (self.given_up()) return end_given_up(self);
    self.wait_on();
    // A watched variable may have changed before this wait was in the queue again.
    if (!self.condition_.holds(self.condition_.predicate)) return;
    if (!self.withdraw()) return;  // the next message is under way
  }
}

void watched_base::tell_all() noexcept {
  granted_waits told;
  {
    const std::lock_guard held(lock_);
    while (!watchers_.empty()) told.add(watchers_.pop());
  }
  told.grant();
}

}  // namespace heddle::coop::parallel::detail
