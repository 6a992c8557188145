#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/digest.hpp"
#include "harness/model.hpp"
#include "workloads/kv/store.hpp"

namespace heddle::lab::kv {

enum class kind : std::uint8_t { get, range, set, remove };

/// One operation, drawn by the generator before the clock starts.
struct operation {
  kind what;
  int key;
  std::uint64_t version;  ///< of a set: unique, so that a lost or doubled one shows
};

/// The locks with which models that need them guard the store.
enum class locking : std::uint8_t {
  mutex,    ///< one mutex round each operation, as the source has it
  shared,   ///< one readers-writer lock, which reads share
  sharded,  ///< the keys divided among problem::shards stores, each with a mutex of its own
};

/// The results of a strand's operations.
struct outcome {
  digest own;                 ///< of what it read of its own keys, in order
  std::uint64_t invalid = 0;  ///< values whose seal does not fit
};

/// An in-memory key-value store under a generated load with a chosen share of writes, the
/// operations divided equally among the strands (10 in the source). Keys are drawn uniformly, or
/// the r-th most wanted with a probability in proportion to r to the power of -skew (Zipf).
///
/// So that the result is known whatever the interleaving, a strand writes only keys of its own
/// (key mod strands) and reads anybody's. Then
/// - every key's history is its owner's program order: the final contents are those of a sequential
///   run, exactly;
/// - what a strand reads of its own keys is what it last wrote there, exactly;
/// - what it reads of others' keys is some version that was written: its seal fits.
/// Without the lock the threads' store loses or doubles nodes, or breaks.
class problem {
 public:
  static constexpr std::string_view name = "kv";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int strands() const { return static_cast<int>(operations_.size()); }
  [[nodiscard]] const std::vector<operation>& operations_of(int strand) const {
    return operations_[static_cast<std::size_t>(strand)];
  }
  [[nodiscard]] outcome& outcome_of(int strand) {
    return outcomes_[static_cast<std::size_t>(strand)];
  }

  [[nodiscard]] locking lock() const { return lock_; }
  /// Whether no thread or goroutine begins before all are there, so that they all need memory.
  [[nodiscard]] bool together() const { return together_; }

  /// Does one operation on the shared store, for `strand`. Not to be called by two at once, unless
  /// both only read.
  void perform(const operation& wanted, int strand, outcome& seen) {
    perform(data, wanted, strand, strands(), seen);
  }

  static constexpr int shards = 64;

  /// Moves what is in `data` to as many stores: perform_divided() is for these.
  void divide();
  /// Does one operation, one shard after another, each while what `guard(shard)` has returned is
  /// alive. A range lies in two shards at most.
  template <class Guard>
  void perform_divided(const operation& wanted, int strand, outcome& seen, Guard&& guard) {
    const int last = wanted.key + (wanted.what == kind::range ? range_keys : 1);
    for (int first = wanted.key; first < last;) {
      const int shard = shard_of(first);
      const int end = std::min(last, (first / range_keys + 1) * range_keys);
      [[maybe_unused]] const auto held = guard(shard);
      store& part = divided_[static_cast<std::size_t>(shard)];
      if (wanted.what == kind::range) {
        see_range(part, first, end, strand, strands(), seen);
      } else {
        perform(part, wanted, strand, strands(), seen);
      }
      first = end;
    }
  }

  [[nodiscard]] verdict check() const;
  /// The result is a digest of the final contents and of what the strands read of their own keys.
  void report(const region& timed, results& out, const rerun& again) const;

  store data;

 private:
  static constexpr int range_keys = 16;  // that a range query asks for

  static void perform(store& data, const operation& wanted, int strand, int strands, outcome& seen);
  static void see_range(const store& data, int first, int last, int strand, int strands,
                        outcome& seen);
  static int shard_of(int key) { return key / range_keys % shards; }
  /// Where a key is, divided or not.
  [[nodiscard]] const store& store_of(int key) const {
    return divided_.empty() ? data : divided_[static_cast<std::size_t>(shard_of(key))];
  }

  int keys_;
  locking lock_;
  bool together_;
  std::vector<store> divided_;
  std::vector<std::vector<operation>> operations_;
  std::vector<outcome> outcomes_;
};

}  // namespace heddle::lab::kv
