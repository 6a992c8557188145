#include "workloads/call_log/log.hpp"

#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace heddle::lab::call_log {
namespace {

using word = std::array<char, 512>;

/// The parts of a line; addresses are 0 where the line has none.
struct parts {
  long long seconds = 0;
  long long microseconds = 0;
  word what{};
  word function{};
  word caller{};
  unsigned long long address = 0;
  unsigned long long call_site = 0;
};

// A line is in a form when what was read from it, printed in that form, is the line again: so each
// digit, blank and bracket is looked at.
bool is_plain(const std::string& line, parts& p) {
  if (std::sscanf(line.c_str(), "%lld.%lld - %511[^: ]: %511s called: %511s", &p.seconds,
                  &p.microseconds, p.what.data(), p.function.data(), p.caller.data()) != 5) {
    return false;
  }
  std::array<char, 2048> again{};
  std::snprintf(again.data(), again.size(), "%010lld.%06lld - %s: %s called: %s", p.seconds,
                p.microseconds, p.what.data(), p.function.data(), p.caller.data());
  return line == again.data();
}

bool is_addressed(const std::string& line, parts& p) {
  if (std::sscanf(line.c_str(),
                  "%lld.%lld - %511s function: %511s (0x%llx) called by: %511s (0x%llx)",
                  &p.seconds, &p.microseconds, p.what.data(), p.function.data(), &p.address,
                  p.caller.data(), &p.call_site) != 7) {
    return false;
  }
  std::array<char, 2048> again{};
  std::snprintf(again.data(), again.size(),
                "%010lld.%06lld - %s function: %s (0x%llx) called by: %s (0x%llx)", p.seconds,
                p.microseconds, p.what.data(), p.function.data(), p.address, p.caller.data(),
                p.call_site);
  return line == again.data();
}

std::vector<entry> parse_by(bool (*is_in_form)(const std::string&, parts&),
                            const std::string& text) {
  std::vector<entry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    parts found;
    if (!is_in_form(line, found) || found.seconds > 9'999'999'999 || found.microseconds > 999'999) {
      throw std::runtime_error("`" + line + "` is not a line of the source's log");
    }
    entry each{found.seconds * 1'000'000 + found.microseconds, found.what.data(),
               found.function.data(), found.caller.data()};
    if (each.what != "Enter" && each.what != "Exit") {
      throw std::runtime_error("`" + line + "` is neither an Enter nor an Exit");
    }
    entries.push_back(std::move(each));
  }
  return entries;
}

}  // namespace

std::vector<entry> parse(const std::string& text) { return parse_by(&is_plain, text); }

std::vector<entry> parse_with_addresses(const std::string& text) {
  return parse_by(&is_addressed, text);
}

}  // namespace heddle::lab::call_log
