#include <doctest/doctest.h>

#include <functional>

#include "workloads/file/positioned_file.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file_oracle_test {

verdict run(const std::function<void(file::problem&)>& before_check) {
  const parameters values(file::problem::declare());
  file::problem work(values.with("operations", 500));
  for (std::size_t k = 0; k < work.operations().size(); ++k) {
    const int strand = work.strand_of(k);
    work.perform(work.operations()[k], strand, work.outcome_of(strand));
  }
  before_check(work);
  return work.check();
}

TEST_CASE("the file oracle passes a run, and notices a spoilt one") {
  const verdict result = run([](file::problem&) {});
  CHECK_MESSAGE(result.ok, result.checked);
  CHECK_FALSE(run([](file::problem& work) { CHECK(work.data.write({7, 999'999})); }).ok);
  CHECK_FALSE(run([](file::problem& work) { ++work.outcome_of(2).failed; }).ok);
  CHECK_FALSE(run([](file::problem& work) { work.outcome_of(2).own.add(1); }).ok);
}

TEST_CASE("the work on the file is the same in every language") {
  const parameters values(file::problem::declare());
  file::problem work(values.with("operations", 2'000).with("records", 250));
  for (int strand = 0; strand < work.threads(); ++strand) {
    work.for_each_of(strand, [&](const file::operation& each) {
      work.perform(each, strand, work.outcome_of(strand));
    });
  }
  CHECK(work.check().ok);
  results out;
  work.report(region(), out, {});
  CHECK(out.result == "6843435170492782844");  // goroutine/program_test.go expects the same
}

TEST_CASE("a record is read back whole, and nothing else is taken for one") {
  file::record_file data(20);
  file::record found;
  REQUIRE(data.write({3, 42}));
  REQUIRE(data.read(3, found));
  CHECK(found.version == 42);
  CHECK_FALSE(data.read(20, found));  // behind the end
  CHECK(data.search(19) == 19);
  CHECK(data.search(20) == -1);
  CHECK(data.read(0, found));  // a failed operation leaves the stream usable

  const std::string line = file::record{5, 17}.line();
  CHECK(line.size() == file::record::bytes);
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string torn = line;
    torn[i] = torn[i] == '7' ? '8' : '7';
    CHECK_FALSE(file::record::parse(torn, found));
  }
}

TEST_CASE("records in place are those of the stream, wherever a search has to look for them") {
  constexpr int records = 250;  // more than a search reads at a time
  file::record_file stream(records);
  const file::positioned_file data(stream.fd());
  file::record found;
  REQUIRE(data.write({249, 42}));
  REQUIRE(data.read(249, found));
  CHECK(found.version == 42);
  REQUIRE(stream.read(249, found));
  CHECK(found.version == 42);
  CHECK_FALSE(data.read(records, found));
  for (const int id : {0, 99, 100, 249}) CHECK(data.search(id) == id);
  CHECK(data.search(records) == -1);
}

}  // namespace heddle::lab::file_oracle_test
