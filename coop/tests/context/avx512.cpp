// Vector registers that only AVX-512 has, zmm16-zmm31 and the masks, are known to be clobbered by a
// switch: values alive in them are saved. Exit code 77: this processor has no AVX-512.
#include <immintrin.h>

#include <cstdio>

#include "heddle/coop/context/asm_context.hpp"

namespace {

using heddle::coop::asm_context;

asm_context home;
asm_context* other;

[[gnu::noinline]] float sum(const float* p, asm_context& from, asm_context& to) {
  __m512 v[24];
#pragma GCC unroll 24
  for (int i = 0; i < 24; ++i) v[i] = _mm512_loadu_ps(p + 16 * i);
  const __mmask16 mask = _mm512_cmp_ps_mask(v[0], v[1], _CMP_EQ_OQ);
  asm_context::switch_to(from, to);
  __m512 total = _mm512_setzero_ps();
#pragma GCC unroll 24
  for (int i = 0; i < 24; ++i) total = _mm512_mask_add_ps(total, mask, total, v[i]);
  return _mm512_reduce_add_ps(total);
}

float other_sum;

void overwrite(void*) {
  float zeros[16 * 24] = {};
  other_sum = sum(zeros, *other, home);
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx512f")) {
    std::fputs("skipped: this processor has no AVX-512\n", stderr);
    return 77;
  }
  float ones[16 * 24];
  for (float& x : ones) x = 1;
  asm_context context(&overwrite, nullptr, 64 * 1024);
  other = &context;
  const float got = sum(ones, home, context);
  asm_context::switch_to(home, context);
  if (got != 16 * 24 || other_sum != 0) {
    std::fprintf(stderr, "expected 384 and 0, got %g and %g\n", got, other_sum);
    return 1;
  }
  return 0;
}
