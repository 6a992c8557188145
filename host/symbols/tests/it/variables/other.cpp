// Another unit, with variables of the same names and of a type that both have.
#include "members.hpp"

namespace {

struct Pool {
  int number[3];
  std::mutex another;
} pool;

}  // namespace

void other_unit() {
  SHOW(pool.another);
  SHOW(everywhere.inner.deeper[1].word);
  SHOW(everywhere.inner.lock);
}
