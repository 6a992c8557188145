#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "workloads/tracing/command.hpp"

namespace heddle::lab::redis {

/// A Redis that listens at a socket in a directory, writes nothing to disk, and ends with this
/// process; and a connection to it.
class server {
 public:
  /// Starts it behind the words of `prefix`. Throws std::exception if it does not answer.
  server(const tracing::command& prefix, const std::filesystem::path& program,
         const std::filesystem::path& directory);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Sends commands and takes as many bytes as their answers are long.
  [[nodiscard]] std::string ask(std::string_view commands, std::size_t answer_bytes);

  /// Processor time of its threads so far, ns, as it says itself.
  [[nodiscard]] std::uint64_t cpu_ns();

  /// Has it end, and waits for it. Throws std::runtime_error if it does not end well.
  void end();

 private:
  void connect(const std::filesystem::path& socket);
  void send_all(std::string_view text) const;
  std::size_t receive(char* into, std::size_t most) const;

  pid_t process_ = -1;
  int connection_ = -1;
};

}  // namespace heddle::lab::redis
