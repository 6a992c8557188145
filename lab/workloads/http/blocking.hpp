#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "heddle/coop/io/endpoint.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/session.hpp"

namespace heddle::lab::http {

/// The back end over one connection, one question at a time, waited for in the kernel. Connects at
/// the first.
class blocking_back_end {
 public:
  explicit blocking_back_end(coop::io::endpoint at) : at_(at), in_(4 * 1024), out_(256) {}
  ~blocking_back_end() { disconnect(); }
  blocking_back_end(const blocking_back_end&) = delete;
  blocking_back_end& operator=(const blocking_back_end&) = delete;

  /// Asks for what `peer` wants fetched, and tells it.
  void ask(session& peer);

 private:
  bool connect();
  void disconnect();
  bool send_question();
  bool read_answer(session& peer);

  coop::io::endpoint at_;
  int fd_ = -1;
  bytes in_;
  bytes out_;
};

/// A client with a thread or a process of its own, which waits in the kernel.
class blocking_client {
 public:
  /// Owns `fd`. `back_end` is where its questions go, if there is one.
  blocking_client(int fd, server_state& server, const std::optional<back_end_process>& back_end);
  ~blocking_client();
  blocking_client(const blocking_client&) = delete;
  blocking_client& operator=(const blocking_client&) = delete;

  /// Until the connection has ended.
  void serve();

  /// The server is `stopping`: ends the wait for a request of which nothing has come. For other
  /// threads, and for a signal's handler in this one; while serve() runs, before, or after.
  void stop_waiting() const;

 private:
  bool read_some();
  bool write_all();
  void linger();
  void wait_at_most(session::duration limit);

  int fd_;
  server_state& server_;
  session peer_;
  std::optional<blocking_back_end> back_end_;
  session::duration limit_{0};  // what the socket was told; 0: nothing yet
  std::atomic<bool> idle_{false};
};

}  // namespace heddle::lab::http
