// The threads of the article's programs, which all work alike: a team works on one thing and waits
// for its own end. Without hooks itself, so that what is recorded begins and ends with `work`.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <cstdlib>

#include "work.h"

namespace teams {

constexpr int most = 16;

template <class Shared>
struct member {
  pthread_t thread;
  Shared* shared;
  int number;
  std::uint64_t (*work)(Shared& shared, int number);
  std::uint64_t result;
};

template <class Shared>
__attribute__((no_instrument_function)) void* start(void* argument) {
  auto* const self = static_cast<member<Shared>*>(argument);
  self->result = self->work(*self->shared, self->number);
  lab_inner_thread_ends();
  return nullptr;
}

/// Runs work(shared, 0), work(shared, 1) … on `size` threads at once; the sum of what they return.
template <class Shared>
__attribute__((no_instrument_function)) std::uint64_t run(Shared& shared, int size,
                                                          std::uint64_t (*work)(Shared&, int)) {
  member<Shared> all[most];
  for (int i = 0; i < size; ++i) {
    all[i].shared = &shared;
    all[i].number = i;
    all[i].work = work;
    if (pthread_create(&all[i].thread, nullptr, &start<Shared>, &all[i]) != 0) std::abort();
  }
  std::uint64_t sum = 0;
  for (int i = 0; i < size; ++i) {
    pthread_join(all[i].thread, nullptr);
    sum += all[i].result;
  }
  return sum;
}

}  // namespace teams
