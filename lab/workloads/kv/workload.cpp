#include "workloads/kv/workload.hpp"

#include <algorithm>
#include <string>

#include "harness/random_source.hpp"
#include "workloads/kv/key_choice.hpp"

namespace heddle::lab::kv {
namespace {

// The source names the four operations but not their shares: of the writes a quarter deletes, of
// the reads a tenth are range queries.
constexpr double deletes_of_writes = 0.25;
constexpr double ranges_of_reads = 0.1;

operation draw(random_source& random, double writes, const key_choice& keys, int strand,
               std::uint64_t version) {
  if (random.share() < writes) {
    const int key = keys.own(random, strand);
    return {random.share() < deletes_of_writes ? kind::remove : kind::set, key, version};
  }
  return {random.share() < ranges_of_reads ? kind::range : kind::get, keys.any(random), 0};
}

locking locking_named(const std::string& word) {
  if (word == "mutex") return locking::mutex;
  return word == "shared" ? locking::shared : locking::sharded;
}

void see(outcome& seen, int key, const value* read, bool own) {
  if (read != nullptr && read->seal != seal_of(key, read->version)) ++seen.invalid;
  if (own) seen.own.add(read == nullptr ? 0 : read->version);
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("operations", 100'000, 1, 100'000'000, "altogether, divided equally"),
      parameter::real("writes", 0.5, 0, 1, "share of the operations that write"),
      parameter::integer("keys", 10'000, 1'000, 10'000'000, "different keys; half exist at first"),
      parameter::integer("strands", 10, 1, 1'000, "threads, goroutines or coroutines"),
      parameter::real("skew", 0, 0, 3, "exponent of the keys' Zipf distribution; 0: uniform"),
      parameter::word("lock", {"mutex", "shared", "sharded"},
                      "threads and goroutines: one mutex, one readers-writer lock, or a mutex for "
                      "each of 64 parts of the store"),
      parameter::word("start", {"at-once", "together"},
                      "threads and goroutines begin as they are made, or when all have been"),
      parameter::integer("seed", 1, 0, 1'000'000'000'000, "of the generator"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("operations", std::min<std::int64_t>(values.integer("operations"), 1'000))
      .with("keys", 1'000);
}

problem::problem(const parameters& values)
    : data(static_cast<std::size_t>(values.integer("keys"))),
      keys_(static_cast<int>(values.integer("keys"))),
      lock_(locking_named(values.word("lock"))),
      together_(values.word("start") == "together"),
      operations_(static_cast<std::size_t>(values.integer("strands"))),
      outcomes_(operations_.size()) {
  random_source random(static_cast<std::uint64_t>(values.integer("seed")));
  const std::int64_t total = values.integer("operations");
  const auto strands_count = static_cast<std::int64_t>(operations_.size());
  const key_choice chosen(keys_, static_cast<int>(strands_count), values.real("skew"));
  std::uint64_t version = 0;
  for (std::int64_t strand = 0; strand < strands_count; ++strand) {
    auto& own = operations_[static_cast<std::size_t>(strand)];
    const std::int64_t share =
        total * (strand + 1) / strands_count - total * strand / strands_count;
    own.reserve(static_cast<std::size_t>(share));
    for (std::int64_t i = 0; i < share; ++i) {
      own.push_back(
          draw(random, values.real("writes"), chosen, static_cast<int>(strand), ++version));
    }
  }
  for (int key = 0; key < keys_; key += 2) data.set(key, {0, seal_of(key, 0)});
}

void problem::perform(store& data, const operation& wanted, int strand, int strands,
                      outcome& seen) {
  switch (wanted.what) {
    case kind::get:
      see(seen, wanted.key, data.get(wanted.key), wanted.key % strands == strand);
      break;
    case kind::range:
      see_range(data, wanted.key, wanted.key + range_keys, strand, strands, seen);
      break;
    case kind::set:
      data.set(wanted.key, {wanted.version, seal_of(wanted.key, wanted.version)});
      break;
    case kind::remove:
      data.remove(wanted.key);
      break;
  }
}

void problem::see_range(const store& data, int first, int last, int strand, int strands,
                        outcome& seen) {
  data.range(first, last,
             [&](int key, const value& read) { see(seen, key, &read, key % strands == strand); });
}

void problem::divide() {
  divided_.resize(shards);
  // Twice the buckets: std::hash of an int is itself, so keys that follow each other never share a
  // bucket, but those of a shard do.
  for (store& each : divided_) each = store(static_cast<std::size_t>(2 * keys_ / shards));
  for (const auto& [key, stored] : data.map()) {
    divided_[static_cast<std::size_t>(shard_of(key))].set(key, stored);
  }
  data = store();
}

verdict problem::check() const {
  // The same, strand after strand, on a store of our own.
  store expected(static_cast<std::size_t>(keys_));
  for (int key = 0; key < keys_; key += 2) expected.set(key, {0, seal_of(key, 0)});
  for (int strand = 0; strand < strands(); ++strand) {
    outcome replayed;
    for (const operation& each : operations_of(strand)) {
      perform(expected, each, strand, strands(), replayed);
    }
    const outcome& seen = outcomes_[static_cast<std::size_t>(strand)];
    if (seen.invalid != 0) {
      return {false, "strand " + std::to_string(strand) + " read " + std::to_string(seen.invalid) +
                         " values that nobody wrote"};
    }
    if (seen.own != replayed.own) {
      return {false, "strand " + std::to_string(strand) +
                         " did not read what it had written to its own keys"};
    }
  }
  std::size_t found = 0;
  for (const auto& [key, stored] : expected.map()) {
    const value* got = store_of(key).get(key);
    if (got == nullptr || got->version != stored.version || got->seal != stored.seal) {
      return {false, "key " + std::to_string(key) + ": expected version " +
                         std::to_string(stored.version) + ", got " +
                         (got == nullptr ? "nothing" : std::to_string(got->version))};
    }
    ++found;
  }
  // size() is a count of its own; walking the nodes finds doubled and lost ones.
  std::size_t counted = 0;
  std::size_t walked = 0;
  const auto look_at = [&](const store& part) {
    counted += part.map().size();
    walked += static_cast<std::size_t>(std::distance(part.map().begin(), part.map().end()));
  };
  look_at(data);
  for (const store& part : divided_) look_at(part);
  if (counted != found || walked != found) {
    return {false, "expected " + std::to_string(found) + " keys; the store counts " +
                       std::to_string(counted) + " and holds " + std::to_string(walked)};
  }
  return {true, "the final " + std::to_string(found) +
                    " keys and values, and every strand's reads of its own keys, equal those of a "
                    "sequential replay; all other reads were valid"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  std::size_t total = 0;
  for (const auto& each : operations_) total += each.size();
  out.metrics.add("operation_ns",
                  static_cast<double>(timed.wall_ns()) / static_cast<double>(total));
  digest all;
  std::size_t present = data.map().size();
  for (const store& part : divided_) present += part.map().size();
  all.add(present);
  for (int key = 0; key < keys_; ++key) {
    const value* stored = store_of(key).get(key);
    if (stored == nullptr) continue;
    all.add(static_cast<std::uint64_t>(key));
    all.add(stored->version);
    all.add(stored->seal);
  }
  for (const outcome& seen : outcomes_) all.add(seen.own.value());
  out.result = all.text();
}

}  // namespace heddle::lab::kv
