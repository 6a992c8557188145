#include <doctest/doctest.h>
#include <unistd.h>

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

TEST_CASE("the file oracle looks at each line of a large file, also one that is torn") {
  constexpr int records = 25'000;  // more than are read at a time
  const auto result = [](int spoilt, std::string_view by) {
    const parameters values(file::problem::declare());
    file::problem work(values.with("operations", 200).with("records", records).with("span", 100));
    for (std::size_t k = 0; k < work.operations().size(); ++k) {
      const int strand = work.strand_of(k);
      work.perform(work.operations()[k], strand, work.outcome_of(strand));
    }
    CHECK(work.search_from(24'999) == 24'900);
    if (spoilt >= 0) {
      work.data.for_each_line(
          [](int, std::string_view) {});  // so that nothing is left to be written
      CHECK(pwrite(work.data.fd(), by.data(), by.size(), file::record::offset(spoilt)) ==
            static_cast<ssize_t>(by.size()));
    }
    return work.check();
  };
  CHECK(result(-1, "").ok);
  for (const int spoilt : {0, 9'999, 10'000, 24'999}) {
    CAPTURE(spoilt);
    CHECK_FALSE(result(spoilt, "r3cord").ok);
    CHECK_FALSE(result(spoilt, file::record{spoilt, 999'999}.line()).ok);
  }
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
  for (const int id : {0, 99, 100, 249}) {
    CHECK(data.search(id) == id);
    CHECK(data.search(id, id - id % 50) == id);
    CHECK(stream.search(id, id - id % 50) == id);
  }
  CHECK(data.search(records) == -1);
  CHECK(data.search(7, 8) == -1);  // it begins behind the record
  CHECK(stream.search(7, 8) == -1);
}

}  // namespace heddle::lab::file_oracle_test
