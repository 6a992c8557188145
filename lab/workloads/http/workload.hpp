#pragma once

#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/limits.hpp"
#include "workloads/http/listening.hpp"
#include "workloads/http/load.hpp"

namespace heddle::lab::http {

/// An HTTP/1.1 server, and clients in a process of their own that send it `requests` requests over
/// `connections` kept connections, each with `pipeline` on the way, and then end it by SIGTERM.
///
/// Every model serves by the same `session`: they differ in how they wait. The server is on one
/// processor, the clients on another if there is one.
///
/// - `hop=back-end`: each answer needs a value from another process, asked for as Redis is.
/// - `load=chaos`: half of the clients misbehave instead: garbage, halves of requests, resets,
///   limits exceeded, answers not read.
/// - `sockets`: what our own models wait by; the others have one way each.
/// - `patience`: how our own models see that a client is too slow: `within` is a timer for each
///   wait, to the nanosecond; `swept` is what the bare loop does, a look at all connections every
///   second at least.
///
/// Oracle: the clients look at every answer of a request that deserves one. None is wrong, none
/// missing, and afterwards the server has no connection and no more descriptors than before.
///
/// Metrics: `request_cpu_ns` = the server's processor time / requests; `requests_per_s`;
/// `latency_p50_ns`, `latency_p99_ns`, `latency_p999_ns`, of the clients' clock.
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
  [[nodiscard]] const std::optional<stub_back_end>& back_end() const { return back_end_; }
  [[nodiscard]] server_state& server() { return server_; }
  [[nodiscard]] const std::string& sockets() const { return sockets_; }
  [[nodiscard]] bool sweeps() const { return sweeps_; }

  [[nodiscard]] verdict check();
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  server_state server_;
  std::string sockets_;
  bool sweeps_;
  std::int64_t requests_;
  sigset_t signals_before_;
  listening door_;
  std::optional<stub_back_end> back_end_;
  std::size_t descriptors_before_ = 0;
  std::unique_ptr<load_process> clients_;
  load_report came_;
};

}  // namespace heddle::lab::http
