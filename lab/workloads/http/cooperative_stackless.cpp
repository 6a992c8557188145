#include <optional>

#include "workloads/http/cooperative.hpp"

namespace heddle::lab::http {
namespace {

using namespace coop;

// Until the client has ended its direction, or has had its time.
task<> linger(serving& all, serving::connection& one) {
  static_cast<void>(one.socket.shutdown(io::ending::writing));
  const io::buffer piece(16 * 1024);
  for (std::size_t forgotten = 0; forgotten < all.allowed().linger_bytes;) {
    const auto read = co_await within(all.allowed().linger, one.socket.read(piece));
    if (!read || read->reached() == 0) break;
    forgotten += read->reached();
  }
}

task<> serve(serving& all, io::socket peer) {
  serving::connection one(all, std::move(peer));
  for (;;) {
    switch (one.peer.next()) {
      case session::step::read: {
        std::optional<io::result<std::size_t>> read;
        if (all.sweeps()) {
          one.waits_to_read(one.peer.patience());
          read.emplace(co_await one.socket.read(one.peer.room()));
          if (one.late()) read.reset();
        } else {
          read = co_await within(one.peer.patience(), one.socket.read(one.peer.room()));
        }
        if (!read) {
          one.peer.timed_out();
        } else if (!*read) {
          co_return;
        } else {
          one.peer.received(read->reached());
        }
        break;
      }
      case session::step::write: {
        std::optional<io::result<std::size_t>> written;
        if (all.sweeps()) {
          one.waits_to_write(all.allowed().write);
          written.emplace(co_await one.socket.write_all(one.peer.output().filled()));
        } else {
          written = co_await within(all.allowed().write,
                                    one.socket.write_all(one.peer.output().filled()));
        }
        if (!written || !*written) co_return;
        one.peer.written();
        break;
      }
      case session::step::fetch: {
        if (one.back_end() == nullptr) {
          one.peer.fetched(session::found::no_back_end);
          break;
        }
        back_end_client::question asked;
        one.back_end()->ask(asked, one.peer.key());
        co_await asked.answered.P();
        one.peer.fetched(asked.how, asked.value);
        break;
      }
      case session::step::linger:
        co_await linger(all, one);
        co_return;
      case session::step::close:
        co_return;
    }
  }
}

void run(problem& work, region& timed) {
  scheduler s;
  const http_service net(s, work);
  serving all(s, net, work);
  timed.begin();
  all.run([&](io::socket peer) { s.spawn(serve(all, std::move(peer))); });
  timed.end();
}

const model<problem> registered{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::http
