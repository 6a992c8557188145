#pragma once

#include <cstdint>

namespace heddle::lab::simulating {

/// Simulated time, ns.
using nanoseconds = std::int64_t;

/// The events of an application.
enum class what : std::uint8_t { asks = 1, is_asked = 2, answers = 3, has_its_answer = 4 };

/// The simulated scenario: clients that think, send a request and read until they have all of the
/// answer, and servers, one a connection, that read a request, work on it and answer. Whatever is
/// sent goes in segments over one link that all share, so that everybody's answer depends on who
/// else has sent when.
///
/// Times and sizes are integers made from the seed, the same in every language.
struct scenario {
  int connections = 100;
  int requests = 20;  ///< of each client
  std::uint64_t seed = 1;

  static constexpr std::int64_t request_bytes = 3000;
  static constexpr std::int64_t segment_bytes = 1460;
  static constexpr nanoseconds ns_per_byte = 8;  ///< 1 Gbit/s
  static constexpr nanoseconds latency = 1'000'000;
  static constexpr nanoseconds mean_thought = 20'000'000;
  static constexpr nanoseconds mean_service = 5'000'000;

  [[nodiscard]] nanoseconds thought(int connection, int request) const {
    return around(mean_thought, connection, request, 1);
  }
  [[nodiscard]] nanoseconds service(int connection, int request) const {
    return around(mean_service, connection, request, 2);
  }
  [[nodiscard]] std::int64_t answer_bytes(int connection, int request) const {
    return around(4 * segment_bytes, connection, request, 3);
  }

 private:
  // Evenly from half the mean to one and a half.
  [[nodiscard]] std::int64_t around(std::int64_t mean, int connection, int request,
                                    std::uint64_t purpose) const;
};

/// SplitMix64's finaliser (Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline std::int64_t scenario::around(std::int64_t mean, int connection, int request,
                                     std::uint64_t purpose) const {
  const std::uint64_t which = (static_cast<std::uint64_t>(connection) << 32) +
                              (static_cast<std::uint64_t>(request) << 2) + purpose;
  const std::uint64_t random = mixed(mixed(seed) + which * 0x9E3779B97F4A7C15u);
  return mean / 2 + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(mean));
}

/// A digest of the events and their times: two simulations with the same history did the same at
/// the same times, as far as 64 bits can tell.
struct history {
  std::uint64_t events = 0;
  std::uint64_t digest = 0;
  nanoseconds end = 0;

  void note(nanoseconds now, what happened, int connection, int request) {
    ++events;
    end = now;
    // The digest is a sum, so the order of simultaneous events does not matter.
    digest +=
        mixed(mixed(static_cast<std::uint64_t>(now) * 4 + static_cast<std::uint64_t>(happened)) +
              (static_cast<std::uint64_t>(connection) << 32) + static_cast<std::uint64_t>(request));
  }
  bool operator==(const history&) const = default;
};

}  // namespace heddle::lab::simulating
