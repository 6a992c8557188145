#include <optional>

#include "heddle/coop/ext/sanitizer.hpp"
#include "workloads/http/cooperative.hpp"

namespace heddle::lab::http {
namespace {

using namespace coop;

// Until the client has ended its direction, or has had its time.
void linger(serving& all, serving::connection& one) {
  static_cast<void>(one.socket.shutdown(io::ending::writing));
  const io::buffer piece(16 * 1024);
  for (std::size_t forgotten = 0; forgotten < all.allowed().linger_bytes;) {
    const auto read = await(within(all.allowed().linger, one.socket.read(piece)));
    if (!read || read->reached() == 0) break;
    forgotten += read->reached();
  }
}

void serve(serving& all, io::socket peer) {
  serving::connection one(all, std::move(peer));
  for (;;) {
    switch (one.peer.next()) {
      case session::step::read: {
        std::optional<io::result<std::size_t>> read;
        if (all.sweeps()) {
          one.waits_to_read(one.peer.patience());
          read.emplace(await(one.socket.read(one.peer.room())));
          if (one.late()) read.reset();
        } else {
          read = await(within(one.peer.patience(), one.socket.read(one.peer.room())));
        }
        if (!read) {
          one.peer.timed_out();
        } else if (!*read) {
          return;
        } else {
          one.peer.received(read->reached());
        }
        break;
      }
      case session::step::write: {
        std::optional<io::result<std::size_t>> written;
        if (all.sweeps()) {
          one.waits_to_write(all.allowed().write);
          written.emplace(await(one.socket.write_all(one.peer.output().filled())));
        } else {
          written =
              await(within(all.allowed().write, one.socket.write_all(one.peer.output().filled())));
        }
        if (!written || !*written) return;
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
        await(asked.answered.P());
        one.peer.fetched(asked.how, asked.value);
        break;
      }
      case session::step::linger:
        linger(all, one);
        return;
      case session::step::close:
        return;
    }
  }
}

// The parser's frames, with AddressSanitizer's room around each variable, need more than usual.
#if defined(HEDDLE_ASAN)
constexpr std::size_t stack_bytes = 512 * 1024;
#else
constexpr std::size_t stack_bytes = 64 * 1024;
#endif

void run(problem& work, region& timed) {
  scheduler s({.stack_bytes = stack_bytes});
  const http_service net(s, work);
  serving all(s, net, work);
  timed.begin();
  all.run([&](io::socket peer) {
    s.spawn([&all, peer = std::move(peer)]() mutable { serve(all, std::move(peer)); });
  });
  timed.end();
}

const model<problem> registered{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::http
