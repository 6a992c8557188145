// Boost.Coroutine2: two stacks that hand values to each other; some are left in the middle, and
// unwound.
#include <boost/coroutine2/coroutine.hpp>
#include <vector>

#include "../chance.hpp"

namespace {

using channel = boost::coroutines2::coroutine<int>;

TRACED void gives(channel::push_type& out, int depth) {
  const truth::call here{"gives"};
  if (depth > 0) gives(out, depth - 1);
  here.back();
  out(depth);
  here.back();
  truth::point();
  if (depth > 0) gives(out, depth - 1);
}

PLAIN void source(channel::push_type& out) {
  truth::running() = new truth::strand(truth::kind::fiber);
  gives(out, 3);
}

TRACED void takes_some(int most) {
  const truth::call here{"takes_some"};
  channel::pull_type in(source);
  here.back();
  truth::point();
  while (in && most-- > 0) {
    in();
    here.back();
    truth::point();
  }
}

/// Several at a time, in any order.
TRACED void takes_all() {
  const truth::call here{"takes_all"};
  std::vector<channel::pull_type> all;
  for (int i = 0; i < 10; ++i) all.emplace_back(source);
  here.back();
  while (!all.empty()) {
    const auto at = chance(static_cast<unsigned>(all.size()));
    if (all[at]) {
      all[at]();
    } else {
      std::swap(all[at], all.back());
      all.pop_back();
    }
    here.back();
    truth::point();
  }
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  for (int i = 0; i < 10; ++i) {
    takes_some(100);
    here.back();
    takes_some(5);
    here.back();
    takes_all();
    here.back();
  }
}
