// Clients that behave: each has `pipeline` requests on the way, and sends the next when an answer
// has come (a closed loop). Every answer is looked at.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <functional>
#include <vector>

#include "harness/measure.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/load.hpp"

namespace heddle::lab::http {
namespace {

// Durations to a few per cent: 16 steps for each power of two.
class histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[std::min(index_of(value), counts_.size() - 1)];
    ++all_;
  }
  [[nodiscard]] std::int64_t quantile(double part) const {
    auto left = static_cast<std::uint64_t>(part * static_cast<double>(all_));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > left) return static_cast<std::int64_t>(value_of(i));
      left -= counts_[i];
    }
    return 0;
  }

 private:
  static constexpr unsigned bits = 4;
  static std::size_t index_of(std::uint64_t value) {
    if (value < (1U << bits)) return value;
    const auto power = static_cast<unsigned>(std::bit_width(value)) - 1 - bits;
    return (std::size_t{power} << bits) + (value >> power);
  }
  static std::uint64_t value_of(std::size_t index) {
    if (index < (2U << bits)) return index;
    const std::size_t power = (index >> bits) - 1;
    return ((index & ((1U << bits) - 1)) + (1U << bits)) << power;
  }

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(64 << bits);
  std::uint64_t all_ = 0;
};

struct client {
  int fd = -1;
  std::string in;
  int on_the_way = 0;
  std::uint64_t sent_at = 0;
  std::vector<std::int64_t> expected;  // indices, oldest first
};

class clients {
 public:
  explicit clients(const load_plan& plan) : plan_(plan), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw_errno("epoll_create1(2)");
    for (std::int64_t i = 0; i < kinds; ++i) exchanges_.push_back(make_exchange(plan, i));
  }
  ~clients() { close(epoll_); }
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;

  load_report run(const std::function<void()>& while_open) {
    std::vector<client> all(static_cast<std::size_t>(plan_.connections));
    for (client& each : all) connect(each);
    for (client& each : all) send_some(each);
    while (answered_ < sent_) {
      epoll_event events[128];
      const int count = epoll_wait(epoll_, events, 128, 10'000);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        report_.complain("no answer came for ten seconds");
        ++report_.lost;
        break;
      }
      for (int i = 0; i < count; ++i) take(*static_cast<client*>(events[i].data.ptr));
    }
    report_.due = plan_.enough == nullptr ? plan_.requests : sent_;
    if (while_open) while_open();
    for (const client& each : all) close(each.fd);
    report_.p50_ns = times_.quantile(0.5);
    report_.p99_ns = times_.quantile(0.99);
    report_.p999_ns = times_.quantile(0.999);
    return report_;
  }

 private:
  static constexpr std::int64_t kinds = back_end_process::kept_keys;

  void connect(client& made) {
    made.fd = socket(plan_.server.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made.fd < 0) throw_errno("no socket for a client (see `ulimit -n`)");
    const int on = 1;
    setsockopt(made.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(made.fd, plan_.server.address(), plan_.server.length()) != 0)
      throw_errno("connect(2)");
    epoll_event wanted = {};
    wanted.events = EPOLLIN;
    wanted.data.ptr = &made;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, made.fd, &wanted) != 0) throw_errno("epoll_ctl(2)");
  }

  void send_some(client& from) {
    if (plan_.pause_us != 0) usleep(static_cast<useconds_t>(plan_.pause_us));
    if (plan_.enough != nullptr && *plan_.enough) return;
    text_.clear();
    while (from.on_the_way < plan_.pipeline && sent_ < plan_.requests) {
      const std::int64_t index = sent_++ % kinds;
      text_ += exchanges_[static_cast<std::size_t>(index)].request;
      from.expected.push_back(index);
      ++from.on_the_way;
    }
    if (text_.empty()) return;
    from.sent_at = now_ns();
    // Blocking: there is room for a few requests.
    if (send(from.fd, text_.data(), text_.size(), MSG_NOSIGNAL) < 0) lose(from);
  }

  void lose(client& from) {
    ++report_.lost;
    report_.complain("the server ended a connection with answers due");
    answered_ += from.on_the_way;
    from.on_the_way = 0;
    from.expected.clear();
    epoll_ctl(epoll_, EPOLL_CTL_DEL, from.fd, nullptr);
  }

  void take(client& to) {
    char piece[64 * 1024];
    const ssize_t count = recv(to.fd, piece, sizeof piece, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      lose(to);
      return;
    }
    to.in.append(piece, static_cast<std::size_t>(count));
    int status = 0;
    std::size_t taken = 0;
    while (to.on_the_way > 0) {
      const std::size_t length = read_answer(std::string_view(to.in).substr(taken), status, body_);
      if (length == 0) break;
      taken += length;
      const std::string& expected =
          exchanges_[static_cast<std::size_t>(to.expected.front())].content;
      to.expected.erase(to.expected.begin());
      const bool right = status == 200 && body_ == expected;
      ++(right ? report_.right : report_.wrong);
      if (!right) report_.complain("status " + std::to_string(status) + ": " + body_.substr(0, 99));
      ++answered_;
      --to.on_the_way;
      times_.add(now_ns() - to.sent_at);
    }
    to.in.erase(0, taken);
    if (to.on_the_way == 0) send_some(to);
  }

  const load_plan& plan_;
  int epoll_;
  std::vector<exchange> exchanges_;
  std::int64_t sent_ = 0;
  std::int64_t answered_ = 0;
  load_report report_;
  histogram times_;
  std::string text_;
  std::string body_;
};

}  // namespace

load_report run_steadily(const load_plan& plan, const std::function<void()>& while_open) {
  return clients(plan).run(while_open);
}

}  // namespace heddle::lab::http
