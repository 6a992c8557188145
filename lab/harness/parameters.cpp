#include "harness/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heddle::lab {
namespace {

std::string plain(double value) {
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string join(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : "|") + word;
  return joined;
}

// The whole text, or nothing.
template <class Number>
bool number(std::string_view text, Number& out) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

parameter parameter::integer(std::string name, std::int64_t fallback, std::int64_t least,
                             std::int64_t most, std::string help) {
  return {std::move(name),           fallback, static_cast<double>(least),
          static_cast<double>(most), {},       std::move(help)};
}

parameter parameter::real(std::string name, double fallback, double least, double most,
                          std::string help) {
  return {std::move(name), fallback, least, most, {}, std::move(help)};
}

parameter parameter::word(std::string name, std::vector<std::string> words, std::string help) {
  std::string first = words.front();
  return {std::move(name), std::move(first), 0, 0, std::move(words), std::move(help)};
}

std::string parameter::range() const {
  if (!words.empty()) return join(words);
  const bool whole = std::holds_alternative<std::int64_t>(fallback);
  return whole ? std::to_string(static_cast<std::int64_t>(least)) + " … " +
                     std::to_string(static_cast<std::int64_t>(most))
               : plain(least) + " … " + plain(most);
}

parameter::value parameter::parse(std::string_view text) const {
  const auto bad = [&]() -> usage_error {
    return usage_error("--" + name + "=" + std::string(text) + ": expected " + range());
  };
  if (!words.empty()) {
    if (std::find(words.begin(), words.end(), text) == words.end()) throw bad();
    return std::string(text);
  }
  double as_real = 0;
  std::int64_t as_integer = 0;
  const bool whole = std::holds_alternative<std::int64_t>(fallback);
  if (whole ? !number(text, as_integer) : !number(text, as_real)) throw bad();
  if (whole) as_real = static_cast<double>(as_integer);
  if (!(as_real >= least && as_real <= most)) throw bad();
  if (whole) return as_integer;
  return as_real;
}

parameters::parameters(std::vector<parameter> declared) : declared_(std::move(declared)) {
  for (const parameter& each : declared_) values_.emplace(each.name, each.fallback);
}

const parameter& parameters::declaration(std::string_view name) const {
  for (const parameter& each : declared_) {
    if (each.name == name) return each;
  }
  std::string valid;
  for (const parameter& each : declared_) valid += " --" + each.name;
  throw usage_error("unknown parameter --" + std::string(name) + "; there are: --model" + valid);
}

void parameters::set(std::string_view name, std::string_view text) {
  const parameter& declared = declaration(name);
  values_.insert_or_assign(declared.name, declared.parse(text));
}

parameters parameters::with(std::string_view name, std::int64_t value) const {
  const parameter& declared = declaration(name);
  parameters copy = *this;
  copy.values_.insert_or_assign(declared.name,
                                std::clamp(value, static_cast<std::int64_t>(declared.least),
                                           static_cast<std::int64_t>(declared.most)));
  return copy;
}

std::int64_t parameters::integer(std::string_view name) const {
  return std::get<std::int64_t>(values_.find(name)->second);
}
double parameters::real(std::string_view name) const {
  return std::get<double>(values_.find(name)->second);
}
const std::string& parameters::word(std::string_view name) const {
  return std::get<std::string>(values_.find(name)->second);
}

json_object parameters::json() const {
  json_object object;
  for (const auto& [name, value] : values_) {
    std::visit([&](const auto& held) { object.add(name, held); }, value);
  }
  return object;
}

}  // namespace heddle::lab
