#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "heddle/coop/io/endpoint.hpp"
#include "workloads/http/limits.hpp"

namespace heddle::lab::http {

/// The load that clients put on a server.
struct load_plan {
  coop::io::endpoint server;
  int connections = 1;
  std::int64_t requests = 1;                  // altogether
  std::int64_t size = 100;                    // of an answer's content, bytes
  bool hop = false;                           // ask for what the back end has
  int pipeline = 1;                           // requests on the way on each connection
  bool chaos = false;                         // misbehave: see tests/chaos.cpp
  std::int64_t seed = 1;                      // of the chaos
  std::int64_t wrk_ms = 0;                    // if not 0: let wrk(1) ask, so long; see wrk.hpp
  std::int64_t pause_us = 0;                  // of a single connection, before each request
  const std::atomic<bool>* enough = nullptr;  // no further requests, if it says so
  pid_t back_end = -1;  // a child of the server that is no part of it, if there is one
};

/// The results of a load.
struct load_report {
  std::int64_t due = 0;    // answers that there should be
  std::int64_t right = 0;  // answers that were what was asked for
  std::int64_t wrong = 0;  // answers that were not
  std::int64_t lost = 0;   // connections that ended before their answers had come
  std::int64_t odd = 0;    // of chaos: misdeeds
  // From a request's first byte to its answer's last.
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t p999_ns = 0;
  // With wrk alone: of a stretch in which all its connections are there.
  std::int64_t timed_requests = 0;  // that the server has answered
  std::int64_t timed_wall_ns = 0;
  std::int64_t timed_cpu_ns = 0;      // of the server
  std::int64_t connection_bytes = 0;  // what a connection adds to the server's memory
  // With chaos: the server's memory in the second quarter of the requests, and in the last.
  std::int64_t early_bytes = 0;
  std::int64_t late_bytes = 0;
  bool memory_grows = false;  // by more than chance
  char complaint[240] = {};   // of the first thing that was wrong

  void complain(std::string_view text);
};

/// `while_open` is called when all answers have come and all connections are open.
load_report run_steadily(const load_plan& plan, const std::function<void()>& while_open = {});
/// Clients that misbehave: they are for the tests (tests/chaos.cpp), and null where no tests are
/// built. Refusals must have the status that a session gives, if the server says that it has one.
extern load_report (*run_chaos)(const load_plan& plan, const server_state& server);

/// The clients, in a process of their own, on another processor where there is one. When they have
/// done all, they end the process that serves by SIGTERM, as an operator would: to be blocked
/// before this is made.
class load_process {
 public:
  load_process(const load_plan& plan, const server_state& server);
  ~load_process();
  load_process(const load_process&) = delete;
  load_process& operator=(const load_process&) = delete;

  /// Waits for its end. Throws std::runtime_error if it died.
  [[nodiscard]] load_report finish();

 private:
  int process_ = -1;
  int results_ = -1;
};

/// The request that a client sends as number `index`, and the content that it expects.
struct exchange {
  std::string request;
  std::string content;
};
exchange make_exchange(const load_plan& plan, std::int64_t index);

/// Looks for a whole answer at the beginning of `text`. Returns its length, 0 if it is not whole.
/// `content` and `status` are set then. Content-Length and chunks are known.
std::size_t read_answer(std::string_view text, int& status, std::string& content);

}  // namespace heddle::lab::http
