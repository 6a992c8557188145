#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/coop/io/endpoint.hpp"

namespace heddle::lab::http {

/// A process that answers GETs as Redis does: the value of KEY is value_of(KEY), and keys that
/// begin with "missing" have none. It ends with its owner.
class back_end_process {
 public:
  enum class kind : std::uint8_t {
    stub,  ///< ours
    redis  ///< Redis itself, which has the values of kept_keys keys
  };

  /// Throws cannot_run if there is no Redis, std::exception if it does not start.
  /// `askers` may each have a connection to it at a time.
  back_end_process(kind what, std::int64_t askers);
  ~back_end_process();
  back_end_process(const back_end_process&) = delete;
  back_end_process& operator=(const back_end_process&) = delete;

  [[nodiscard]] const coop::io::endpoint& address() const { return address_; }
  [[nodiscard]] pid_t process() const { return process_; }

  /// "key0" … "key999".
  [[nodiscard]] static std::string key(std::int64_t index) {
    return "key" + std::to_string(index % kept_keys);
  }
  [[nodiscard]] static std::string value_of(std::string_view key);
  static constexpr std::int64_t kept_keys = 1000;

 private:
  pid_t process_ = -1;
  coop::io::endpoint address_;
};

}  // namespace heddle::lab::http
