#pragma once

#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/shared.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/limits.hpp"
#include "workloads/http/listening.hpp"
#include "workloads/http/load.hpp"

namespace heddle::lab::http {

/// Allows this process, and those that it forks, so many file descriptors. Throws cannot_run where
/// they are not to be had.
void allow_descriptors(std::int64_t wanted);

/// An HTTP/1.1 server, and clients in a process of their own that send it `requests` requests over
/// `connections` kept connections, each with `pipeline` on the way, and then end it by SIGTERM.
///
/// Every C++ model serves by the same `session`: they differ in how they wait. The server is on one
/// processor, the clients on another if there is one.
///
/// - `hop`: each answer needs a value from another process, asked for as Redis is: of the
///   `back-end`, a stub of ours, or of `redis` itself, which is where the clients are.
/// - `load=chaos`: half of the clients misbehave instead: garbage, halves of requests, resets,
///   limits exceeded, answers not read.
/// - `load=wrk`: wrk(1) asks, for `ms` milliseconds. See wrk.hpp.
/// - `sockets`: what our own models wait by; the others have one way each.
/// - `patience`: how our own models see that a client is too slow: `within` is a timer for each
///   wait, to the nanosecond; `swept` is what the bare loop does, a look at all connections every
///   second at least.
/// - `workers`: threads of the pool, an event loop each, and groups of PCM, a scheduler each.
/// - `back-ends`: connections to the back end, the same number for all that multiplex: the loops of
///   a pool together, the groups of PCM together, the strands of our other models, goroutines. A
///   client's questions all go over one of them, dealt out in turn; those of several clients go out
///   together. There are no more than clients (`connections`): then each has one of its own, and
///   nothing is batched. A thread or a process that serves one client always has one of its own.
///
/// Oracle: the clients look at every answer of a request that deserves one (wrk at its status and
/// length). None is wrong, none missing, and afterwards the server has no connection and no more
/// descriptors, threads and processes than before.
///
/// Metrics: `request_cpu_ns` = the server's processor time / requests; `requests_per_s`;
/// `latency_p50_ns`, `latency_p99_ns`, `latency_p999_ns`, of the clients' clock; with wrk,
/// `connection_bytes` = what a connection adds to the server's memory, that of all its processes,
/// if there are several.
/// Counter `switches_per_request`: by the kernel, of all its processes and threads. Of our own
/// models also `p_operations_per_request`, `blocked_p_operations_per_request` and
/// `strand_switches_per_request`: those for these P operations and for ends of slices, not for
/// input and output.
class problem {
 public:
  static constexpr std::string_view name = "http";

  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);
  ~problem();
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  /// Listens. Owned by the problem.
  [[nodiscard]] int door() const { return door_.fd(); }
  /// Where the back end is, if the workload has one.
  [[nodiscard]] const std::optional<back_end_process>& back_end() const { return back_end_; }
  [[nodiscard]] server_state& server() { return *server_; }
  /// A descriptor of memory that begins with the server's state, for servers in other programs.
  [[nodiscard]] int server_fd() const { return server_.fd(); }
  [[nodiscard]] const std::string& sockets() const { return sockets_; }
  [[nodiscard]] bool sweeps() const { return sweeps_; }
  /// Event loops of a pool, or groups of PCM. One without a connection to the back end could ask
  /// nothing, so there are no more than connections.
  [[nodiscard]] int loops() const;
  [[nodiscard]] int back_ends() const { return back_ends_; }
  /// The connections to the back end that loop number `loop` of so many has; 0 without a back end.
  [[nodiscard]] int back_ends_of(int loop, int loops) const;
  [[nodiscard]] std::int64_t connections() const { return connections_; }
  /// Length of a time slice under CP.
  [[nodiscard]] coop::duration slice() const { return slice_; }

  [[nodiscard]] verdict check();
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  shared<server_state> server_;
  std::string sockets_;
  bool sweeps_;
  int workers_;
  int back_ends_;
  std::int64_t connections_;
  coop::duration slice_;
  sigset_t signals_before_;
  listening door_;
  std::optional<back_end_process> back_end_;
  std::size_t descriptors_before_ = 0;
  std::size_t threads_before_ = 0;
  std::int64_t children_cpu_before_ns_ = 0;
  std::int64_t children_cpu_ns_ = 0;  // of those that served
  std::unique_ptr<load_process> clients_;
  load_report came_;
};

}  // namespace heddle::lab::http
