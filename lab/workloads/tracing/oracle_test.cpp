#include "workloads/tracing/oracle.hpp"

#include <doctest/doctest.h>

namespace heddle::lab::tracing_oracle_test {

using heddle::lab::tracing::judge;

TEST_CASE("the tracing oracle wants the program's result, and every call where none may be lost") {
  CHECK(judge({7, 7, 100, {}, false}).ok);
  CHECK(judge({7, 7, 100, 100, true}).ok);
  CHECK(judge({7, 7, 100, 99, false}).ok);
  CHECK_FALSE(judge({7, 8, 100, 100, true}).ok);
  CHECK_FALSE(judge({7, 7, 100, 99, true}).ok);
  CHECK_FALSE(judge({7, 7, 100, 101, false}).ok);
}

}  // namespace heddle::lab::tracing_oracle_test
