#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "backends.hpp"

TEST_CASE_TEMPLATE("a context that yields inside a catch rethrows its own exception", Context,
                   HEDDLE_BACKENDS) {
  Context home;
  std::string seen[2];
  std::unique_ptr<strand<Context>> strands[2];
  for (int i = 0; i < 2; ++i) {
    strands[i] = std::make_unique<strand<Context>>([&, i] {
      try {
        throw std::runtime_error(i == 0 ? "first" : "second");
      } catch (const std::exception&) {
        Context::switch_to(strands[i]->context, i == 0 ? strands[1]->context : home);
        try {
          throw;
        } catch (const std::exception& again) {
          seen[i] = again.what();
        }
      }
    });
  }
  Context::switch_to(home, strands[0]->context);  // 0 catches, 1 catches, home
  Context::switch_to(home, strands[0]->context);  // 0 rethrows while 1 is still in its handler
  Context::switch_to(home, strands[1]->context);
  CHECK(seen[0] == "first");
  CHECK(seen[1] == "second");
}

TEST_CASE_TEMPLATE("uncaught exceptions are counted for each context by itself", Context,
                   HEDDLE_BACKENDS) {
  struct yields_while_unwinding {
    Context& self;
    Context& other;
    int& counted;
    ~yields_while_unwinding() noexcept(false) {
      Context::switch_to(self, other);
      counted = std::uncaught_exceptions();
    }
  };
  Context home;
  int inside = -1;
  strand<Context>* self = nullptr;
  strand<Context> thrower([&] {
    try {
      const yields_while_unwinding guard{self->context, home, inside};
      throw 1;
    } catch (int) {
    }
  });
  self = &thrower;
  Context::switch_to(home, thrower.context);
  CHECK(std::uncaught_exceptions() == 0);
  Context::switch_to(home, thrower.context);
  CHECK(inside == 1);
}

TEST_CASE_TEMPLATE("a context can be destroyed inside a catch block and during unwinding", Context,
                   HEDDLE_BACKENDS) {
  Context home;
  int unwound = 0;
  struct guard {
    int& count;
    ~guard() { ++count; }
  };
  strand<Context>* self = nullptr;
  auto suspended = std::make_unique<strand<Context>>([&] {
    const guard outer{unwound};
    try {
      throw 1;
    } catch (int) {
      Context::switch_to(self->context, home);
    }
  });
  self = suspended.get();
  Context::switch_to(home, suspended->context);
  try {
    const std::unique_ptr<strand<Context>> dies_here = std::move(suspended);
    throw std::runtime_error("outside");
  } catch (const std::exception& error) {
    CHECK(std::string(error.what()) == "outside");
  }
  CHECK(unwound == 1);
}
