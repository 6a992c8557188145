#include "workloads/survey/valgrind.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "workloads/survey/tool.hpp"
#include "workloads/survey/workload.hpp"

#if defined(HEDDLE_VALGRIND)
#include <valgrind/valgrind.h>
#endif

namespace heddle::lab::surveying {
namespace {

constexpr std::string_view deregistered = "heddle: stacks are deregistered; errors so far: ";

// The model's name, as it was given to this process.
std::string model_argument() {
  std::ifstream file("/proc/self/cmdline");
  for (std::string each; std::getline(file, each, '\0');) {
    if (each.starts_with("--model=")) return each;
  }
  throw std::runtime_error("this process was not given --model=…");
}

// The number that follows `before`, with commas as Valgrind prints thousands.
std::int64_t number_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) {
    throw std::runtime_error("Valgrind does not say \"" + std::string(before) +
                             "\"; it says: " + std::string(text));
  }
  std::int64_t number = 0;
  for (const char each : text.substr(at + before.size())) {
    if (each == ',') continue;
    if (each < '0' || each > '9') break;
    number = 10 * number + (each - '0');
  }
  return number;
}

}  // namespace

void obey_registration() {
#if defined(HEDDLE_VALGRIND)
  if (stacks_are_registered) return;
  // Valgrind numbers stacks from 0, the main one's included, which it knows anyway.
  for (unsigned id = 1; id < 100; ++id) VALGRIND_STACK_DEREGISTER(id);
#endif
}

void announce_deregistration() {
#if defined(HEDDLE_VALGRIND)
  VALGRIND_PRINTF("%s%lu\n", deregistered.data(),
                  static_cast<unsigned long>(VALGRIND_COUNT_ERRORS));
#endif
}

memcheck_says parse_memcheck(std::string_view log) {
  const std::size_t middle = log.find(deregistered);
  if (middle == std::string_view::npos) {
    throw std::runtime_error("Valgrind was told nothing: built without <valgrind/valgrind.h>? " +
                             std::string(log));
  }
  const auto warns = [](std::string_view part) {
    return part.find("client switching stacks?") != std::string_view::npos;
  };
  memcheck_says found;
  found.told = {number_after(log, deregistered), warns(log.substr(0, middle))};
  found.untold = {number_after(log, "ERROR SUMMARY: ") - found.told.errors,
                  // Valgrind warns three times and then no more.
                  found.told.switching_stacks || warns(log.substr(middle))};
  return found;
}

memcheck_says ask_memcheck() {
  // The warm-up, with stacks registered, is the first run; the second is without.
  const tool_output said = run_tool({"valgrind", "--read-inline-info=no", "--vex-iropt-level=1",
                                     std::filesystem::read_symlink("/proc/self/exe"),
                                     model_argument(), "--yields=20", "--registered=0"});
  if (said.status != 0) throw std::runtime_error("the program fails under Valgrind: " + said.text);
  return parse_memcheck(said.text);
}

}  // namespace heddle::lab::surveying
