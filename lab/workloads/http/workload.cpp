#include "workloads/http/workload.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "harness/processors.hpp"
#include "workloads/http/session.hpp"

namespace heddle::lab::http {
namespace {

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Both the server and the clients need one a connection.
void allow_descriptors(std::int64_t connections) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(connections) + 100;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw cannot_run("a server of " + std::to_string(connections) +
                     " connections needs as many file descriptors: raise `ulimit -n`");
  }
}

limits limits_of(const parameters& values) {
  limits allowed;
  if (values.word("load") == "chaos") {
    // Clients that leave the server waiting are part of it: so that it is over in time.
    using std::chrono::milliseconds;
    allowed.idle = allowed.header = allowed.body = allowed.write = milliseconds(2000);
    allowed.linger = milliseconds(100);
  }
  return allowed;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("connections", 64, 1, 20'000, "kept connections"),
      parameter::integer("requests", 100'000, 1, 1'000'000'000, "altogether"),
      parameter::integer("size", 100, 0, session::most_content, "bytes of an answer's content"),
      parameter::integer("pipeline", 1, 1, 1000, "requests on the way on each connection"),
      parameter::word("hop", {"none", "back-end"}, "what an answer needs"),
      parameter::word("load", {"steady", "chaos"}, "how the clients behave"),
      parameter::word("sockets", {"epoll", "io_uring"}, "cooperative: how they are waited for"),
      parameter::word("patience", {"within", "swept"},
                      "cooperative: a timer a wait, or a look at all connections now and then"),
      parameter::integer("seed", 1, 0, 1'000'000'000, "of the chaos"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("requests", std::min<std::int64_t>(values.integer("requests"), 200))
      .with("connections", std::min<std::int64_t>(values.integer("connections"), 10));
}

problem::problem(const parameters& values)
    : server_{.allowed = limits_of(values)},
      sockets_(values.word("sockets")),
      sweeps_(values.word("patience") == "swept"),
      requests_(values.integer("requests")) {
  allow_descriptors(values.integer("connections"));
  static_cast<void>(session::content(0));  // made before there are two processes
  if (values.word("hop") == "back-end") back_end_.emplace();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, &signals_before_);
  pin_to_processor(0);
  clients_ = std::make_unique<load_process>(
      load_plan{.server = door_.address(),
                .connections = static_cast<int>(values.integer("connections")),
                .requests = requests_,
                .size = values.integer("size"),
                .hop = back_end_.has_value(),
                .pipeline = static_cast<int>(values.integer("pipeline")),
                .chaos = values.word("load") == "chaos",
                .seed = values.integer("seed")});
  descriptors_before_ = open_descriptors();
}

problem::~problem() {
  clients_.reset();
  // A server that failed has not taken it.
  const timespec at_once = {};
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigtimedwait(&stop, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

verdict problem::check() {
  came_ = clients_->finish();
  const std::string expected = std::to_string(requests_) +
                               " requests that deserve an answer, each answered right; no "
                               "connection and no descriptor left";
  const std::size_t left = open_descriptors() - std::min(open_descriptors(), descriptors_before_);
  if (came_.right != requests_ || came_.wrong != 0 || came_.lost != 0 || server_.open != 0 ||
      left != 0 || server_.requests < requests_) {
    return {false, "expected: " + expected + "; " + std::to_string(came_.right) + " were right, " +
                       std::to_string(came_.wrong) + " wrong, " + std::to_string(came_.lost) +
                       " connections lost; the server has answered " +
                       std::to_string(server_.requests) + ", has " + std::to_string(server_.open) +
                       " connections and " + std::to_string(left) +
                       " descriptors more than before. First complaint: " + came_.complaint};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto answered = static_cast<double>(server_.requests);
  out.metrics.add("request_cpu_ns", static_cast<double>(timed.cpu_ns()) / answered)
      .add("requests_per_s", answered * 1e9 / static_cast<double>(timed.wall_ns()))
      .add("latency_p50_ns", came_.p50_ns)
      .add("latency_p99_ns", came_.p99_ns)
      .add("latency_p999_ns", came_.p999_ns);
  out.counters.add("connections_accepted", server_.connections)
      .add("requests_refused", server_.refused)
      .add("misdeeds", came_.odd);
}

}  // namespace heddle::lab::http
