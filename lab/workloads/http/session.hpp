#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/http/bytes.hpp"
#include "workloads/http/limits.hpp"

namespace heddle::lab::http {

/// One connection's side of HTTP/1.1 without any I/O: it says what is to be done, and is told what
/// came of it. So every model serves by the same code, and only does the steps in its own way.
///
///     for (session peer(server);;) switch (peer.next()) {
///       case step::read:   read into peer.room(), for at most peer.patience(); peer.received(n)
///       case step::write:  write all of peer.output(), for at most limits.write; peer.written()
///       case step::fetch:  ask the back end for peer.key(); peer.fetched(value)
///       case step::linger: end the writing direction, read and forget what still comes, close
///       case step::close:  close
///     }
///
/// Its loops have checkpoints, where a time slice may end under CP; elsewhere they do nothing.
///
/// Resources: `/` a greeting; `/bytes/N` content() of N bytes; `/chunked/N` the same in chunks;
/// `/echo` (POST, PUT) the request's body; `/value/KEY` what the back end has for KEY.
class session {
 public:
  enum class step : std::uint8_t { read, write, fetch, linger, close };
  using duration = std::chrono::nanoseconds;

  explicit session(server_state& server);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  [[nodiscard]] step next();

  [[nodiscard]] coop::io::buffer room() { return in_.room(); }
  /// So many bytes came; 0: the client has ended its direction.
  void received(std::size_t count);
  /// Time within which the client's next bytes must come.
  [[nodiscard]] duration patience() const;
  /// It took longer: next() says what follows.
  void timed_out();

  [[nodiscard]] const bytes& output() const { return out_; }
  /// So many bytes of it were written; all, if the model writes all.
  void written(std::size_t count) {
    out_.take(count);
    answered_ = 0;
  }
  void written() { written(out_.size()); }

  [[nodiscard]] std::string_view key() const { return key_; }
  enum class found : std::uint8_t { value, nothing, no_back_end };
  void fetched(found how, std::string_view value = {});

  /// Whether nothing would be lost if the connection ended now.
  [[nodiscard]] bool idle() const;

  /// `size` bytes of text, the same in every process.
  [[nodiscard]] static std::string_view content(std::size_t size);
  static constexpr std::size_t most_content = 1024 * 1024;

 private:
  struct incoming;

  bool parse();
  void answer();
  void answer_resource();
  void refuse(int status);
  void respond(int status, std::string_view content);

  server_state& server_;
  bytes in_;
  bytes out_;
  std::unique_ptr<incoming> request_;  // the parser's headers are for session.cpp alone
  std::string key_;                    // being fetched, if not empty
  std::size_t answered_ = 0;           // since the last write
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // of a request that is not whole
  bool in_body_ = false;                                           // of that request
  bool ended_ = false;                                             // by the client
  bool closing_ = false;  // by us, once what is in out_ is written
  bool lingers_ = false;  // the client may not know yet
};

}  // namespace heddle::lab::http
