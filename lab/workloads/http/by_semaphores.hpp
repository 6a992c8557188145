#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/coop/concurrent.hpp"
#include "heddle/coop/parallel/group.hpp"
#include "workloads/http/serving.hpp"

namespace heddle::lab::http {

/// Has a permit as long as it lives.
template <class Semaphore>
class holding {
 public:
  explicit holding(Semaphore& held) : held_(held) { held_.P(); }
  ~holding() { held_.V(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Semaphore& held_;
};

/// One kept connection to the back end: questions of many processes go out together, and answers
/// come in their order.
template <class Semaphore>
class back_end_queue {
 public:
  /// A process's question: lives until `answered` was granted.
  struct question {
    Semaphore answered{0};
    session::found how = session::found::no_back_end;
    std::string value;
  };

  back_end_queue(coop::scheduler& on, coop::io::socket connection)
      : connection_(std::move(connection)) {
    on.spawn([this] { write_all(); }, "to the back end");
    on.spawn([this] { read_all(); }, "from the back end");
  }

  /// Begins to ask; then wait for `into.answered`.
  void ask(question& into, std::string_view key) {
    mutex_.P();
    const bool over = over_;
    const bool first = out_.empty();
    if (!over) {
      write_get(out_, key);
      coop::await(coop::checkpoint());  // a slice may end before both are done
      waiting_.push_back(&into);
    }
    mutex_.V();
    if (over) {
      into.answered.V();
    } else if (first) {
      asked_.V();
    }
  }

  /// Ends both of its processes. By one of its scheduler.
  void close() {
    end_asking();
    static_cast<void>(coop::await(connection_.close()));
  }

 private:
  void write_all() {
    for (;;) {
      asked_.P();
      mutex_.P();
      std::swap(out_, sent_);  // further questions come while these are written
      const bool over = over_;
      mutex_.V();
      if (over) return;
      const auto written = coop::await(connection_.write_all(sent_.filled()));
      sent_.clear();
      if (!written) {
        static_cast<void>(connection_.shutdown(coop::io::ending::both));  // which read_all() sees
        return;
      }
    }
  }

  void read_all() {
    bytes in(16 * 1024);
    for (;;) {
      const auto read = coop::await(connection_.read(in.room()));
      if (!read || read.reached() == 0) break;
      in.added(read.reached());
      if (!answer_all(in)) break;
    }
    end_asking();
    while (question* const asked = take_oldest()) asked->answered.V();
  }

  // Returns whether the back end has answered questions, and nothing else.
  bool answer_all(bytes& in) {
    reply next;
    reply_state state;
    while ((state = read_reply(in.text(), next)) == reply_state::whole) {
      question* const asked = take_oldest();
      if (asked == nullptr) return false;
      asked->how = next.found ? session::found::value : session::found::nothing;
      asked->value = next.value;
      in.take(next.bytes);
      asked->answered.V();
    }
    return state == reply_state::incomplete;
  }

  question* take_oldest() {
    const holding held(mutex_);
    if (waiting_.empty()) return nullptr;
    question* const oldest = waiting_.front();
    waiting_.pop_front();
    return oldest;
  }

  void end_asking() {
    mutex_.P();
    over_ = true;
    mutex_.V();
    asked_.V();
  }

  coop::io::socket connection_;
  bytes sent_{4 * 1024};  // write_all()'s own
  Semaphore asked_{0};    // something is in out_, or it is over
  Semaphore mutex_{1};    // of what follows
  bytes out_{4 * 1024};
  std::deque<question*> waiting_;
  bool over_ = false;
};

/// CP of the server: a process a connection, switched where a slice of time ends, and each variable
/// that several processes use behind a semaphore. Schedulers, I/O and session are those of CM and
/// PCM, so that nothing else differs. What the session and the I/O keep for a thread, the runtime
/// guards: it is switched at checkpoints alone.
///
/// `Place` makes processes: a scheduler, or a group.
template <class Semaphore, class Place>
class by_semaphores {
 public:
  /// Clients are dealt out to these places in turn.
  by_semaphores(problem& work, const std::vector<Place*>& places)
      : work_(work),
        state_(work.server()),
        room_(static_cast<std::uint64_t>(state_.allowed.connections), "room") {
    for (Place* const each : places) sites_.emplace_back(*each, work);
  }

  /// The process that each place has from the begin to the end: its connections to the back end
  /// are there, and at the first place the door.
  void keep(std::size_t at) {
    site& mine = sites_[at];
    for (int left = back_ends_at(at); left > 0; --left) {
      auto there = coop::await(mine.net.connect(work_.back_end()->address()));
      mine.back_ends.emplace_back(mine.on, std::move(there).value());
    }
    begun_.V();
    if (at == 0) {
      receive(mine);
      for (site& each : sites_) each.over.V();
    }
    mine.over.P();
    for (queue& each : mine.back_ends) each.close();
  }

 private:
  using queue = back_end_queue<Semaphore>;

  static coop::scheduler& scheduler_of(coop::scheduler& place) { return place; }
  static coop::scheduler& scheduler_of(coop::parallel::group& place) { return place.scheduler(); }

  struct site {
    Place& place;
    coop::scheduler& on;
    http_service net;
    std::deque<queue> back_ends;
    Semaphore over{0};  // no client comes, and none is left

    site(Place& its_place, problem& work)
        : place(its_place), on(scheduler_of(its_place)), net(on, work) {}
  };

  // A connection, as long as its process lives.
  struct client {
    // The process's own.
    session peer;
    coop::io::socket socket;
    queue* back_end;

    Semaphore mutex{1};  // of what follows
    bool idle = false;   // it waits for a request of which nothing has come
    bool late = false;
    coop::time_point deadline = coop::time_point::max();  // of the wait that goes on
    coop::io::ending ends = coop::io::ending::both;       // what a wait that is late ends

    client* next = nullptr;  // these two are the list's
    client* previous = nullptr;

    client(server_state& state, coop::io::socket accepted, queue* questions_to)
        : peer(state), socket(std::move(accepted)), back_end(questions_to) {}
  };

  [[nodiscard]] int back_ends_at(std::size_t number) const {
    return work_.back_ends_of(static_cast<int>(number), static_cast<int>(sites_.size()));
  }

  // Until SIGTERM has come and all clients have gone.
  void receive(site& mine) {
    const coop::io::listener door = mine.net.adopt_listener(dup(work_.door()), "door");
    const coop::io::signal_set signals(mine.net, {SIGTERM});
    const auto stopper = mine.on.spawn([&] { stop(door, signals); }, "stop");
    std::optional<coop::strand<>> sweeper;
    if (work_.sweeps()) sweeper.emplace(mine.on.spawn([this] { sweep(); }, "sweeper"));
    accept_all(door);
    coop::await(stopper.join());
    wait_until_alone();
    if (sweeper) sweeper->cancel();
  }

  void accept_all(const coop::io::listener& door) {
    for (std::size_t i = 0; i < sites_.size(); ++i) begun_.P();
    std::vector<queue*> queues;
    for (site& each : sites_) {
      for (queue& one : each.back_ends) queues.push_back(&one);
    }
    for (std::size_t served = 0;; ++served) {
      room_.P();
      const auto come = coop::await(door.accept());
      if (!come) return;  // closed
      clients_.P();
      state_.opened();
      clients_.V();
      deal_out(come.reached(), served, queues.empty() ? nullptr : queues[served % queues.size()]);
    }
  }

  // A socket belongs to the I/O of one place: another one gets a descriptor of its own.
  void deal_out(const coop::io::socket& peer, std::size_t served, queue* questions_to) {
    const int fd = fcntl(peer.fd(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
      count_out();  // there is no further descriptor: the client sees its connection end
      return;
    }
    site& to = sites_[served % sites_.size()];
    to.place.spawn(
        [this, &to, fd, questions_to] { serve(to.net.adopt_socket(fd, "client"), questions_to); });
  }

  void wait_until_alone() {
    clients_.P();
    ending_ = true;
    const bool alone = state_.open == 0;
    clients_.V();
    if (!alone) last_left_.P();
  }

  void count_out() {
    clients_.P();
    --state_.open;
    const bool last = ending_ && state_.open == 0;
    clients_.V();
    room_.V();
    if (last) last_left_.V();
  }

  void stop(const coop::io::listener& door, const coop::io::signal_set& signals) {
    coop::await(signals.next()).value();
    state_.stopping = true;
    coop::await(door.close()).value();
    const holding held(clients_);
    for (client* each = first_; each != nullptr; each = each->next) {
      const holding its(each->mutex);
      if (each->idle) static_cast<void>(each->socket.shutdown(coop::io::ending::reading));
    }
  }

  void sweep() {
    for (;;) {
      coop::await(coop::sleep_for(state_.allowed.sweep_interval()));
      const coop::time_point now = coarse_now();
      const holding held(clients_);
      for (client* each = first_; each != nullptr; each = each->next) {
        const holding its(each->mutex);
        if (each->deadline > now) continue;
        each->late = true;
        each->deadline = coop::time_point::max();
        static_cast<void>(each->socket.shutdown(each->ends));
      }
    }
  }

  void serve(coop::io::socket peer, queue* questions_to) {
    {
      client one(state_, std::move(peer), questions_to);
      clients_.P();
      one.next = first_;
      coop::await(coop::checkpoint());  // a slice may end while the list is being changed
      if (first_ != nullptr) first_->previous = &one;
      first_ = &one;
      clients_.V();
      converse(one);
      clients_.P();
      (one.previous != nullptr ? one.previous->next : first_) = one.next;
      if (one.next != nullptr) one.next->previous = one.previous;
      clients_.V();
    }
    count_out();
  }

  void converse(client& one) {
    for (;;) {
      switch (one.peer.next()) {
        case session::step::read:
          if (!read_some(one)) return;
          break;
        case session::step::write:
          if (!write_all(one)) return;
          break;
        case session::step::fetch:
          fetch(one);
          break;
        case session::step::linger:
          linger(one);
          return;
        case session::step::close:
          return;
      }
      coop::await(coop::checkpoint());
    }
  }

  // stop() sets `stopping` before it looks at `idle`, and here it is the other way round: so one of
  // both sees what the other has set.
  bool read_some(client& one) {
    one.mutex.P();
    one.idle = one.peer.idle();
    const bool ends = one.idle && state_.stopping;
    expect(one, one.peer.patience(), coop::io::ending::reading);
    one.mutex.V();
    if (ends) return false;
    std::optional<coop::io::result<std::size_t>> read;
    if (work_.sweeps()) {
      read.emplace(coop::await(one.socket.read(one.peer.room())));
    } else {
      read = coop::await(coop::within(one.peer.patience(), one.socket.read(one.peer.room())));
    }
    one.mutex.P();
    one.idle = false;
    if (one.late) read.reset();
    one.mutex.V();
    if (!read) {
      one.peer.timed_out();
    } else if (!*read) {
      return false;
    } else {
      one.peer.received(read->reached());
    }
    return true;
  }

  bool write_all(client& one) {
    std::optional<coop::io::result<std::size_t>> written;
    const coop::duration limit = state_.allowed.write;
    if (work_.sweeps()) {
      one.mutex.P();
      expect(one, limit, coop::io::ending::both);
      one.mutex.V();
      written.emplace(coop::await(one.socket.write_all(one.peer.output().filled())));
    } else {
      written = coop::await(coop::within(limit, one.socket.write_all(one.peer.output().filled())));
    }
    if (!written || !*written) return false;
    one.peer.written();
    return true;
  }

  // For sweep(): the wait that now begins may take so long. `one.mutex` is held.
  void expect(client& one, coop::duration limit, coop::io::ending ends) const {
    if (!work_.sweeps()) return;
    one.deadline = coarse_now() + limit;
    one.ends = ends;
  }

  static void fetch(client& one) {
    if (one.back_end == nullptr) {
      one.peer.fetched(session::found::no_back_end);
      return;
    }
    typename queue::question asked;
    one.back_end->ask(asked, one.peer.key());
    asked.answered.P();
    one.peer.fetched(asked.how, asked.value);
  }

  // Until the client has ended its direction, or has had its time.
  void linger(client& one) const {
    static_cast<void>(one.socket.shutdown(coop::io::ending::writing));
    const coop::io::buffer piece(16 * 1024);
    for (std::size_t forgotten = 0; forgotten < state_.allowed.linger_bytes;) {
      const auto read = coop::await(coop::within(state_.allowed.linger, one.socket.read(piece)));
      if (!read || read->reached() == 0) break;
      forgotten += read->reached();
    }
  }

  problem& work_;
  server_state& state_;
  std::deque<site> sites_;
  Semaphore begun_{0};
  Semaphore room_;  // for further connections
  Semaphore last_left_{0};

  Semaphore clients_{1};  // of what follows, and of the count of open connections
  client* first_ = nullptr;
  bool ending_ = false;
};

}  // namespace heddle::lab::http
