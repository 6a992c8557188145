#include "workloads/http/wrk.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/in_path.hpp"
#include "harness/measure.hpp"
#include "harness/model.hpp"
#include "harness/process_family.hpp"
#include "harness/process_size.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab::http {
namespace {

using namespace std::chrono_literals;

// The script that wrk runs at its end. All times in microseconds.
constexpr std::string_view script = R"lua(
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("\nheddle: %d %d %d %d %d %.0f %.0f %.0f\n",
    summary.requests, summary.duration, summary.bytes,
    e.connect + e.read + e.write + e.timeout, e.status,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
)lua";

struct wrk_summary {
  std::int64_t requests = 0;
  std::int64_t duration_us = 0;
  std::int64_t bytes = 0;
  std::int64_t lost = 0;
  std::int64_t refused = 0;
  std::int64_t p50_us = 0;
  std::int64_t p99_us = 0;
  std::int64_t p999_us = 0;
};

std::string target_of(const exchange& one) {
  const std::size_t begin = one.request.find(' ') + 1;
  return one.request.substr(begin, one.request.find(' ', begin) - begin);
}

// wrk, which writes to `output` and calls the script in the file `lua`.
pid_t start_wrk(const load_plan& plan, int lua, int output) {
  const std::string connections = "-c" + std::to_string(plan.connections);
  // It is stopped before; this is for the case that it does not see the signal.
  const std::string duration = "-d" + std::to_string(plan.wrk_ms / 1000 + 5) + "s";
  const std::string file = "/proc/self/fd/" + std::to_string(lua);
  const std::string url = "http://" + plan.server.text() + target_of(make_exchange(plan, 0));
  const pid_t wrk = fork();
  if (wrk < 0) throw_errno("fork(2)");
  if (wrk != 0) return wrk;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  fcntl(lua, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execlp("wrk", "wrk", "-t1", connections.c_str(), duration.c_str(), "--timeout", "10s", "-s",
         file.c_str(), url.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

std::string read_all(int from) {
  std::string text;
  char piece[4096];
  for (ssize_t count; (count = read(from, piece, sizeof piece)) != 0;) {
    if (count > 0) text.append(piece, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) throw_errno("read(2) of what wrk prints");
  }
  return text;
}

wrk_summary summary_in(const std::string& printed, int status) {
  wrk_summary found;
  const std::size_t at = printed.find("\nheddle: ");
  const int fields =
      at == std::string::npos
          ? 0
          : std::sscanf(printed.c_str() + at, "\nheddle: %ld %ld %ld %ld %ld %ld %ld %ld",
                        &found.requests, &found.duration_us, &found.bytes, &found.lost,
                        &found.refused, &found.p50_us, &found.p99_us, &found.p999_us);
  if (fields != 8) {
    throw std::runtime_error("wrk did not say what came of it; waitpid's status is " +
                             std::to_string(status) + ", and it printed: " + printed);
  }
  return found;
}

// Calls `while_running`, and then stops it: it counts what has come until then. Its own durations
// are whole seconds.
template <class Function>
wrk_summary run_wrk(const load_plan& plan, const Function& while_running) {
  const int lua = memfd_create("wrk's script", MFD_CLOEXEC);
  if (lua < 0) throw_errno("memfd_create(2)");
  if (write(lua, script.data(), script.size()) != static_cast<ssize_t>(script.size())) {
    throw_errno("write(2) of wrk's script");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe(2)");
  const pid_t wrk = start_wrk(plan, lua, ends[1]);
  close(ends[1]);
  close(lua);
  while_running();
  kill(wrk, SIGINT);
  const std::string printed = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(wrk, &status, 0) < 0 && errno == EINTR) {
  }
  return summary_in(printed, status);
}

// Bytes of the server's answer to the request that wrk will send.
std::size_t length_of_answer(const load_plan& plan) {
  const exchange one = make_exchange(plan, 0);
  const int fd = socket(plan.server.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, plan.server.address(), plan.server.length()) != 0)
    throw_errno("connect(2)");
  const timeval limit = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (send(fd, one.request.data(), one.request.size(), MSG_NOSIGNAL) < 0) throw_errno("send(2)");
  std::string come;
  std::string content;
  int status = 0;
  std::size_t length = 0;
  while ((length = read_answer(come, status, content)) == 0) {
    char piece[4096];
    const ssize_t count = recv(fd, piece, sizeof piece, 0);
    if (count <= 0) break;
    come.append(piece, static_cast<std::size_t>(count));
  }
  close(fd);
  if (length == 0 || status != 200 || content != one.content) {
    throw std::runtime_error("the answer to " + target_of(one) + " is wrong");
  }
  return length;
}

// The server as it is seen from here.
class measured_server {
 public:
  measured_server(const server_state& state, const load_plan& plan)
      : state_(state), without_({getpid(), plan.back_end}) {}

  // The work that the server has done so far.
  struct reading {
    std::int64_t connections;  // accepted
    std::int64_t requests;     // answered
    std::int64_t wall_ns;
    std::int64_t cpu_ns;
  };
  [[nodiscard]] reading now() const {
    const std::int64_t cpu_ns = this->cpu_ns();
    return {state_.connections, state_.requests, static_cast<std::int64_t>(now_ns()), cpu_ns};
  }

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const pid_t each : family(state_.process, without_)) sum += proportional_bytes(each);
    return sum;
  }

  void wait_until_alone() const {
    wait_until([&] { return state_.open == 0; });
  }
  // Until it has accepted so many more connections than at `start`, and answered as many requests
  // as if each had had two.
  void wait_until_busy(const reading& start, std::int64_t connections) const {
    wait_until([&] {
      return state_.connections >= start.connections + connections &&
             state_.requests >= start.requests + 2 * connections;
    });
  }

 private:
  // A condition that does not hold in time is no error here: the results will show it.
  template <class Condition>
  static void wait_until(Condition holds) {
    for (int i = 0; i < 10'000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
  }

  // The processor time of the server's processes, ended ones included.
  [[nodiscard]] std::int64_t cpu_ns() const {
    return family_cpu_ns([this] { return family(state_.process, without_); },
                         [this] { return state_.ended_cpu_ns.load(); });
  }

  const server_state& state_;
  std::vector<pid_t> without_;
};

void add(load_report& to, const load_report& more) {
  to.due += more.due;
  to.right += more.right;
  to.wrong += more.wrong;
  to.lost += more.lost;
  to.complain(more.complaint);
}

}  // namespace

void require_wrk() {
  if (!in_path("wrk")) throw cannot_run("wrk is missing: `apt-get install wrk`");
}

load_report run_by_wrk(const load_plan& plan, const server_state& state) {
  const measured_server server(state, plan);
  load_plan one = plan;
  one.connections = one.pipeline = 1;
  one.requests = 100;
  load_plan all = plan;
  all.pipeline = 1;
  all.requests = 2 * plan.connections;
  std::atomic<bool> enough{false};
  load_plan beside = one;
  beside.requests = std::numeric_limits<std::int64_t>::max();
  beside.pause_us = 1000;
  beside.enough = &enough;

  load_report report;
  std::int64_t bytes_at_one = 0;
  std::int64_t bytes_at_all = 0;
  add(report, run_steadily(one, [&] { bytes_at_one = server.bytes(); }));
  const auto length = static_cast<std::int64_t>(length_of_answer(one));
  add(report, run_steadily(all, [&] { bytes_at_all = server.bytes(); }));
  // At one, there is no telling.
  if (plan.connections > 1) {
    report.connection_bytes = (bytes_at_all - bytes_at_one) / (plan.connections - 1);
  }
  server.wait_until_alone();

  const auto start = server.now();
  auto seen = std::async(std::launch::async, [&] { return run_steadily(beside); });
  struct at_end {  // also where something is thrown: `seen` would wait for ever
    std::atomic<bool>& enough;
    ~at_end() { enough = true; }
  } const ends{enough};
  const wrk_summary came = run_wrk(plan, [&] {
    server.wait_until_busy(start, plan.connections + 1);
    const auto before = server.now();
    std::this_thread::sleep_for(std::chrono::milliseconds(plan.wrk_ms));
    const auto after = server.now();
    report.timed_requests = after.requests - before.requests;
    report.timed_wall_ns = after.wall_ns - before.wall_ns;
    report.timed_cpu_ns = after.cpu_ns - before.cpu_ns;
    enough = true;
  });
  add(report, seen.get());
  add(report, run_steadily(one));

  report.p50_ns = came.p50_us * 1000;
  report.p99_ns = came.p99_us * 1000;
  report.p999_ns = came.p999_us * 1000;
  report.due += came.requests;
  report.right += came.requests - came.refused;
  report.wrong += came.refused;
  report.lost += came.lost;
  if (came.requests == 0) {
    ++report.wrong;
    report.complain("wrk got no answer");
  }
  if (came.refused != 0) report.complain("wrk had statuses above 399");
  if (came.lost != 0) report.complain("wrk had errors of sockets, or timeouts");
  // wrk's count of bytes includes the parts of answers that were incomplete when it stopped.
  const std::int64_t excess = came.bytes - came.requests * length;
  if (came.refused == 0 && (excess < 0 || excess >= plan.connections * length)) {
    ++report.wrong;
    report.complain("wrk got " + std::to_string(came.bytes) + " bytes in " +
                    std::to_string(came.requests) + " answers of " + std::to_string(length));
  }
  return report;
}

}  // namespace heddle::lab::http
