// The strand that serves a client under CM and PCM, a fiber or a task: for files that are compiled
// for each kind of strand.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "harness/strand_kinds.hpp"
#include "workloads/http/serving.hpp"

namespace heddle::lab::http {
// Each file has its own, of its kind.
namespace {

// Until the client has ended its direction, or has had its time.
STRAND linger(serving& all, serving::connection& one) {
  static_cast<void>(one.socket.shutdown(coop::io::ending::writing));
  const coop::io::buffer piece(16 * 1024);
  for (std::size_t forgotten = 0; forgotten < all.allowed().linger_bytes;) {
    const auto read = WAIT(coop::within(all.allowed().linger, one.socket.read(piece)));
    if (!read || read->reached() == 0) break;
    forgotten += read->reached();
  }
}

STRAND serve(serving& all, coop::io::socket peer) {
  serving::connection one(all, std::move(peer));
  for (;;) {
    switch (one.peer.next()) {
      case session::step::read: {
        std::optional<coop::io::result<std::size_t>> read;
        if (all.sweeps()) {
          one.waits_to_read(one.peer.patience());
          read.emplace(WAIT(one.socket.read(one.peer.room())));
          if (one.late()) read.reset();
        } else {
          read = WAIT(coop::within(one.peer.patience(), one.socket.read(one.peer.room())));
        }
        if (!read) {
          one.peer.timed_out();
        } else if (!*read) {
          RETURN;
        } else {
          one.peer.received(read->reached());
        }
        break;
      }
      case session::step::write: {
        std::optional<coop::io::result<std::size_t>> written;
        if (all.sweeps()) {
          one.waits_to_write(all.allowed().write);
          written.emplace(WAIT(one.socket.write_all(one.peer.output().filled())));
        } else {
          written = WAIT(
              coop::within(all.allowed().write, one.socket.write_all(one.peer.output().filled())));
        }
        if (!written || !*written) RETURN;
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
        WAIT(asked.answered.P());
        one.peer.fetched(asked.how, asked.value);
        break;
      }
      case session::step::linger:
        CALL(linger(all, one));
        RETURN;
      case session::step::close:
        RETURN;
    }
  }
}

}  // namespace
}  // namespace heddle::lab::http
