// Values in registers, in the red zone and on the x87 stack survive a switch. Compiled with -O2, or
// there would be nothing alive there.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include "backends.hpp"

namespace {

// Not inlined, and calls nothing when transfer() is inlined (switch_to calls what throws): a leaf
// function with locals that need more room than there are registers, which the compiler puts below
// the stack pointer.
template <class Context>
[[gnu::noinline]] std::uint64_t leaf(Context& self, Context& other, const std::uint64_t* in,
                                     int turns) {
  std::uint64_t v[14];
#pragma GCC unroll 14
  for (int i = 0; i < 14; ++i) v[i] = in[i] * (2 * i + 3);
  for (int turn = 0; turn < turns; ++turn) {
    if (Context::transfer(self, other) != heddle::coop::resume_reason::run) return 0;
#pragma GCC unroll 14
    for (int i = 0; i < 14; ++i) v[i] += in[i] ^ v[(i + 1) % 14];
  }
  std::uint64_t sum = 0;
#pragma GCC unroll 14
  for (int i = 0; i < 14; ++i) sum = sum * 31 + v[i];
  return sum;
}

std::uint64_t expected(const std::uint64_t* in, int turns) {
  std::uint64_t v[14];
  for (int i = 0; i < 14; ++i) v[i] = in[i] * (2 * i + 3);
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < 14; ++i) v[i] += in[i] ^ v[(i + 1) % 14];
  }
  std::uint64_t sum = 0;
  for (int i = 0; i < 14; ++i) sum = sum * 31 + v[i];
  return sum;
}

template <class Context>
[[gnu::noinline]] long double floating(Context& self, Context& other, double x, long double y) {
  const double a = x * 1.5;
  const double b = x * 2.5;
  const long double c = y * 3.5L;
  Context::switch_to(self, other);
  return a + b * c + static_cast<long double>(x);
}

}  // namespace

TEST_CASE_TEMPLATE("registers and the red zone survive a switch", Context, HEDDLE_BACKENDS) {
  constexpr int turns = 7;
  std::uint64_t in[3][14];
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < 14; ++i) in[s][i] = 0x9E3779B97F4A7C15u * (s * 14 + i + 1);
  }
  Context home;
  std::uint64_t got[3] = {};
  std::unique_ptr<strand<Context>> strands[2];
  for (int i = 0; i < 2; ++i) {
    // 0 goes to 1, 1 goes home, home goes to 0.
    strands[i] = std::make_unique<strand<Context>>([&, i] {
      Context& next = i == 0 ? strands[1]->context : home;
      got[i] = leaf(strands[i]->context, next, in[i], turns);
      Context::switch_to(strands[i]->context, next);
    });
  }
  got[2] = leaf(home, strands[0]->context, in[2], turns);
  Context::switch_to(home, strands[0]->context);
  for (int s = 0; s < 3; ++s) CHECK(got[s] == expected(in[s], turns));
}

TEST_CASE_TEMPLATE("floating point values survive a switch", Context, HEDDLE_BACKENDS) {
  Context home;
  long double got = 0;
  strand<Context>* self = nullptr;
  strand<Context> other([&] { got = floating(self->context, home, 3.0, 5.0L); });
  self = &other;
  const long double mine = floating(home, other.context, 2.0, 7.0L);
  Context::switch_to(home, other.context);
  CHECK(mine == 3.0L + 5.0L * 24.5L + 2.0L);
  CHECK(got == 4.5L + 7.5L * 17.5L + 3.0L);
}
