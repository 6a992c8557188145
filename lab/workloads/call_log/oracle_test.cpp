#include <doctest/doctest.h>

#include "workloads/call_log/workload.hpp"

namespace heddle::lab::call_log_oracle_test {

using call_log::entry;

// Sleeps of 2, 5 and 7 ms.
const char* const text =
    "1715025463.427767 - Enter: main called: __libc_start_main\n"
    "1715025463.427789 - Enter: _Z1Av called: main\n"
    "1715025463.429840 - Enter: _Z1Bv called: _Z1Av\n"
    "1715025463.434866 - Enter: _Z1Cv called: _Z1Bv\n"
    "1715025463.441952 - Exit: _Z1Cv called: _Z1Bv\n"
    "1715025463.441953 - Exit: _Z1Bv called: _Z1Av\n"
    "1715025463.441953 - Exit: _Z1Av called: main\n"
    "1715025463.441954 - Exit: main called: __libc_start_main\n";

constexpr std::int64_t unit_us = 1000;

template <class Spoil>
bool passes(const Spoil& spoil) {
  std::vector<entry> log = call_log::parse(text);
  spoil(log);
  return call_log::judge(log, unit_us).ok;
}

TEST_CASE("the oracle of call-log passes the sample's log, and notices what is wrong in one") {
  CHECK(passes([](std::vector<entry>&) {}));
  CHECK_FALSE(passes([](std::vector<entry>& log) { log.pop_back(); }));
  CHECK_FALSE(passes([](std::vector<entry>& log) { log.push_back(log.back()); }));
  CHECK_FALSE(passes([](std::vector<entry>& log) { std::swap(log[1], log[2]); }));
  CHECK_FALSE(passes([](std::vector<entry>& log) { log[3].caller = "_Z1Av"; }));
  CHECK_FALSE(passes([](std::vector<entry>& log) { log[4].time_us -= 100; }));
  CHECK_FALSE(passes([](std::vector<entry>& log) { log[7].time_us -= 10; }));
}

TEST_CASE("a log is in the source's form to the last digit, or it is none") {
  CHECK(call_log::parse(text)[1].time_us == 1'715'025'463'427'789);
  CHECK_THROWS(call_log::parse("1715025463.42778 - Enter: _Z1Av called: main\n"));
  CHECK_THROWS(call_log::parse("1715025463.427789 - Enter: A() called: the main program\n"));
  CHECK_THROWS(call_log::parse("1715025463.427789 - enter: _Z1Av called: main\n"));
  CHECK_THROWS(call_log::parse("1715025463.427789 -  Enter: _Z1Av called: main\n"));
  CHECK_THROWS(call_log::parse("1715025463.4277890 - Enter: _Z1Av called: main\n"));
  const auto addressed = call_log::parse_with_addresses(
      "1714951262.738610 - Enter function: main (0x7f4ac640dd3c) called by: __libc_start_main "
      "(0x7f4ac4dc1c87)\n");
  CHECK(addressed.at(0).function == "main");
  CHECK_THROWS(call_log::parse_with_addresses(text));
}

}  // namespace heddle::lab::call_log_oracle_test
