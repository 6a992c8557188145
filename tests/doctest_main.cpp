// The main() of every program of C++ tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <signal.h>
#include <time.h>

namespace {

// Ends the program when one case takes this long. What ctest kills for taking too long says
// nothing; doctest names the case that a signal ends.
constexpr time_t longest_case_seconds = 200;

class watch final : public doctest::IReporter {
 public:
  explicit watch(const doctest::ContextOptions& /*options*/) {
    // A timer of its own, as tests use alarm(2)'s. A forked child has none.
    sigevent told = {};
    told.sigev_notify = SIGEV_SIGNAL;
    told.sigev_signo = SIGABRT;
    made_ = timer_create(CLOCK_MONOTONIC, &told, &timer_) == 0;
  }
  ~watch() {
    if (made_) timer_delete(timer_);
  }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  void test_case_start(const doctest::TestCaseData& /*which*/) override {
    set(longest_case_seconds);
  }
  void test_case_end(const doctest::CurrentTestCaseStats& /*how*/) override { set(0); }

  void report_query(const doctest::QueryData& /*unused*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*unused*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*unused*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*unused*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*unused*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*unused*/) override {}
  void log_message(const doctest::MessageData& /*unused*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*unused*/) override {}

 private:
  void set(time_t seconds) const noexcept {
    const itimerspec once = {{0, 0}, {seconds, 0}};
    if (made_) timer_settime(timer_, 0, &once, nullptr);
  }

  timer_t timer_ = {};
  bool made_ = false;
};

REGISTER_LISTENER("watch", 1, watch);

}  // namespace
