// Goroutines: one a connection, over the packages net and net/textproto (goroutine), and Go's own
// server (goroutine/net-http). Both are in a Go program, which is started on our socket as a
// process of its own. The kernel's poller is in Go's scheduler; it finds one processor, and so has
// GOMAXPROCS=1.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/throw_errno.hpp"
#include "workloads/http/server_process.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {
namespace {

std::vector<std::string> arguments_for(problem& work, const std::string& model) {
  const limits& allowed = work.server().allowed;
  const auto ms = [](std::chrono::milliseconds limit) { return std::to_string(limit.count()); };
  const std::uint16_t port = work.back_end() ? work.back_end()->address().port() : 0;
  return {"--model=" + model,
          "--door=" + std::to_string(work.door()),
          "--counts=" + std::to_string(work.server_fd()),
          "--back-end-port=" + std::to_string(port),
          "--back-ends=" + std::to_string(work.back_ends()),
          "--header-bytes=" + std::to_string(allowed.header_bytes),
          "--target-bytes=" + std::to_string(allowed.target_bytes),
          "--body-bytes=" + std::to_string(allowed.body_bytes),
          "--linger-bytes=" + std::to_string(allowed.linger_bytes),
          "--pipelined=" + std::to_string(allowed.pipelined),
          "--connections=" + std::to_string(allowed.connections),
          "--idle-ms=" + ms(allowed.idle),
          "--header-ms=" + ms(allowed.header),
          "--body-ms=" + ms(allowed.body),
          "--write-ms=" + ms(allowed.write),
          "--linger-ms=" + ms(allowed.linger)};
}

// Does not return.
void become(const std::string& program, std::vector<std::string> words, const problem& work) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  for (const int kept : {work.door(), work.server_fd()}) fcntl(kept, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program.c_str(), argv.data());
  throw_errno(("cannot run " + program).c_str());
}

void run(problem& work, region& timed, const std::string& name) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "http-goroutine";
  if (access(program.c_str(), X_OK) != 0) {
    throw cannot_run("Go is missing: `apt-get install golang-go`, then build again");
  }
  server_state& state = work.server();
  state.own_protocol = name == "goroutine";
  timed.begin();
  serve_in_process(state, [&] { become(program, arguments_for(work, name), work); });
  timed.end();
  timed.kernel_threads(static_cast<std::uint64_t>(state.most_threads));
}

const model<problem> own{"goroutine",
                         [](problem& work, region& timed) { run(work, timed, "goroutine"); }};
const model<problem> net_http{"goroutine/net-http", [](problem& work, region& timed) {
                                run(work, timed, "goroutine/net-http");
                              }};

}  // namespace
}  // namespace heddle::lab::http
