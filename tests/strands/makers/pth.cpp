// GNU Pth's threads.
#include <pth.h>

#include <cstdlib>

#include "../truth.hpp"
#include "library.hpp"

namespace library {
namespace {

struct start {
  void (*entry)(void*);
  void* argument;
};
unsigned alive = 0;

PLAIN void* first(void* given) {
  const start mine = *static_cast<start*>(given);
  delete static_cast<start*>(given);
  mine.entry(mine.argument);
  --alive;
  return nullptr;
}

}  // namespace

PLAIN void make(void (*entry)(void*), void* argument) {
  static pth_attr_t attributes = nullptr;
  if (attributes == nullptr) {
    if (!pth_init()) std::abort();
    attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, 32768u);
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, 0);
  }
  ++alive;
  if (pth_spawn(attributes, first, new start{entry, argument}) == nullptr) std::abort();
}
PLAIN void run() {
  while (alive > 0) pth_yield(nullptr);
}
PLAIN void give_way() { pth_yield(nullptr); }

}  // namespace library
