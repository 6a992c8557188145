// GNU Pth's threads, by its own scheduler, which is itself one of them.
#include <pth.h>

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
  if (!pth_init()) std::abort();
  pth_attr_t attributes = pth_attr_new();
  pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, static_cast<unsigned>(what.stack_bytes));
  pth_attr_set(attributes, PTH_ATTR_JOINABLE, 0);
  unsigned alive = 0;
  for (unsigned i = 1; i <= what.count; ++i) {
    while (alive >= what.at_once) {
      pth_yield(nullptr);
      here.back();
    }
    ++alive;
    if (pth_spawn(attributes, first, new start{&what, i, &alive}) == nullptr) std::abort();
    here.back();
    truth::point();
  }
  while (alive > 0) {
    pth_yield(nullptr);
    here.back();
  }
  truth::point();
  pth_attr_destroy(attributes);
}

}  // namespace

const std::size_t small_stack = 16384;
PLAIN void run(const plan& what) { runs_all(what); }
PLAIN void give_way() { pth_yield(nullptr); }

}  // namespace library
