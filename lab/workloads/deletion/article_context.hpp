#pragma once

#include <pthread.h>

#include <cstddef>
#include <string_view>

#include "heddle/coop/context/context.hpp"

namespace heddle::lab {

/// A context as "Coroutines in C/C++: beyond Duff's Device" describes it, with its defects: a
/// thread, a mutex and a condition variable, on which both sides wait. Written anew from the
/// description, to be measured beside ours.
///
/// - Switches are between the scheduler (the blank context) and a context only.
/// - The thread is made by the first switch; a stack that is too small is an assertion there.
/// - Deleting a context that has yielded tells its thread nothing: it waits for ever.
///
/// A reader of the article suspected that destroying the condition variable under the waiting
/// thread is undefined. The C library of that time refused (EBUSY), today's waits for the thread,
/// for ever. So the destructor leaves both to the thread, which measures what the article's program
/// of 2008 did, and delete_as_printed() is what it says.
class article_context {
 public:
  static constexpr std::string_view name = "article";
  [[nodiscard]] static std::size_t minimum_stack_bytes() noexcept { return 0; }  // it does not ask

  article_context() noexcept : state_(new state) {}
  article_context(coop::entry_function entry, void* argument, std::size_t stack_bytes)
      : state_(new state) {
    state_->entry = entry;
    state_->argument = argument;
    state_->stack_bytes = stack_bytes;
    state_->running = false;
  }
  ~article_context();
  article_context(const article_context&) = delete;
  article_context& operator=(const article_context&) = delete;

  static void switch_to(article_context& from, article_context& to) {
    if (from.state_->entry != nullptr) {
      yield(*from.state_);
    } else {
      wake_up(*to.state_);
    }
  }

  /// Destroys mutex and condition variable, then frees the context, even if a thread waits.
  void delete_as_printed();

 private:
  struct state {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    bool running = true;
    bool started = false;
    bool ended = false;
    coop::entry_function entry = nullptr;
    void* argument = nullptr;
    std::size_t stack_bytes = 0;
  };

  static void yield(state& self);
  static void wake_up(state& self);
  static void start_thread(state& self);
  static void* run(void* self);

  state* state_;
};

}  // namespace heddle::lab
