#include "harness/json.hpp"

#include <doctest/doctest.h>

#include <limits>

using heddle::lab::json_object;

TEST_CASE("a JSON object keeps order, nests and escapes") {
  json_object inner;
  inner.add("ok", true).add("text", "a\"b\\c\nd\x01 é");
  json_object outer;
  outer.add("n", std::int64_t{-3}).add("u", std::uint64_t{18446744073709551615u}).add("in", inner);
  CHECK(outer.text() == R"({"n": -3, "u": 18446744073709551615, )"
                        R"("in": {"ok": true, "text": "a\"b\\c\u000ad\u0001 é"}})");
  CHECK(json_object().text() == "{}");
}

TEST_CASE("numbers read back as they were, and what JSON lacks is null") {
  CHECK(json_object().add("x", 0.1).text() == R"({"x": 0.1})");
  CHECK(json_object().add("x", 1e300).text() == R"({"x": 1e+300})");
  CHECK(json_object().add("x", std::numeric_limits<double>::quiet_NaN()).text() ==
        R"({"x": null})");
  CHECK(json_object().add("x", std::numeric_limits<double>::infinity()).text() == R"({"x": null})");
}
