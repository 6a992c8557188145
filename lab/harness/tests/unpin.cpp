#include <doctest/doctest.h>
#include <sched.h>

namespace {

// Workloads pin the thread that sets them up. Each test case begins with the processors that the
// program began with, whichever ran before.
struct unpin : doctest::IReporter {
  explicit unpin(const doctest::ContextOptions&) {
    CPU_ZERO(&at_first);
    known = sched_getaffinity(0, sizeof at_first, &at_first) == 0;
  }
  void test_case_start(const doctest::TestCaseData&) override {
    if (known) sched_setaffinity(0, sizeof at_first, &at_first);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  cpu_set_t at_first;
  bool known;
};

REGISTER_LISTENER("unpin", 1, unpin);

}  // namespace
