// Fibers that make fibers, by whichever library is linked.
#include "../chance.hpp"
#include "library.hpp"

namespace {

struct birth {
  const truth::strand* maker;
  unsigned depth;
};

PLAIN void begins(void* argument);

/// Makes fibers, and gives way between, so that others run before they do.
TRACED void makes(unsigned depth) {
  const truth::call here{"makes"};
  for (int i = 0; i < 3; ++i) {
    if (depth > 0) library::make(begins, new birth{truth::running(), depth - 1});
    here.back();
    if (chance(2) == 0) truth::point();
    if (chance(2) != 0) library::give_way();
    here.back();
  }
}

PLAIN void begins(void* argument) {
  const birth mine = *static_cast<birth*>(argument);
  delete static_cast<birth*>(argument);
  auto* const self = new truth::strand(truth::kind::fiber);
  truth::made(*self, *mine.maker);
  truth::running() = self;
  makes(mine.depth);
}

TRACED void whole() {
  const truth::call here{"whole"};
  for (int i = 0; i < 3; ++i) {
    library::make(begins, new birth{truth::running(), 3});
    here.back();
    truth::point();
  }
  library::run();
  here.back();
  truth::point();
}

}  // namespace

PLAIN int main() {
  chance(1, 1);
  whole();
}
