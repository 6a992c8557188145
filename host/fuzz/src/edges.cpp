// Counts for libFuzzer which code of the recorder ran: GCC calls a function at each basic block,
// and libFuzzer wants counters, and a table of their places. Compiled without that itself. The
// linker (--wrap) puts the function here in front of libFuzzer's, which says that it is not used.
#include <cstddef>
#include <cstdint>

extern "C" {

void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);
void __sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end);

void __wrap___sanitizer_cov_trace_pc();
}

namespace {

/// Several times as many as there are blocks, of which two seldom have the same place then.
constexpr std::size_t kCounters = 1 << 13;
std::uint8_t counters[kCounters];
/// Address, and whether a function begins there.
std::uintptr_t places[kCounters][2];

[[gnu::constructor]] void begin() {
  __sanitizer_cov_8bit_counters_init(counters, counters + kCounters);
  __sanitizer_cov_pcs_init(&places[0][0], &places[0][0] + 2 * kCounters);
}

}  // namespace

void __wrap___sanitizer_cov_trace_pc() {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  // The same in each run, wherever the program is loaded.
  const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(&begin);
  const std::size_t place = offset * 0x9e3779b97f4a7c15 >> 51;
  static_assert(kCounters == std::size_t{1} << (64 - 51));
  places[place][0] = at;
  if (counters[place] != 255) ++counters[place];
}
