// fibers SCENARIO [SEED]: what fibers may do, by whichever library is linked.
#include <cstdio>
#include <cstring>

#include "calls.hpp"

namespace {

// A signal's frame and the unwinder want some.
constexpr std::size_t stack = 32768;

PLAIN void begin() {
  auto* const self = new truth::strand(truth::kind::fiber);
  if (library::maker != nullptr) truth::made(*self, *library::maker);
  truth::running() = self;
}

TRACED void body(unsigned depth) {
  const truth::call here{"body"};
  calls::work(depth);
}

/// The entry of all fibers: one call, in which everything happens.
PLAIN void one(unsigned) {
  begin();
  body(3);
}

TRACED void opens() {
  const truth::call here{"opens"};
  calls::leaf();
}

TRACED void closes() {
  const truth::call here{"closes"};
  calls::give_way();
}

/// Several calls from one that is not traced: between them nothing that is traced is open.
PLAIN void several(unsigned number) {
  begin();
  opens();
  if (number % 2 == 0) calls::give_way();
  body(2);
  if (number % 3 == 0) calls::give_way();
  closes();
}

TRACED void crumb() {
  const truth::call here{"crumb"};
  calls::give_way();
}

PLAIN void tiny(unsigned) {
  begin();
  crumb();
}

TRACED void pauses() {
  const truth::call here{"pauses"};
  calls::give_way();
  here.back();
  calls::leaf();
}

/// Another function that is not traced makes the outermost calls.
PLAIN void deeper() {
  pauses();
  calls::leaf();
}

/// Fibers of several kinds, of which one may begin where another was left.
PLAIN void kinds(unsigned number) {
  begin();
  switch (number % 4) {
    case 0:
      body(2);
      break;
    case 1:
      pauses();
      break;
    case 2:
      deeper();
      break;
    default:
      opens();
      calls::give_way();
      closes();
  }
}

/// Calls are open when the program ends.
PLAIN void dies(unsigned number) {
  begin();
  if (number == 100) std::abort();
  body(3);
}

/// Recording begins when some fibers are in the middle of their calls.
PLAIN void joins(unsigned number) {
  begin();
  if (number == 50) heddle_start();
  body(3);
}

struct scenario {
  const char* name;
  library::plan plan;
};

constexpr scenario scenarios[] = {
    {"nested", {.entry = one, .count = 300, .stack_bytes = stack}},
    {"small", {.entry = one, .count = 300}},
    {"roots", {.entry = several, .count = 300, .stack_bytes = stack}},
    {"signals", {.entry = one, .count = 100, .stack_bytes = stack}},
    {"many", {.entry = tiny, .count = 100'000, .at_once = 20'000}},
    {"thousands", {.entry = tiny, .count = 10'000, .at_once = 2'000}},
    {"crash", {.entry = dies, .count = 100, .stack_bytes = stack}},
    {"paused", {.entry = joins, .count = 300, .stack_bytes = stack}},
    {"flight", {.entry = one, .count = 3000, .stack_bytes = stack}},
    {"destroyed", {.entry = one, .count = 300, .stack_bytes = stack, .destroyed = 16}},
    {"kinds", {.entry = kinds, .count = 300, .at_once = 6, .stack_bytes = stack, .destroyed = 3}},
    {"threads", {.entry = one, .count = 600, .stack_bytes = stack, .threads = 3}},
    {"several-threads", {.entry = several, .count = 600, .stack_bytes = stack, .threads = 3}},
};

}  // namespace

PLAIN int main(int count, char** arguments) {
  for (const scenario& each : scenarios) {
    if (count < 2 || std::strcmp(each.name, arguments[1]) != 0) continue;
    library::plan plan = each.plan;
    calls::may_throw = calls::may_sort = plan.stack_bytes != 0;
    calls::may_raise = std::strcmp(each.name, "signals") == 0;
    if (plan.stack_bytes == 0) {
#if defined(__OPTIMIZE__)
      plan.stack_bytes = library::small_stack;
#else
      plan.stack_bytes = 2 * library::small_stack;
#endif
    }
    chance(1, count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1);
    library::maker = truth::running();
    library::run(plan);
    return 0;
  }
  std::fputs("usage: fibers SCENARIO [SEED]; scenarios:", stderr);
  for (const scenario& each : scenarios) std::fprintf(stderr, " %s", each.name);
  std::fputc('\n', stderr);
  return 2;
}
