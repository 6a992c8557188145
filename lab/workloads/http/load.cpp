#include "workloads/http/load.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "harness/model.hpp"
#include "harness/processors.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/wrk.hpp"

namespace heddle::lab::http {

load_report (*run_chaos)(const load_plan&, const server_state&) = nullptr;

void load_report::complain(std::string_view text) {
  if (complaint[0] != '\0') return;
  const std::size_t count = std::min(text.size(), sizeof complaint - 1);
  std::memcpy(complaint, text.data(), count);
  complaint[count] = '\0';
}

exchange make_exchange(const load_plan& plan, std::int64_t index) {
  if (plan.hop) {
    const std::string key = back_end_process::key(index);
    return {"GET /value/" + key + " HTTP/1.1\r\nHost: loopback\r\n\r\n",
            back_end_process::value_of(key)};
  }
  return {"GET /bytes/" + std::to_string(plan.size) + " HTTP/1.1\r\nHost: loopback\r\n\r\n",
          std::string(session::content(static_cast<std::size_t>(plan.size)))};
}

namespace {

constexpr std::string_view line_end = "\r\n";

// The value of a field, as the server writes it.
std::string_view field_of(std::string_view head, std::string_view name) {
  const std::size_t at = head.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return head.substr(begin, head.find(line_end, begin) - begin);
}

std::size_t number_of(std::string_view text, int base) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// Returns the length of the chunks, 0 if they are not whole.
std::size_t read_chunks(std::string_view text, std::string& content) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = text.find(line_end, at);
    if (end == std::string_view::npos) return 0;
    const std::size_t size = number_of(text.substr(at, end - at), 16);
    at = end + line_end.size() + size + line_end.size();
    if (at > text.size()) return 0;
    if (size == 0) return at;
    content += text.substr(end + line_end.size(), size);
  }
}

}  // namespace

std::size_t read_answer(std::string_view text, int& status, std::string& content) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const std::string_view head = text.substr(0, end + line_end.size());
  const std::size_t body = end + 2 * line_end.size();
  status = static_cast<int>(number_of(head.substr(std::min<std::size_t>(9, head.size())), 10));
  content.clear();
  if (status == 100) return read_answer(text.substr(body), status, content) + body;
  if (!field_of(head, "Transfer-Encoding: ").empty()) {
    const std::size_t chunks = read_chunks(text.substr(body), content);
    return chunks == 0 ? 0 : body + chunks;
  }
  const std::size_t size = number_of(field_of(head, "Content-Length: "), 10);
  if (text.size() < body + size) return 0;
  content = text.substr(body, size);
  return body + size;
}

load_process::load_process(const load_plan& plan, const server_state& server) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
  process_ = fork();
  if (process_ < 0) throw_errno("fork(2)");
  if (process_ != 0) {
    close(ends[1]);
    results_ = ends[0];
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    pin_to_processor(1);
  } catch (const cannot_run&) {
    // The only processor is shared.
  }
  load_report report;
  try {
    report = plan.wrk_ms != 0 ? run_by_wrk(plan, server)
             : plan.chaos     ? run_chaos(plan, server)
                              : run_steadily(plan);
  } catch (const std::exception& error) {
    ++report.wrong;
    report.complain(error.what());
  }
  const bool written = write(ends[1], &report, sizeof report) == sizeof report;
  kill(server.process, SIGTERM);
  _exit(written ? 0 : 1);
}

load_process::~load_process() {
  close(results_);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

load_report load_process::finish() {
  load_report report;
  const ssize_t count = read(results_, &report, sizeof report);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  if (count != sizeof report) {
    throw std::runtime_error("the clients died; waitpid's status is " + std::to_string(status));
  }
  return report;
}

}  // namespace heddle::lab::http
