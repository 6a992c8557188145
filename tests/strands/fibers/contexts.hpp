// A scheduler of our own over what a library calls a context: of Contexts, C() stands for the
// thread's own flow, C(entry, argument, stack bytes) is one that runs entry(argument) and then goes
// to the context that resumed it first; C::switch_to(from, to).
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../chance.hpp"
#include "library.hpp"

namespace library {

template <class C>
class fleet {
 public:
  PLAIN static void run(const plan& what) {
    fleet all(what);
    the() = &all;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < what.threads; ++i) others.emplace_back(&fleet::turns, &all);
    all.turns();
    for (std::thread& other : others) other.join();
  }

  PLAIN static void give_way() { the()->leave(); }

 private:
  struct fiber {
    unsigned number = 0;
    bool ended = false;
    std::unique_ptr<C> context;
  };
  /// The fiber that the calling thread runs: `current` is empty in the thread's own flow.
  struct worker {
    C own;
    std::unique_ptr<fiber> current;
  };

  PLAIN explicit fleet(const plan& what) : plan_(what) {}

  PLAIN __attribute__((noipa)) static fleet*& the() {
    static fleet* all;
    return all;
  }
  PLAIN __attribute__((noipa)) static worker*& self() {
    static thread_local worker* me;
    return me;
  }

  TRACED void turns() {
    truth::call here{"turns"};
    worker me;
    self() = &me;
    maker = truth::running();
    while (!all_gone()) {
      me.current = next(true);
      if (me.current == nullptr) {
        std::this_thread::yield();
        continue;
      }
      C::switch_to(me.own, *me.current->context);
      here.back();
      if (chance(4) == 0) truth::point();
      put_back(me);
    }
    self() = nullptr;
  }

  PLAIN static void first(void* argument) {
    auto* const me = static_cast<fiber*>(argument);
    the()->plan_.entry(me->number);
    me->ended = true;
  }

  /// Switches to another fiber, where there is one thread. Where there are several, no other thread
  /// may resume this fiber before it is suspended, so its thread puts it back.
  PLAIN void leave() {
    worker& me = *self();
    std::unique_ptr<fiber> to = plan_.threads == 1 && chance(4) != 0 ? next(false) : nullptr;
    C& from = *me.current->context;
    if (to == nullptr) {
      C::switch_to(from, me.own);
      return;
    }
    C& there = *to->context;
    waiting_.push_back(std::move(me.current));
    me.current = std::move(to);
    C::switch_to(from, there);
  }

  PLAIN bool all_gone() {
    const std::lock_guard lock(mutex_);
    return gone_ == plan_.count;
  }

  /// The next fiber: one that waits or, if that is allowed, a new one. Null if there is none.
  PLAIN std::unique_ptr<fiber> next(bool may_begin) {
    const std::lock_guard lock(mutex_);
    if (may_begin && begun_ < plan_.count && begun_ - gone_ < plan_.at_once &&
        (waiting_.empty() || chance(2) == 0)) {
      auto made = std::make_unique<fiber>();
      made->number = ++begun_;
      made->context = std::make_unique<C>(&fleet::first, made.get(), plan_.stack_bytes);
      return made;
    }
    if (waiting_.empty()) return nullptr;
    std::swap(waiting_[chance(static_cast<unsigned>(waiting_.size()))], waiting_.back());
    std::unique_ptr<fiber> found = std::move(waiting_.back());
    waiting_.pop_back();
    if (may_begin && plan_.destroyed != 0 && chance(plan_.destroyed) == 0) {
      ++gone_;
      return nullptr;
    }
    return found;
  }

  PLAIN void put_back(worker& me) {
    const std::lock_guard lock(mutex_);
    if (me.current->ended) {
      me.current = nullptr;
      ++gone_;
    } else {
      waiting_.push_back(std::move(me.current));
    }
  }

  plan plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<fiber>> waiting_;
  unsigned begun_ = 0;
  unsigned gone_ = 0;
};

}  // namespace library
