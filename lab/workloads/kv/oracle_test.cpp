#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "workloads/kv/key_choice.hpp"
#include "workloads/kv/workload.hpp"

namespace heddle::lab::kv_oracle_test {

using spoil = std::function<void(kv::problem&)>;

// The operations of all strands one by one in turn, but for what `skip` says.
verdict run(const spoil& before_check, bool skip_one_set = false) {
  const parameters values(kv::problem::declare());
  kv::problem work(values.with("operations", 5'000).with("keys", 1'000));
  bool skipped = !skip_one_set;
  for (std::size_t k = 0; k < work.operations_of(0).size(); ++k) {
    for (int strand = 0; strand < work.strands(); ++strand) {
      const kv::operation& each = work.operations_of(strand)[k];
      // The oracle notices even if the key is written again later, because reads check values, too.
      if (!skipped && k > 480 && each.what == kv::kind::set) {
        skipped = true;
        continue;
      }
      work.perform(each, strand, work.outcome_of(strand));
    }
  }
  before_check(work);
  return work.check();
}

int present_key(const kv::problem& work) { return work.data.map().begin()->first; }

TEST_CASE("the kv oracle passes any interleaving of whole operations") {
  const verdict result = run([](kv::problem&) {});
  CHECK_MESSAGE(result.ok, result.checked);
}

TEST_CASE("the kv oracle notices a spoilt result") {
  CHECK_FALSE(run([](kv::problem&) {}, true).ok);  // a lost update
  CHECK_FALSE(run([](kv::problem& work) { work.data.remove(present_key(work)); }).ok);
  CHECK_FALSE(run([](kv::problem& work) { work.data.set(-1, {1, kv::seal_of(-1, 1)}); }).ok);
  CHECK_FALSE(run([](kv::problem& work) {
                const int key = present_key(work);
                kv::value stored = *work.data.get(key);
                stored.seal ^= 1;
                work.data.set(key, stored);
              }).ok);
  CHECK_FALSE(run([](kv::problem& work) { ++work.outcome_of(3).invalid; }).ok);
  CHECK_FALSE(run([](kv::problem& work) { work.outcome_of(3).own.add(1); }).ok);
}

TEST_CASE("a divided store keeps what was in it, and the oracle sees into it") {
  parameters values(kv::problem::declare());
  values.set("skew", "1");
  kv::problem work(values.with("operations", 5'000).with("keys", 1'000));
  work.divide();
  const auto unguarded = [](int) { return 0; };
  for (int strand = 0; strand < work.strands(); ++strand) {
    for (const kv::operation& each : work.operations_of(strand)) {
      work.perform_divided(each, strand, work.outcome_of(strand), unguarded);
    }
  }
  const verdict result = work.check();
  CHECK_MESSAGE(result.ok, result.checked);
  work.perform_divided({kv::kind::set, 500, 1'000'000}, 0, work.outcome_of(0), unguarded);
  CHECK_FALSE(work.check().ok);
}

TEST_CASE("the work on the store is the same in every language") {
  parameters values(kv::problem::declare());
  values.set("skew", "1");
  kv::problem work(values.with("operations", 20'000).with("keys", 1'000));
  for (int strand = 0; strand < work.strands(); ++strand) {
    for (const kv::operation& each : work.operations_of(strand)) {
      work.perform(each, strand, work.outcome_of(strand));
    }
  }
  results out;
  work.report(region(), out, {});
  CHECK(out.result == "14670448740910804139");  // goroutine/main_test.go expects the same
}

TEST_CASE("skewed keys are wanted by some more than by others, and writers keep to their own") {
  random_source random(1);
  for (const double skew : {0.0, 1.2}) {
    const kv::key_choice keys(1'000, 10, skew);
    std::vector<int> wanted(1'000);
    for (int i = 0; i < 100'000; ++i) ++wanted[static_cast<std::size_t>(keys.any(random))];
    // Uniformly, 100 a key; by Zipf's law with 100 keys a strand, above 2000 for the first.
    CHECK((*std::max_element(wanted.begin(), wanted.end()) > 1'000) == (skew > 0));
    for (int i = 0; i < 1'000; ++i) CHECK(keys.own(random, i % 10) % 10 == i % 10);
  }
}

TEST_CASE("a torn value is seen when it is read") {
  const parameters values(kv::problem::declare());
  kv::problem work(values.with("keys", 1'000));
  kv::outcome seen;
  work.data.set(4, {7, kv::seal_of(4, 8)});
  work.perform({kv::kind::get, 4, 0}, 1, seen);
  CHECK(seen.invalid == 1);
  work.perform({kv::kind::range, 0, 0}, 1, seen);
  CHECK(seen.invalid == 2);
}

}  // namespace heddle::lab::kv_oracle_test
