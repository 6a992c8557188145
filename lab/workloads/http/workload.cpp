#include "workloads/http/workload.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "harness/processors.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/wrk.hpp"

namespace heddle::lab::http {
namespace {

// The number of entries: for directories of /proc/self, which list descriptors or threads.
std::size_t count_in(const char* directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
std::size_t open_descriptors() { return count_in("/proc/self/fd"); }
std::size_t threads() { return count_in("/proc/self/task"); }

std::size_t more(std::size_t now, std::size_t before) { return now - std::min(now, before); }

// How many threads there are more than before, at the latest when time is up: one that has been
// joined is listed until it has run to its end, and a ring's workers end after it is closed.
std::size_t threads_left(std::size_t before) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::size_t now = threads();
  while (now > before && std::chrono::steady_clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    now = threads();
  }
  return more(now, before);
}

// Processor time of the children that have been waited for.
std::int64_t children_cpu_ns() {
  rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  const auto ns = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// Whether there is a child, dead or alive. Then one is reaped if it is dead.
bool has_child() { return waitpid(-1, nullptr, WNOHANG) >= 0; }

// Beside its connections, a server and its clients have some files open.
constexpr std::int64_t other_descriptors = 100;

limits limits_of(const parameters& values) {
  limits allowed;
  // All that are asked for, and those of the clients that look at the server beside wrk.
  allowed.connections =
      std::max(allowed.connections, static_cast<std::size_t>(values.integer("connections")) + 10);
  if (values.word("load") == "chaos") {
    if (run_chaos == nullptr) throw usage_error("--load=chaos: built without tests");
    // Clients that leave the server waiting are part of it: so that it is over in time.
    using std::chrono::milliseconds;
    allowed.idle = allowed.header = allowed.body = allowed.write = milliseconds(2000);
    allowed.linger = milliseconds(100);
  }
  return allowed;
}

}  // namespace

void allow_descriptors(std::int64_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto all = static_cast<rlim_t>(wanted + other_descriptors);
  if (limit.rlim_cur >= all) return;
  limit.rlim_cur = all;
  if (limit.rlim_max < all || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw cannot_run("it needs " + std::to_string(all) + " file descriptors, and may have " +
                     std::to_string(limit.rlim_max) + ": raise `ulimit -Hn`");
  }
}

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("connections", 64, 1, 20'000, "kept connections"),
      parameter::integer("requests", 100'000, 1, 1'000'000'000, "altogether"),
      parameter::integer("size", 100, 0, session::most_content, "bytes of an answer's content"),
      parameter::integer("pipeline", 1, 1, 1000, "requests on the way on each connection"),
      parameter::word("hop", {"none", "back-end", "redis"}, "what an answer needs"),
      parameter::word("load", {"steady", "chaos", "wrk"}, "how the clients behave"),
      parameter::integer("ms", 1000, 20, 600'000, "load=wrk: how long; wrk stops each 100 ms"),
      parameter::integer("workers", 4, 1, 1000, "event loops of a pool, groups of PCM"),
      parameter::integer("back-ends", 1, 1, 20'000,
                         "connections to the back end, at most one a client; threads and "
                         "processes have one each"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
      parameter::word("sockets", {"epoll", "io_uring"}, "our own models: how they are waited for"),
      parameter::word("patience", {"within", "swept"},
                      "our own models: a timer a wait, or a look at all connections now and then"),
      parameter::integer("seed", 1, 0, 1'000'000'000, "of the chaos"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("requests", std::min<std::int64_t>(values.integer("requests"), 200))
      .with("ms", 100)
      .with("connections", std::min<std::int64_t>(values.integer("connections"), 10));
}

problem::problem(const parameters& values)
    : sockets_(values.word("sockets")),
      sweeps_(values.word("patience") == "swept"),
      workers_(static_cast<int>(values.integer("workers"))),
      back_ends_(
          static_cast<int>(std::min(values.integer("back-ends"), values.integer("connections")))),
      connections_(values.integer("connections")),
      slice_(std::chrono::microseconds(values.integer("slice-us"))) {
  server_->allowed = limits_of(values);
  const bool by_wrk = values.word("load") == "wrk";
  if (by_wrk) require_wrk();
  allow_descriptors(connections_ + back_ends_);
  static_cast<void>(session::content(0));  // made before there are two processes
  prctl(PR_SET_CHILD_SUBREAPER, 1);        // so that a process that its maker left is ours to find
  using kind = back_end_process::kind;
  if (values.word("hop") == "back-end") back_end_.emplace(kind::stub, connections_);
  if (values.word("hop") == "redis") back_end_.emplace(kind::redis, connections_);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, &signals_before_);
  pin_to_processor(0);
  clients_ = std::make_unique<load_process>(
      load_plan{.server = door_.address(),
                .connections = static_cast<int>(values.integer("connections")),
                .requests = values.integer("requests"),
                .size = values.integer("size"),
                .hop = back_end_.has_value(),
                .pipeline = static_cast<int>(values.integer("pipeline")),
                .chaos = values.word("load") == "chaos",
                .seed = values.integer("seed"),
                .wrk_ms = by_wrk ? values.integer("ms") : 0,
                .back_end = back_end_ ? back_end_->process() : -1},
      *server_);
  descriptors_before_ = open_descriptors();
  threads_before_ = threads();
  children_cpu_before_ns_ = children_cpu_ns();
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

int problem::loops() const { return back_end_ ? std::min(workers_, back_ends_) : workers_; }

int problem::back_ends_of(int loop, int loops) const {
  if (!back_end_) return 0;
  return back_ends_ / loops + (loop < back_ends_ % loops ? 1 : 0);
}

verdict problem::check() {
  children_cpu_ns_ = children_cpu_ns() - children_cpu_before_ns_;
  came_ = clients_->finish();
  back_end_.reset();
  const std::string expected = std::to_string(came_.due) +
                               " requests that deserve an answer, each answered right; no "
                               "connection, descriptor, thread or process left";
  const std::size_t descriptors = more(open_descriptors(), descriptors_before_);
  const std::size_t left = threads_left(threads_before_);
  const bool child = has_child();
  const server_state& server = *server_;
  if (came_.due == 0 || came_.right != came_.due || came_.wrong != 0 || came_.lost != 0 ||
      server.open != 0 || server.failed != 0 || descriptors != 0 || left != 0 || child ||
      came_.memory_grows || server.requests < came_.right) {
    return {false, "expected: " + expected + "; " + std::to_string(came_.right) + " were right, " +
                       std::to_string(came_.wrong) + " wrong, " + std::to_string(came_.lost) +
                       " connections lost; the server has answered " +
                       std::to_string(server.requests.load()) + ", has " +
                       std::to_string(server.open.load()) + " connections, " +
                       std::to_string(descriptors) + " descriptors more than before, " +
                       std::to_string(left) + " threads more and " + (child ? "a" : "no") +
                       " process; " + std::to_string(server.failed.load()) +
                       " of its processes failed; its memory went from " +
                       std::to_string(came_.early_bytes) + " to " +
                       std::to_string(came_.late_bytes) +
                       " bytes. First complaint: " + came_.complaint};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const bool by_wrk = came_.timed_requests != 0;
  const auto answered =
      static_cast<double>(by_wrk ? came_.timed_requests : server_->requests.load());
  const auto wall_ns = static_cast<double>(by_wrk ? came_.timed_wall_ns
                                                  : static_cast<std::int64_t>(timed.wall_ns()));
  const auto cpu_ns = static_cast<double>(
      by_wrk ? came_.timed_cpu_ns : static_cast<std::int64_t>(timed.cpu_ns()) + children_cpu_ns_);
  out.metrics.add("request_cpu_ns", cpu_ns / answered)
      .add("requests_per_s", answered * 1e9 / wall_ns)
      .add("latency_p50_ns", came_.p50_ns)
      .add("latency_p99_ns", came_.p99_ns)
      .add("latency_p999_ns", came_.p999_ns);
  // One connection has no other to be told from.
  if (by_wrk && connections_ > 1) out.metrics.add("connection_bytes", came_.connection_bytes);
  // Switches are counted for all requests, those before and beside wrk's included.
  const auto all = static_cast<double>(server_->requests.load());
  const usage& used = timed.used();
  const auto switches = static_cast<double>(used.voluntary_switches + used.involuntary_switches);
  out.counters.add("switches_per_request", switches / all)
      .add("connections_accepted", server_->connections.load())
      .add("requests_refused", server_->refused.load())
      .add("misdeeds", came_.odd)
      .add("early_resident_bytes", came_.early_bytes)
      .add("late_resident_bytes", came_.late_bytes);
  // Our own models count these; elsewhere they are the kernel's, or another program's.
  const counters& counted = timed.counted();
  if (counted.p_operations == 0) return;
  const auto per_request = [&](std::uint64_t number) { return static_cast<double>(number) / all; };
  out.counters.add("p_operations_per_request", per_request(counted.p_operations))
      .add("blocked_p_operations_per_request", per_request(counted.blocked_p_operations))
      .add("strand_switches_per_request", per_request(counted.strand_switches));
}

}  // namespace heddle::lab::http
