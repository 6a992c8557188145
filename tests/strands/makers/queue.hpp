// A scheduler over contexts, by which a fiber goes to any other that is ready. Of Contexts, C()
// stands for the thread's own flow, and C(entry, stack, bytes) is one that runs entry(), which does
// not return; C::switch_to(from, to).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../chance.hpp"
#include "../fibers/slab.hpp"
#include "library.hpp"

namespace library {

template <class C>
class queue {
 public:
  PLAIN static void make(void (*entry)(void*), void* argument) {
    char* const stack = slab::take(bytes);
    the().ready_.push_back(new fiber{entry, argument, stack, C(&queue::first, stack, bytes)});
  }
  PLAIN static void run() {
    queue& all = the();
    while (!all.ready_.empty()) {
      all.go_to(all.own_, all.next());
      all.bury();
    }
  }
  PLAIN static void give_way() {
    queue& all = the();
    fiber* const self = all.current_;
    if (self == nullptr) return;
    all.ready_.push_back(self);
    if (chance(3) == 0) {
      C::switch_to(self->context, all.own_);
    } else if (fiber* const to = all.next(); to != self) {
      all.go_to(self->context, to);
    }
  }

 private:
  static constexpr std::size_t bytes = 32768;
  struct fiber {
    void (*entry)(void*);
    void* argument;
    char* stack;
    C context;
  };

  PLAIN static queue& the() {
    static queue all;
    return all;
  }
  PLAIN static void first() {
    queue& all = the();
    fiber* const self = all.current_;
    self->entry(self->argument);
    all.ended_ = self;
    C::switch_to(self->context, all.own_);
  }
  PLAIN fiber* next() {
    std::swap(ready_[chance(static_cast<unsigned>(ready_.size()))], ready_.back());
    fiber* const found = ready_.back();
    ready_.pop_back();
    return found;
  }
  PLAIN void go_to(C& from, fiber* to) {
    current_ = to;
    C::switch_to(from, to->context);
    if (&from == &own_) current_ = nullptr;
  }
  PLAIN void bury() {
    fiber* const gone = std::exchange(ended_, nullptr);
    if (gone == nullptr) return;
    slab::give(gone->stack);
    delete gone;
  }

  C own_;
  std::vector<fiber*> ready_;
  fiber* current_ = nullptr;
  fiber* ended_ = nullptr;
};

}  // namespace library
