// A pipeline: a reader, parsers, a thread pool for what blocks, and a writer that restores the
// order, with a few items at a time between them.
//
//   build/examples/pipeline
//
// Look at: a stage that is slow slows those before it, as a channel holds four items; a nested
// scope says when all parsers have ended; what one stage throws ends the others, and comes out of
// the whole.
#include <charconv>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/offload.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/channel.hpp"

namespace {

using namespace heddle::coop;

struct item {
  std::size_t line;
  int number;
};

int parsed(const std::string& text, std::size_t line) {
  int number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || text.empty()) {
    throw std::runtime_error("line " + std::to_string(line) + " is no number: " + text);
  }
  return number;
}

// A call that blocks, as one of a database or a compressor does.
int looked_up(int number) {
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  return 2 * number;
}

// Runs in a fiber. Results in what was looked up, in the order of the lines.
std::vector<int> doubled(scheduler& s, const std::vector<std::string>& lines) {
  struct numbered {
    std::size_t line;
    const std::string& text;
  };
  channel<numbered> read(4, "lines");
  channel<item> found(4, "results");
  thread_pool pool(4);
  std::vector<int> results;
  in_scope(s, [&](scope& stages) {
    stages.spawn(
        [&] {
          std::size_t line = 0;
          for (const std::string& text : lines) await(read.push(numbered{++line, text}));
          read.close();
        },
        "reader");
    stages.spawn(
        [&] {
          in_scope(s, [&](scope& parsers) {
            for (int i = 0; i < 3; ++i) {
              parsers.spawn(
                  [&] {
                    while (const auto next = await(read.pop())) {
                      const int number = parsed(next->text, next->line);
                      const int result = await(offload(pool, [&] { return looked_up(number); }));
                      await(found.push(item{next->line, result}));
                    }
                  },
                  "parser");
            }
          });
          found.close();
        },
        "parsers");
    stages.spawn(
        [&] {
          std::map<std::size_t, int> early;
          while (const auto next = await(found.pop())) {
            early.emplace(next->line, next->number);
            for (auto each = early.begin();
                 each != early.end() && each->first == results.size() + 1;) {
              results.push_back(each->second);
              each = early.erase(each);
            }
          }
        },
        "writer");
  });
  return results;
}

}  // namespace

int main() {
  std::vector<std::string> lines;
  std::vector<int> expected;
  for (int i = 0; i < 500; ++i) {
    lines.push_back(std::to_string(i * i));
    expected.push_back(2 * i * i);
  }
  scheduler s;
  std::vector<int> results;
  s.spawn([&] { results = doubled(s, lines); }, "whole");
  s.run();
  std::cout << results.size() << " lines in order\n";

  lines[250] = "weft";
  const auto flawed = s.spawn([&] { return doubled(s, lines); }, "flawed");
  std::string error;
  try {
    s.run();  // nobody joins it: thrown here
  } catch (const std::runtime_error& thrown) {
    error = thrown.what();
  }
  std::cout << error << '\n';
  return results == expected && error == "line 251 is no number: weft" && s.alive() == 0 ? 0 : 1;
}
