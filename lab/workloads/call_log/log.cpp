#include "workloads/call_log/log.hpp"

#include <regex>
#include <sstream>
#include <stdexcept>

namespace heddle::lab::call_log {
namespace {

std::vector<entry> parse_by(const std::regex& form, const std::string& text) {
  std::vector<entry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch part;
    if (!std::regex_match(line, part, form)) {
      throw std::runtime_error("`" + line + "` is not a line of the source's log");
    }
    entries.push_back(
        {std::stoll(part[1]) * 1'000'000 + std::stoll(part[2]), part[3], part[4], part[5]});
  }
  return entries;
}

}  // namespace

std::vector<entry> parse(const std::string& text) {
  static const std::regex form(R"((\d{10})\.(\d{6}) - (Enter|Exit): (\S+) called: (\S+))");
  return parse_by(form, text);
}

std::vector<entry> parse_with_addresses(const std::string& text) {
  static const std::regex form(
      R"((\d{10})\.(\d{6}) - (Enter|Exit) function: (\S+) \(0x[0-9a-f]+\) )"
      R"(called by: (\S+) \(0x[0-9a-f]+\))");
  return parse_by(form, text);
}

}  // namespace heddle::lab::call_log
