#include "workloads/recorded/profile.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace heddle::lab::recorded {
namespace {

// The cells of a line; those in quotes may hold commas, and twice the quote for itself.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::size_t column(const std::vector<std::string>& head, std::string_view name) {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) {
    throw std::runtime_error("no column `" + std::string(name) + "` in what heddle report prints");
  }
  return static_cast<std::size_t>(found - head.begin());
}

// A lambda in it has the same beginning, but not the end.
bool is_run(std::string_view function) {
  return function.starts_with("heddle::lab::") &&
         function.find("::(anonymous namespace)::run(") != std::string_view::npos &&
         function.ends_with("::problem&, heddle::lab::region&)");
}

}  // namespace

profile read_profile(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> head = cells_of(line);
  const std::size_t function = column(head, "function");
  const std::size_t calls = column(head, "calls");
  const std::size_t total = column(head, "total_ns");
  profile found;
  std::uint64_t runs = 0;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != head.size()) {
      throw std::runtime_error("heddle report printed `" + line + "`, not one cell a column");
    }
    found.calls += std::stoull(cells[calls]);
    if (!is_run(cells[function])) continue;
    runs += std::stoull(cells[calls]);
    found.run_ns += std::stoull(cells[total]);
  }
  if (runs != 1) {
    throw std::runtime_error(
        "expected one call of the model's run() in the trace, there are " + std::to_string(runs) +
        (runs == 0 ? ": is the program built to be recorded?" : ": was it run with --warmup=0?"));
  }
  return found;
}

}  // namespace heddle::lab::recorded
