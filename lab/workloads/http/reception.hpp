#pragma once

#include <chrono>
#include <initializer_list>

namespace heddle::lab::http {

/// Where a server's main thread waits for clients and for signals, which are to be blocked.
class reception {
 public:
  /// Waits at a listening socket, which stays its owner's. Throws std::system_error.
  reception(int door, std::initializer_list<int> signals);
  ~reception();
  reception(const reception&) = delete;
  reception& operator=(const reception&) = delete;

  struct arrival {
    int client = -1;  // its socket, blocking, to be owned
    int signal = 0;
  };

  /// Waits for either; neither has come after `limit`, or when it was a mistake. Without
  /// `with_clients` these stay outside.
  [[nodiscard]] arrival next(bool with_clients, std::chrono::milliseconds limit);

 private:
  int door_;
  int signals_;
};

}  // namespace heddle::lab::http
