#include "harness/parameters.hpp"

#include <doctest/doctest.h>

using namespace heddle::lab;

namespace {

parameters some() {
  return parameters({parameter::integer("n", 5, 1, 100, "size"),
                     parameter::real("share", 0.5, 0, 1, "part"),
                     parameter::word("style", {"direct", "scheduler"}, "way")});
}

}  // namespace

TEST_CASE("parameters have defaults and take values of their own type") {
  parameters values = some();
  CHECK(values.json().text() == R"({"n": 5, "share": 0.5, "style": "direct"})");
  values.set("n", "100");
  values.set("share", "0.25");
  values.set("style", "scheduler");
  CHECK(values.integer("n") == 100);
  CHECK(values.real("share") == 0.25);
  CHECK(values.word("style") == "scheduler");
}

TEST_CASE("a wrong value is refused with the valid ones named") {
  for (const auto& [name, text, expected] :
       {std::tuple{"n", "0", "--n=0: expected 1 … 100"},
        std::tuple{"n", "101", "--n=101: expected 1 … 100"},
        std::tuple{"n", "1.5", "--n=1.5: expected 1 … 100"},
        std::tuple{"n", "", "--n=: expected 1 … 100"},
        std::tuple{"n", "99999999999999999999", "--n=99999999999999999999: expected 1 … 100"},
        std::tuple{"share", "nan", "--share=nan: expected 0 … 1"},
        std::tuple{"style", "Direct", "--style=Direct: expected direct|scheduler"},
        std::tuple{"m", "1", "unknown parameter --m; there are: --model --n --share --style"}}) {
    parameters values = some();
    CHECK_THROWS_WITH_AS(values.set(name, text), expected, usage_error);
  }
}

TEST_CASE("a copy with another value is cut to its range, and leaves the first alone") {
  const parameters values = some();
  CHECK(values.with("n", 1000).integer("n") == 100);
  CHECK(values.integer("n") == 5);
}
