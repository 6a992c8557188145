#pragma once

#include <memory>
#include <vector>

#include "heddle/coop/context/context.hpp"
#include "workloads/survey/demonstrations.hpp"
#include "workloads/survey/valgrind.hpp"
#include "workloads/survey/workload.hpp"

namespace heddle::lab::surveying {

/// Any mechanism with a stack for each strand.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region& timed) {
    time(work, timed);
    work.found({.keeps_locals = keeps_locals(),
                .yields_in_call = yields_in_call(),
                .unwinds = unwinds(),
                .own_signal_mask = own_signal_mask(),
                .own_thread_locals = own_thread_locals(),
                .minimum_stack_bytes = static_cast<std::int64_t>(Context::minimum_stack_bytes())});
    look(work);
  }

 private:
  // A strand and the main flow, which resumes it.
  template <class Body>
  class strand {
   public:
    explicit strand(const Body& body) : body_(body) { obey_registration(); }
    void resume() { Context::switch_to(main_, context_); }
    void yield() { Context::switch_to(context_, main_); }

   private:
    static void entry(void* self) {
      auto& strand_of_entry = *static_cast<strand*>(self);
      strand_of_entry.body_(strand_of_entry);
    }

    Body body_;
    Context main_;
    Context context_{&entry, this, 64 * 1024};
  };

  static void time(problem& work, region& timed) {
    strand turns([&work](auto& self) {
      for (std::int64_t i = 0; i < work.yields(); ++i) {
        work.take_turn();
        self.yield();
      }
    });
    timed.begin();
    for (std::int64_t i = 0; i < work.yields(); ++i) turns.resume();
    timed.end();
    turns.resume();  // to its end
    count().strand_switches += static_cast<std::uint64_t>(2 * work.yields());
  }

  static bool keeps_locals() {
    bool kept = false;
    strand one([&kept](auto& self) {
      volatile int local = 41;
      local = local + 1;
      self.yield();
      kept = local == 42;
    });
    one.resume();
    one.resume();
    return kept;
  }

  template <class Strand>
  [[gnu::noinline]] static void suspended_in_a_call(Strand& self) {
    self.yield();
    [[maybe_unused]] volatile int not_the_last = 0;  // no tail call: the frame is there
  }

  static bool yields_in_call() {
    std::string order;
    strand one([&order](auto& self) {
      order += "before ";
      suspended_in_a_call(self);
      order += "after";
    });
    one.resume();
    order += "main ";
    one.resume();
    return order == yielded_in_call;
  }

  static bool unwinds() {
    bool destructed = false;
    {
      strand one([&destructed](auto& self) {
        const guard lives_here{destructed};
        self.yield();
      });
      one.resume();
      if (destructed) return false;
    }
    return destructed;
  }

  static bool own_signal_mask() {
    strand one([](auto& self) {
      block_signal(true);
      self.yield();
      block_signal(false);
    });
    one.resume();
    const bool own = !signal_is_blocked();
    one.resume();
    block_signal(false);
    return own;
  }

  static bool own_thread_locals() {
    of_a_thread = 1;
    strand one([](auto& self) {
      of_a_thread = 2;
      self.yield();
    });
    one.resume();
    const bool own = of_a_thread == 1;
    one.resume();
    return own;
  }

  static void look(problem& work) {
    work.look_before();
    const auto body = [](auto& self) { suspended_in_a_call(self); };
    std::vector<std::unique_ptr<strand<decltype(body)>>> all;
    for (int i = 0; i < problem::suspended; ++i) {
      all.push_back(std::make_unique<strand<decltype(body)>>(body));
      all.back()->resume();
    }
    work.look_at();
    for (auto& each : all) each->resume();
  }
};

}  // namespace heddle::lab::surveying
