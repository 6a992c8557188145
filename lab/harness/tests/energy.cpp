#include "harness/energy.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

using heddle::lab::energy;
namespace fs = std::filesystem;

namespace {

/// A directory such as /sys/class/powercap, of our own.
class powercap {
 public:
  powercap() {
    std::string name = (fs::temp_directory_path() / "heddle-energy-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~powercap() { fs::remove_all(path_); }

  void set(const std::string& zone, const std::string& name, std::uint64_t microjoules) const {
    fs::create_directory(path_ / zone);
    std::ofstream(path_ / zone / "name") << name << '\n';
    std::ofstream(path_ / zone / "energy_uj") << microjoules << '\n';
    std::ofstream(path_ / zone / "max_energy_range_uj") << 1000 << '\n';
  }
  [[nodiscard]] energy now() const { return energy::now(path_); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("energy is that of the packages, also when a counter begins anew") {
  const powercap machine;
  machine.set("intel-rapl:0", "package-0", 100);
  machine.set("intel-rapl:1", "package-1", 990);
  machine.set("intel-rapl:0:0", "core", 50);
  machine.set("intel-rapl:2", "psys", 500);
  const energy start = machine.now();
  machine.set("intel-rapl:0", "package-0", 130);
  machine.set("intel-rapl:1", "package-1", 15);
  machine.set("intel-rapl:0:0", "core", 70);
  machine.set("intel-rapl:2", "psys", 700);
  CHECK(start.readable());
  CHECK(machine.now().since(start) == 30 + 25);
}

TEST_CASE("where no energy can be read there is none, which is not zero") {
  const powercap machine;
  CHECK_FALSE(machine.now().readable());
  CHECK_FALSE(machine.now().since(machine.now()).has_value());
  CHECK_FALSE(energy::now("/nowhere").since(energy::now("/nowhere")).has_value());
}
