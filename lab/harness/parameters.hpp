#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/json.hpp"

namespace heddle::lab {

/// The command line is wrong; the message says what is valid. Exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A parameter of a workload: `--name=value`.
struct parameter {
  using value = std::variant<std::int64_t, double, std::string>;

  std::string name;
  value fallback;    ///< its type is the parameter's
  double least = 0;  ///< numbers: the range, both ends included
  double most = 0;
  std::vector<std::string> words;  ///< words: the choices
  std::string help;

  static parameter integer(std::string name, std::int64_t fallback, std::int64_t least,
                           std::int64_t most, std::string help);
  static parameter real(std::string name, double fallback, double least, double most,
                        std::string help);
  static parameter word(std::string name, std::vector<std::string> words, std::string help);

  /// Throws usage_error, naming what is allowed.
  [[nodiscard]] value parse(std::string_view text) const;
  /// `1 … 100`, `a|b`.
  [[nodiscard]] std::string range() const;
};

/// Values for all of a workload's parameters.
class parameters {
 public:
  /// The defaults.
  explicit parameters(std::vector<parameter> declared);

  /// Throws usage_error for an unknown name or a value out of range.
  void set(std::string_view name, std::string_view text);
  /// A copy with one integer replaced, cut to its range: for warm-ups and recounts.
  [[nodiscard]] parameters with(std::string_view name, std::int64_t value) const;

  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& word(std::string_view name) const;

  [[nodiscard]] json_object json() const;

 private:
  [[nodiscard]] const parameter& declaration(std::string_view name) const;

  std::vector<parameter> declared_;
  std::map<std::string, parameter::value, std::less<>> values_;
};

}  // namespace heddle::lab
