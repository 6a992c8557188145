// Threads of the State Threads library, by its own scheduler: setjmp, and longjmp into stacks that
// it maps itself.
#include <st.h>

#include <cstdlib>

#include "../truth.hpp"
#include "library.hpp"

namespace library {
namespace {

struct start {
  const plan* what;
  unsigned number;
  unsigned* alive;
};

PLAIN void* first(void* argument) {
  const start mine = *static_cast<start*>(argument);
  delete static_cast<start*>(argument);
  mine.what->entry(mine.number);
  --*mine.alive;
  return nullptr;
}

TRACED void runs_all(const plan& what) {
  truth::call here{"runs_all"};
  if (st_init() != 0) std::abort();
  unsigned alive = 0;
  for (unsigned i = 1; i <= what.count; ++i) {
    while (alive >= what.at_once) {
      st_usleep(0);
      here.back();
    }
    ++alive;
    if (st_thread_create(first, new start{&what, i, &alive}, 0,
                         static_cast<int>(what.stack_bytes)) == nullptr) {
      std::abort();
    }
    here.back();
    truth::point();
  }
  while (alive > 0) {
    st_usleep(0);
    here.back();
  }
  truth::point();
}

}  // namespace

const std::size_t small_stack = 16384;
PLAIN void run(const plan& what) { runs_all(what); }
PLAIN void give_way() { st_usleep(0); }

}  // namespace library
