#include "workloads/deletion/article_context.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::lab {
namespace {

// The article's assert (error == 0).
void require(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "assertion failed: %s: %s\n", what, std::strerror(error));
  std::abort();
}

}  // namespace

article_context::~article_context() {
  if (state_ == nullptr) return;
  if (state_->started && !state_->ended) return;  // its thread waits for it: both stay for ever
  delete_as_printed();
}

void article_context::delete_as_printed() {
  pthread_mutex_destroy(&state_->mutex);
  pthread_cond_destroy(&state_->changed);
  delete state_;
  state_ = nullptr;
}

// In the context's thread, which holds the mutex except while it waits.
void article_context::yield(state& self) {
  self.running = false;
  pthread_cond_signal(&self.changed);
  while (!self.running) pthread_cond_wait(&self.changed, &self.mutex);
}

void article_context::wake_up(state& self) {
  pthread_mutex_lock(&self.mutex);
  self.running = true;
  if (self.started) {
    pthread_cond_signal(&self.changed);
  } else {
    start_thread(self);
  }
  while (self.running) pthread_cond_wait(&self.changed, &self.mutex);
  pthread_mutex_unlock(&self.mutex);
}

void article_context::start_thread(state& self) {
  pthread_attr_t attributes;
  require(pthread_attr_init(&attributes), "pthread_attr_init");
  require(pthread_attr_setstacksize(&attributes, self.stack_bytes), "pthread_attr_setstacksize");
  pthread_t thread{};
  require(pthread_create(&thread, &attributes, &run, &self), "pthread_create");
  require(pthread_attr_destroy(&attributes), "pthread_attr_destroy");
  self.started = true;
}

void* article_context::run(void* argument) {
  state& self = *static_cast<state*>(argument);
  pthread_detach(pthread_self());
  pthread_mutex_lock(&self.mutex);
  self.entry(self.argument);
  self.running = false;
  self.ended = true;
  pthread_cond_signal(&self.changed);
  pthread_mutex_unlock(&self.mutex);
  return nullptr;
}

}  // namespace heddle::lab
