#include "topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace heddle::coop::parallel::detail {
namespace {

// A machine may have more processors than a cpu_set_t has bits.
class processor_set {
 public:
  explicit processor_set(std::size_t processors) : bits_(processors / 64 + 1) {}
  [[nodiscard]] std::size_t bytes() const { return bits_.size() * sizeof(unsigned long); }
  [[nodiscard]] std::size_t size() const { return bits_.size() * 64; }
  [[nodiscard]] cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(bits_.data()); }
  [[nodiscard]] bool has(std::size_t processor) const {
    return (bits_[processor / 64] >> processor % 64 & 1) != 0;
  }
  void add(std::size_t processor) { bits_[processor / 64] |= 1ul << processor % 64; }

 private:
  std::vector<unsigned long> bits_;
};

std::vector<int> allowed_processors() {
  for (std::size_t size = CPU_SETSIZE;; size *= 2) {
    processor_set allowed(size);
    if (sched_getaffinity(0, allowed.bytes(), allowed.get()) != 0) {
      if (errno == EINVAL && size < 1 << 20) continue;  // the kernel's mask is larger
      throw std::system_error(errno, std::generic_category(),
                              "cannot ask which processors this process may use");
    }
    std::vector<int> numbers;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (allowed.has(i)) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
  }
}

// The package and the core in it; of its own where that cannot be read.
std::pair<long, long> core_of(const std::filesystem::path& sys, int processor) {
  const std::filesystem::path topology = sys / ("cpu" + std::to_string(processor)) / "topology";
  long package = 0;
  long core = 0;
  if (std::ifstream(topology / "physical_package_id") >> package &&
      std::ifstream(topology / "core_id") >> core) {
    return {package, core};
  }
  return {-1, processor};
}

}  // namespace

std::vector<int> processors_by_core(const std::filesystem::path& sys) {
  // Each pair: the number of earlier processors on the same core, then the processor's number.
  std::vector<std::pair<int, int>> ranked;
  std::map<std::pair<long, long>, int> of_core;
  for (const int processor : allowed_processors()) {
    ranked.emplace_back(of_core[core_of(sys, processor)]++, processor);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> order;
  order.reserve(ranked.size());
  for (const auto& [rank, processor] : ranked) order.push_back(processor);
  return order;
}

void pin_this_thread(int processor) {
  const auto number = static_cast<std::size_t>(processor);
  processor_set one(number);
  one.add(number);
  if (sched_setaffinity(0, one.bytes(), one.get()) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot keep a group on processor " + std::to_string(processor) +
                                " (groups_options::pin = false does without)");
  }
}

}  // namespace heddle::coop::parallel::detail
