#pragma once

#include <cstdint>
#include <string_view>

#include "harness/model.hpp"
#include "workloads/tracing/busy.hpp"
#include "workloads/tracing/oracle.hpp"
#include "workloads/tracing/recorder.hpp"

namespace heddle::lab::trace_memory {

/// Measures the memory that recording adds to a process: a program whose threads make some calls
/// and then wait runs twice, without a recorder and with one, and prints its memory.
///
/// All processors are kept busy meanwhile, so that a recorder's other processes, where they give
/// way, empty no buffer: it is the most that a program can come to have.
///
/// Metrics, of the recorded process less the same build of it unrecorded:
/// - `extra_bytes`: pages that it has mapped, private and shared, and page tables,
/// - `extra_pss_bytes`: the same with what several processes share divided among them,
/// - `thread_bytes`: of `extra_bytes` what is not there without the threads, for each of them.
class problem {
 public:
  static constexpr std::string_view name = "memory";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  /// Runs the program, recorded by `with`.
  void record(const tracing::recorder& with, region& timed);

  [[nodiscard]] verdict check() const { return tracing::judge(evidence_); }
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  /// Bytes of a process.
  struct resident {
    std::int64_t rss = 0, pss = 0, page_tables = 0;
    std::uint64_t result = 0;
    [[nodiscard]] std::int64_t all() const { return rss + page_tables; }
  };
  [[nodiscard]] static resident run(std::string_view build, std::int64_t threads,
                                    std::int64_t calls, tracing::command prefix);

  std::int64_t threads_;
  std::int64_t calls_;
  tracing::scratch traces_;
  tracing::busy_processors others_;
  tracing::evidence evidence_;
  resident plain_, recorded_;
  std::int64_t without_threads_ = 0;  // extra bytes
};

}  // namespace heddle::lab::trace_memory
