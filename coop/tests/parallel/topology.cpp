#include "parallel/topology.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace heddle::coop::parallel::detail;

namespace {

/// A /sys of its own, gone with this.
class made_up_sys {
 public:
  made_up_sys() {
    char name[] = "heddle-topology.XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = std::filesystem::absolute(name);
  }
  ~made_up_sys() { std::filesystem::remove_all(path_); }
  void add(int processor, int package, int core) const {
    const auto topology = path_ / ("cpu" + std::to_string(processor)) / "topology";
    std::filesystem::create_directories(topology);
    std::ofstream(topology / "physical_package_id") << package << '\n';
    std::ofstream(topology / "core_id") << core << '\n';
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("groups take one processor of each core before a second one") {
  const std::vector<int> allowed =
      processors_by_core("/nowhere");  // by number, as nothing is known
  if (allowed.size() < 2) MESSAGE("one processor may be used: its order is not tested");
  const made_up_sys sys;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    sys.add(allowed[i], 0, static_cast<int>(i) / 2);  // two neighbours are siblings
  }
  std::vector<int> expected;
  for (std::size_t i = 0; i < allowed.size(); i += 2) expected.push_back(allowed[i]);
  for (std::size_t i = 1; i < allowed.size(); i += 2) expected.push_back(allowed[i]);
  CHECK(processors_by_core(sys.path()) == expected);
}
