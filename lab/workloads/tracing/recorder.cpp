#include "workloads/tracing/recorder.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace heddle::lab::tracing {
namespace {

// The sum of one column of numbers; the head and what has no number there are passed over.
std::uint64_t sum_of_column(const std::string& table, char separator, std::size_t column) {
  std::istringstream lines(table);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (std::size_t i = 0; i <= column; ++i) {
      // Columns that are aligned have spaces before them, too.
      if (!(separator == ' ' ? bool(cells >> cell) : bool(std::getline(cells, cell, separator)))) {
        cell.clear();
      }
    }
    if (!cell.empty() && cell.find_first_not_of("0123456789") == std::string::npos) {
      sum += std::stoull(cell);
    }
  }
  return sum;
}

}  // namespace

command preloaded(std::string_view name, const std::filesystem::path& trace) {
  std::filesystem::create_directory(trace);
  const auto library = lab_directory() / "traced" / ("libhooks-" + std::string(name) + ".so");
  return {"env", "LAB_TRACE=" + trace.string(), "LD_PRELOAD=" + library.string()};
}

std::uint64_t naive_calls(const std::filesystem::path& trace) {
  std::ifstream file(trace / "naive.log");
  std::uint64_t enters = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(" - Enter: ") != std::string::npos) ++enters;
  }
  return enters;
}

command heddle_record(const std::filesystem::path& trace, const command& options) {
  command words{heddle_command(), "record", "-o", trace.string()};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  return words;
}

std::uint64_t heddle_calls(const std::filesystem::path& trace) {
  return sum_of_column(run({heddle_command(), "report", "--format", "csv", trace.string()}), ',',
                       0);
}

std::uint64_t heddle_calls_of(const std::filesystem::path& trace, std::string_view function) {
  const std::string only = "^" + std::string(function) + "$";
  return sum_of_column(
      run({heddle_command(), "report", "--format", "csv", "-F", only, "-D", "1", trace.string()}),
      ',', 0);
}

// Running, in children and suspended with their units, runs, calls, strand.
std::uint64_t heddle_strand_calls(const std::filesystem::path& trace) {
  return sum_of_column(run({heddle_command(), "tree", trace.string()}), ' ', 7);
}

command heddle_preload(const std::filesystem::path& trace) {
  std::filesystem::create_directory(trace);
  const auto library = lab_directory().parent_path() / "lib" / "libheddle.so";
  return {"env", "-C", trace.string(), "LD_PRELOAD=" + library.string()};
}

std::uint64_t heddle_preload_calls(const std::filesystem::path& trace) {
  for (const auto& each : std::filesystem::directory_iterator(trace)) {
    if (each.path().filename().string().starts_with("heddle.trace.")) {
      return heddle_calls(each.path());
    }
  }
  throw std::runtime_error("no heddle.trace.* in " + trace.string());
}

command uftrace_record(const std::filesystem::path& trace) {
  return {"uftrace", "record", "--no-libcall", "--no-event", "-d", trace.string()};
}

// Total time with its unit, self time with its unit, calls, function.
std::uint64_t uftrace_calls(const std::filesystem::path& trace) {
  return sum_of_column(run({"uftrace", "report", "--no-pager", "-d", trace.string()}), ' ', 4);
}

std::uint64_t number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (!(in >> number)) throw std::runtime_error("no number in " + file.string());
  return number;
}

}  // namespace heddle::lab::tracing
