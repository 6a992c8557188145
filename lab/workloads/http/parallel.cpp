// PCM of the server: groups of strands, each with a scheduler, clients, I/O and connections to the
// back end of its own, which its strands share as CM's do. The groups share the door: the first
// accepts, and deals the clients out in turn, as the main thread of event-loop/pool does. A client
// stays with its group, so no request is handed from group to group.
#include <fcntl.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "harness/counters.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/http/serve.hpp"

namespace heddle::lab::http {
namespace {

using namespace coop;

// A group's part of the server.
struct part {
  http_service net;
  serving all;
  parallel::semaphore stopping{0, "the end"};

  part(scheduler& on, problem& work, int back_ends, std::function<void()> left)
      : net(on, work), all(on, net, work, back_ends, std::move(left)) {}
};

class server {
 public:
  explicit server(problem& work)
      : groups_({.count = static_cast<std::size_t>(work.loops()),
                 .each = {.stack_bytes = client_stack_bytes}}) {
    for (int i = 0; i < work.loops(); ++i) {
      parts_.emplace_back(groups_[static_cast<std::size_t>(i)].scheduler(), work,
                          work.back_ends_of(i, work.loops()), [this] { door_->left(); });
    }
    door_.emplace(parts_[0].net, work);
  }
  ~server() {
    add_counts_of(door_->places());
    add_counts_of(begun_);
    for (const part& each : parts_) add_counts_of(each.stopping);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void run() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].spawn(
          [this, &mine = parts_[i]]() -> STRAND {
            WAIT(mine.all.begin());
            begun_.V();
            WAIT(mine.stopping.P());
            WAIT(mine.all.end());
          },
          "keeper");
    }
    groups_[0].spawn(
        [this]() -> STRAND {
          for (std::size_t i = 0; i < groups_.size(); ++i) WAIT(begun_.P());
          const auto admit = [this](const io::socket& peer) { deal_out(peer); };
          WAIT(door_->accept_all(admit));
        },
        "door");
    groups_[0].spawn(
        [this]() -> STRAND {
          WAIT(door_->close_at_signal());
          for (part& each : parts_) each.stopping.V();
        },
        "stop");
    groups_.run();
  }
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }

 private:
  // A socket belongs to the I/O of one group: another one gets a descriptor of its own.
  void deal_out(const io::socket& peer) {
    const int fd = fcntl(peer.fd(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
      door_->left();  // there is no further descriptor: the client sees its connection end
      return;
    }
    const std::size_t to = next_++ % groups_.size();
    groups_[to].spawn([&mine = parts_[to], fd]() -> STRAND {
      return serve(mine.all, mine.net.adopt_socket(fd, "client"));
    });
  }

  static void add_counts_of(const parallel::semaphore& used) {
    counters& mine = count();
    mine.p_operations += used.p_count();
    mine.blocked_p_operations += used.blocked_p_count();
    mine.strand_switches += used.blocked_p_count();
  }

  parallel::groups groups_;
  std::deque<part> parts_;  // which stay where they are
  std::optional<entrance<parallel::semaphore>> door_;
  parallel::semaphore begun_{0, "the groups' begin"};
  std::size_t next_ = 0;  // to get a client
};

void run(problem& work, region& timed) {
  server one(work);
  timed.begin();
  one.run();
  timed.end();
  timed.kernel_threads(one.groups() + 1);
}

const model<problem> registered{"parallel/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::http
