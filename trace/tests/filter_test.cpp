// Recording less: what is left, as text; both ways in, at -O0 and -O2.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <set>
#include <tuple>

#include "planner.hpp"
#include "raw_trace.hpp"
#include "run.hpp"

namespace {

constexpr std::uint32_t kIncluded = 1, kExcluded = 2, kStarts = 4, kStops = 8;

std::string name_of(const RawProcess& process, const RawRecord& record) {
  const RawModule* const module = process.module_of(record.function, record.ticks);
  if (module == nullptr) return "?";
  const Symbols& symbols = symbols_of(module->path);
  auto found = symbols.upper_bound(record.function - module->bias);
  return found == symbols.begin() ? "?" : std::prev(found)->second.second;
}

/// `a(b())` for a call of a in which b was called. An exit that ends no open call is `!`, a call
/// without an exit has no bracket.
std::string calls(const RawProcess& process, const RawThread& thread) {
  std::string text;
  for (const RawRecord& record : thread.records) {
    text += record.exit
                ? ")"
                : (text.empty() || text.back() == '(' ? "" : " ") + name_of(process, record) + "(";
  }
  return text;
}

/// Longer than any call here takes, however busy the machine is.
constexpr std::uint64_t kHour = 3'600'000'000'000;

struct Filter {
  Patterns patterns{};
  int depth = 0;
  std::uint64_t min_ns = 0;
};

struct Recorded {
  Outcome outcome;
  std::vector<RawProcess> processes;
};

Recorded record(const std::string& program, const std::string& what, const Filter& filter) {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Planner planner(trace, filter.patterns);
  std::uint32_t kinds = 0;
  for (const auto& [name, bits] : filter.patterns) kinds |= bits;
  const Outcome outcome =
      run({.arguments = {program, what}, .trace = trace.string(), .in_child = [&] {
             setenv("HEDDLE_PATTERNS", std::to_string(kinds).c_str(), 1);
             setenv("HEDDLE_DEPTH", std::to_string(filter.depth).c_str(), 1);
             setenv("HEDDLE_MIN_TIME", std::to_string(filter.min_ns).c_str(), 1);
           }});
  return {outcome, read_trace(trace)};
}

/// A call and those that it made.
struct Tree {
  std::string name;
  std::vector<Tree> calls;
};

Tree parse(const std::string& text, std::size_t& at) {
  Tree tree;
  while (at < text.size() && text[at] != ')') {
    const std::size_t open = text.find('(', at);
    std::string name = text.substr(at, open - at);
    name.erase(0, name.find_first_not_of(' '));
    at = open + 1;
    tree.calls.push_back(parse(text, at));
    tree.calls.back().name = name;
    ++at;
  }
  return tree;
}

/// The calls that the filter leaves of a whole recording, by docs/record.md. `level` is that of the
/// calls, from 1, or 0 outside every --filter function.
std::string left_of(const Tree& tree, const Filter& filter, bool any_included, int level) {
  std::string text;
  for (const Tree& call : tree.calls) {
    const auto pattern = filter.patterns.find(call.name);
    const std::uint32_t bits = pattern != filter.patterns.end() ? pattern->second : 0;
    if ((bits & kExcluded) != 0) continue;
    const int own = level > 0 || !any_included || (bits & kIncluded) != 0 ? std::max(level, 1) : 0;
    const std::string inside = left_of(call, filter, any_included, own > 0 ? own + 1 : 0);
    const bool wanted = own > 0 && (filter.depth == 0 || own <= filter.depth);
    const std::string words = wanted ? call.name + "(" + inside + ")" : inside;
    if (!words.empty()) text += (text.empty() ? "" : " ") + words;
  }
  return text;
}

void for_each_build(const std::function<void(const std::string&)>& test) {
  for (const char* program :
       {"filtered-function-O0", "filtered-function-O2", "filtered-entry-O0", "filtered-entry-O2"}) {
    CAPTURE(std::string(program));
    test(program);
  }
}

std::string one_thread(const std::string& program, const std::string& what, const Filter& filter) {
  const Recorded recorded = record(program, what, filter);
  CHECK(recorded.outcome.err == "");
  REQUIRE(recorded.outcome.exit_code == 0);
  const RawProcess& process = recorded.processes.at(0);
  CHECK(process.all_dropped() == 0);
  return calls(process, process.threads.at(0));
}

/// A call that has its exit, and what it called.
struct Span {
  std::string name;
  double ns = 0;
  std::vector<Span> calls{};
};

/// The thread's calls, of which every one has its exit.
std::vector<Span> spans_of(const RawProcess& process, const RawThread& thread) {
  REQUIRE(well_nested(thread));
  std::vector<Span> open(1);
  std::vector<std::uint64_t> entered;
  for (const RawRecord& record : thread.records) {
    if (!record.exit) {
      open.push_back({.name = name_of(process, record)});
      entered.push_back(record.ticks);
      continue;
    }
    Span ended = std::move(open.back());
    ended.ns = static_cast<double>(record.ticks - entered.back()) / process.ticks_per_ns;
    open.pop_back();
    entered.pop_back();
    open.back().calls.push_back(std::move(ended));
  }
  return std::move(open[0].calls);
}

/// The text of calls without those that are short in the program, but were recorded because the
/// busy machine made them as long as `min_ns` by the trace's own times, or because they called such
/// a one. `long_ones` are the names of the others.
std::string without_delayed(const std::vector<Span>& spans, const std::set<std::string>& long_ones,
                            double min_ns) {
  std::string text;
  for (const Span& span : spans) {
    const std::string inside = without_delayed(span.calls, long_ones, min_ns);
    if (!long_ones.contains(span.name) && inside.empty() && span.ns >= min_ns) continue;
    text += (text.empty() ? "" : " ") + span.name + "(" + inside + ")";
  }
  return text;
}

}  // namespace

TEST_CASE("only what is wanted of plain calls is recorded") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "calls", filter); };
    const std::string all = "middle(pair(leaf() leaf()) leaf()) pair(leaf() leaf()) leaf()";
    CHECK(spans({}) == all);
    CHECK(spans({.patterns = {{"nobody", kExcluded}}}) == all);
    CHECK(spans({.patterns = {{"nobody", kIncluded}}}) == "");
    CHECK(spans({.patterns = {{"pair", kIncluded}}}) == "pair(leaf() leaf()) pair(leaf() leaf())");
    CHECK(spans({.patterns = {{"pair", kExcluded}}}) == "middle(leaf()) leaf()");
    CHECK(spans({.patterns = {{"leaf", kExcluded}}}) == "middle(pair()) pair()");
    CHECK(spans({.patterns = {{"middle", kIncluded}, {"pair", kExcluded}}}) == "middle(leaf())");
    CHECK(spans({.patterns = {{"middle", kExcluded}, {"pair", kIncluded}}}) ==
          "pair(leaf() leaf())");
    CHECK(spans({.patterns = {{"leaf", kIncluded | kExcluded}}}) == "");
    CHECK(spans({.depth = 1}) == "middle() pair() leaf()");
    CHECK(spans({.depth = 2}) == "middle(pair() leaf()) pair(leaf() leaf()) leaf()");
    CHECK(spans({.depth = 3}) == all);
    CHECK(spans({.patterns = {{"pair", kIncluded}}, .depth = 1}) == "pair() pair()");
    CHECK(spans({.patterns = {{"pair", kExcluded}}, .depth = 1}) == "middle() leaf()");
  });
}

TEST_CASE("recursion neither ends nor begins what is wanted too early") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "recurse", filter); };
    CHECK(spans({.patterns = {{"recurse", kIncluded}}}) ==
          "recurse(leaf() recurse(leaf() recurse(leaf() recurse())))");
    CHECK(spans({.patterns = {{"recurse", kExcluded}}}) == "leaf()");
    CHECK(spans({.depth = 2}) == "recurse(leaf() recurse()) leaf()");
    CHECK(spans({.patterns = {{"recurse", kStarts | kStops}}}) ==
          "recurse(leaf() recurse(leaf() recurse(leaf() recurse())))");
  });
}

TEST_CASE("functions whose stack pointer changes are told apart") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "grow", filter); };
    CHECK(spans({.patterns = {{"grow", kIncluded}}}) ==
          "grow(leaf() grow(leaf() grow(leaf() grow(leaf()))))");
    CHECK(spans({.patterns = {{"grow", kExcluded}}}) == "pair(leaf() leaf())");
    CHECK(spans({.depth = 2}) == "grow(leaf() grow()) pair(leaf() leaf())");
  });
}

TEST_CASE("tail calls end what they leave") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "tail", filter); };
    const bool jumps = program == "filtered-entry-O2";
    CHECK(spans({.patterns = {{"tail", kIncluded}}}) == (jumps ? "tail()" : "tail(leaf())"));
    CHECK(spans({.patterns = {{"tail", kExcluded}}}) ==
          (jumps ? "leaf() " : "") + std::string("middle(pair(leaf() leaf()) leaf())"));
  });
}

TEST_CASE("a function that longjmp left is left") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "jumps", filter); };
    const std::string rest = "large(leaf()) leaf()";
    CHECK(spans({.patterns = {{"nested_leave", kExcluded}}}) ==
          "jumps(" + rest + " " + rest + ") pair(leaf() leaf())");
    CHECK(spans({.patterns = {{"nested_leave", kIncluded}}}) ==
          "nested_leave(leave(leaf() nested_leave(leave(leaf()");
    CHECK(spans({.patterns = {{"leave", kExcluded}}}) ==
          "jumps(nested_leave(" + rest + " nested_leave(" + rest + ") pair(leaf() leaf())");
    CHECK(spans({.depth = 2}) ==
          "jumps(nested_leave(large() leaf() nested_leave(large() leaf()) "
          "pair(leaf() leaf())");
    CHECK(spans({.patterns = {{"nested_leave", kStops}}}) == "jumps(nested_leave(leave(leaf()");
  });
}

TEST_CASE("a function that an exception left is left") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "catches", filter); };
    // The second way in has no exit there.
    const bool entry = program.find("entry") != std::string::npos;
    const std::string rest = "leaf() pair(leaf() leaf())";
    CHECK(spans({.patterns = {{"through", kExcluded}}}) ==
          "catches(" + rest + " " + rest + ") leaf()");
    const std::string thrown = entry ? "through(throws(leaf()" : "through(throws(leaf()))";
    CHECK(spans({.patterns = {{"through", kIncluded}}}) == thrown + " " + thrown);
    CHECK(spans({.patterns = {{"pair", kExcluded}}}) ==
          "catches(" + thrown + " leaf() " + thrown + " leaf()) leaf()");
  });
}

TEST_CASE("a function that an exception left is left where the next call lies below it") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) { return one_thread(program, "spills", filter); };
    const bool entry = program.find("entry") != std::string::npos;
    const std::string thrown = entry ? "through(throws(leaf()" : "through(throws(leaf()))";
    const std::string cut = entry ? "through(throws(" : "through(throws())";
    const std::string rest = "seven() eight(leaf())";
    // What comes behind a call without an exit is in its brackets here.
    const std::string gap = entry ? "" : " ";
    CHECK(spans({}) == "spills(" + thrown + " " + rest + " " + thrown + " " + rest + ") leaf()");
    CHECK(spans({.patterns = {{"through", kExcluded}}}) ==
          "spills(" + rest + " " + rest + ") leaf()");
    CHECK(spans({.patterns = {{"through", kIncluded}}}) == thrown + " " + thrown);
    CHECK(spans({.patterns = {{"throws", kIncluded}}}) ==
          (entry ? "throws(leaf() throws(leaf()" : "throws(leaf()) throws(leaf())"));
    CHECK(spans({.depth = 3}) ==
          "spills(" + cut + gap + rest + " " + cut + gap + rest + ") leaf()");
    CHECK(spans({.patterns = {{"through", kStops}}}) == "spills(" + thrown);
  });
}

TEST_CASE("recording starts and stops at functions, and again") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const std::string& what, const Filter& filter) {
      return one_thread(program, what, filter);
    };
    CHECK(spans("calls", {.patterns = {{"pair", kStarts}}}) ==
          "pair(leaf() leaf()) leaf() pair(leaf() leaf()) leaf()");
    CHECK(spans("calls", {.patterns = {{"pair", kStops}}}) == "middle(pair(leaf() leaf())");
    CHECK(spans("calls", {.patterns = {{"pair", kStarts | kStops}}}) ==
          "pair(leaf() leaf()) pair(leaf() leaf())");
    CHECK(spans("mixed", {.patterns = {{"waits", kStarts}, {"slow", kStops}}}) ==
          "waits(leaf() slow()");
    CHECK(spans("calls", {.patterns = {{"nobody", kStarts}}}) == "");
  });
}

TEST_CASE("a handler on a stack of its own is inside the calls that it interrupts") {
  for_each_build([](const std::string& program) {
    // The second has its stack in an array of the thread's.
    for (const char* where : {"alternate", "alternate-within"}) {
      CAPTURE(std::string(where));
      const auto spans = [&](const Filter& filter) { return one_thread(program, where, filter); };
      const std::string all = "interrupted(leaf() on_own_stack(handled() handled()) leaf())";
      CHECK(spans({}) == all + " leaf()");
      CHECK(spans({.patterns = {{"nobody", kExcluded}}}) == all + " leaf()");
      CHECK(spans({.patterns = {{"interrupted", kIncluded}}}) == all);
      CHECK(spans({.patterns = {{"interrupted", kExcluded}}}) == "leaf()");
      CHECK(spans({.patterns = {{"on_own_stack", kExcluded}}}) ==
            "interrupted(leaf() leaf()) leaf()");
      CHECK(spans({.patterns = {{"on_own_stack", kIncluded}}}) ==
            "on_own_stack(handled() handled())");
      CHECK(spans({.patterns = {{"handled", kExcluded}}}) ==
            "interrupted(leaf() on_own_stack() leaf()) leaf()");
      CHECK(spans({.patterns = {{"interrupted", kStarts | kStops}}}) == all);
      CHECK(spans({.patterns = {{"on_own_stack", kStarts | kStops}}}) ==
            "on_own_stack(handled() handled())");
      CHECK(spans({.depth = 1}) == "interrupted() leaf()");
      CHECK(spans({.patterns = {{"nobody", kExcluded}}, .min_ns = kHour}) == "");
      CHECK(spans({.depth = 2}) == "interrupted(leaf() on_own_stack() leaf()) leaf()");
      CHECK(spans({.depth = 3}) == all + " leaf()");
      CHECK(spans({.patterns = {{"handled", kIncluded}}, .depth = 1}) == "handled() handled()");
    }
  });
}

TEST_CASE("a handler's handler is inside it, on a stack that it has set until it returns") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) {
      return one_thread(program, "alternate-disarmed", filter);
    };
    const auto twice = [](const std::string& text) { return text + " " + text; };
    const std::string inner = "on_own_stack(handled() on_another_stack() handled())";
    CHECK(spans({}) == twice("interrupted(leaf() " + inner + " leaf())") + " leaf()");
    CHECK(spans({.patterns = {{"interrupted", kExcluded}}}) == "leaf()");
    CHECK(spans({.patterns = {{"on_own_stack", kIncluded}}}) == twice(inner));
    CHECK(spans({.patterns = {{"handled", kExcluded}}}) ==
          twice("interrupted(leaf() on_own_stack(on_another_stack()) leaf())") + " leaf()");
    CHECK(spans({.depth = 2}) == twice("interrupted(leaf() on_own_stack() leaf())") + " leaf()");
  });
}

TEST_CASE("a handler on a stack of its own that was left is left") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) {
      return one_thread(program, "alternate-left", filter);
    };
    const std::string rest = "pair(leaf() leaf())";
    CHECK(spans({}) == "interrupted(leaf() on_own_stack(handled() " + rest);
    CHECK(spans({.patterns = {{"interrupted", kExcluded}}}) == rest);
    CHECK(spans({.patterns = {{"interrupted", kIncluded}}}) ==
          "interrupted(leaf() on_own_stack(handled()");
    CHECK(spans({.patterns = {{"on_own_stack", kExcluded}}}) == "interrupted(leaf() " + rest);
    CHECK(spans({.depth = 2}) == "interrupted(leaf() on_own_stack(" + rest);
  });
}

TEST_CASE("a fiber that is left inside a call takes no call of the thread's own stack with it") {
  for_each_build([](const std::string& program) {
    for (const char* where : {"fiber-below", "fiber-above"}) {
      CAPTURE(std::string(where));
      const auto spans = [&](const Filter& filter) { return one_thread(program, where, filter); };
      CHECK(spans({.patterns = {{"nobody", kExcluded}}}) ==
            "switches(leaf() on_fiber(leaf() leaf() pair(leaf() leaf())) leaf())");
      const std::string of_fiber = "on_fiber(leaf() pair(leaf() leaf()))";
      const std::string of_thread = "switches(leaf() leaf() leaf())";
      CHECK(spans({.patterns = {{"on_fiber", kIncluded}}}) == of_fiber);
      CHECK(spans({.patterns = {{"on_fiber", kExcluded}}}) == of_thread);
      CHECK(spans({.patterns = {{"switches", kIncluded}}}) == of_thread);
      CHECK(spans({.patterns = {{"switches", kExcluded}}}) == of_fiber);
      CHECK(spans({.patterns = {{"leaf", kExcluded}}}) == "switches(on_fiber(pair()))");
      CHECK(spans({.depth = 1}) == "switches(on_fiber())");
      CHECK(spans({.depth = 2}) == "switches(leaf() on_fiber(leaf() leaf() pair()) leaf())");
      CHECK(spans({.min_ns = kHour}) == "");
    }
  });
}

TEST_CASE("the hooks read no stack of a fiber that is gone inside a call") {
  for_each_build([](const std::string& program) {
    for (const Filter& filter : std::vector<Filter>{{.depth = 1},
                                                    {.depth = 1000},
                                                    {.patterns = {{"stays", kIncluded}}},
                                                    {.patterns = {{"stays", kExcluded}}}}) {
      CAPTURE(filter.depth);
      const Recorded recorded = record(program, "fiber-gone", filter);
      REQUIRE(recorded.outcome.exit_code == 0);
      const RawThread& thread = recorded.processes.at(0).threads.at(0);
      // `stays` is called three times, and its third call has no exit.
      const std::size_t staying =
          filter.patterns.empty() || filter.patterns.at("stays") != kExcluded;
      CHECK(thread.records.size() >= 5 * staying);
    }
  });
}

TEST_CASE("an exception leaves no call that lies below its fiber's stack, an array") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const Filter& filter) {
      return one_thread(program, "fiber-in-array", filter);
    };
    const std::string all = "resumes(leaf() leaf())";
    CHECK(spans({}) == all);
    CHECK(spans({.patterns = {{"resumes", kIncluded}}}) == all);
    CHECK(spans({.patterns = {{"resumes", kExcluded}}}) == "");
    CHECK(spans({.patterns = {{"leaf", kIncluded}}}) == "leaf() leaf()");
    CHECK(spans({.depth = 1}) == "resumes()");
  });
}

TEST_CASE("a short call leaves no record, a long one and its callers do") {
  for_each_build([](const std::string& program) {
    const auto spans = [&](const std::string& what, Filter filter) {
      filter.min_ns = 40'000'000;  // slow() takes 60 ms
      const Recorded recorded = record(program, what, filter);
      REQUIRE(recorded.outcome.exit_code == 0);
      const RawProcess& process = recorded.processes.at(0);
      CHECK(process.all_dropped() == 0);
      // The recorder and the two stamps may see the rate of the clock a little differently.
      return without_delayed(spans_of(process, process.threads.at(0)),
                             {"mixed", "chain", "waits", "slow"}, 0.99 * 40'000'000);
    };
    CHECK(spans("mixed", {}) == "mixed(waits(slow()))");
    CHECK(spans("mixed", {.patterns = {{"slow", kExcluded}}}) == "mixed(waits())");
    CHECK(spans("mixed", {.depth = 1}) == "mixed()");
    CHECK(one_thread(program, "mixed", {.min_ns = kHour}) == "");

    std::string chain = "waits(slow())";
    for (int i = 0; i <= 100; ++i) chain = "chain(" + chain + ")";
    CHECK(spans("hops", {}) == chain);
  });
}

TEST_CASE("a short call leaves no record where stacks are far from each other") {
  for_each_build([](const std::string& program) {
    std::string chain = "waits(leaf() slow() leaf())";
    for (int i = 0; i <= 100; ++i) chain = "chain(" + chain + ")";
    const std::string twice = "twice(twice() twice())";
    CHECK(one_thread(program, "hops", {}) == "twice(" + twice + " " + twice + ") " + chain);
    CHECK(one_thread(program, "hops", {.min_ns = kHour}) == "");
  });
}

TEST_CASE("a handler at any instruction of a hook leaves no record of short calls") {
  // The hooks are the same at every level of optimisation.
  for (const char* program : {"filtered-function-O2", "filtered-entry-O2"}) {
    CAPTURE(std::string(program));
    const Recorded recorded = record(program, "steps", {.min_ns = kHour});
    REQUIRE(recorded.outcome.exit_code == 0);
    const RawProcess& process = recorded.processes.at(0);
    CHECK(calls(process, process.threads.at(0)) == "");
    // A hook that asks the filter has more than a hundred instructions.
    CHECK(std::stoi(recorded.outcome.out) > 6 * 100);
  }
}

TEST_CASE("a handler at any instruction of a hook leaves the filter's calls as they are") {
  const Filter excludes{.patterns = {{"stepped", kExcluded}}};
  const std::vector<Filter> all{{.patterns = {{"nobody", kExcluded}}},
                                excludes,
                                {.patterns = {{"stepped", kIncluded}}},
                                {.depth = 1},
                                {.depth = 2}};
  struct Steps {
    const char* where;
    std::vector<Filter> filters;
  };
  // A third of the instructions for each filter, since each of them executes all before it.
  unsigned third = 0;
  for (const char* program : {"filtered-function-O2", "filtered-entry-O2"}) {
    // The hooks are the thread's, or those of a handler on a stack of its own.
    for (const auto& [where, filters] :
         {Steps{"steps", all}, Steps{"steps-handled", {excludes, {.depth = 1}}}}) {
      for (const Filter& filter : filters) {
        CAPTURE(std::string(program));
        CAPTURE(std::string(where));
        CAPTURE(filter.depth);
        CAPTURE((filter.patterns.empty() ? "" : filter.patterns.begin()->first));
        const std::string what = where + std::string(":") + std::to_string(third++ % 3);
        const Recorded recorded = record(program, what, filter);
        REQUIRE(recorded.outcome.exit_code == 0);
        const RawProcess& process = recorded.processes.at(0);
        CHECK(process.all_dropped() == 0);
        const RawThread& thread = process.threads.at(0);
        CHECK(well_nested(thread));
        long stepped = 0;
        for (const RawRecord& record : thread.records) {
          stepped += !record.exit && name_of(process, record) == "stepped";
        }
        const bool excluded = filter.patterns == excludes.patterns;
        CHECK(stepped == (excluded ? 0 : std::stol(recorded.outcome.out)));
      }
    }
  }
}

TEST_CASE("a handler may fork at any instruction of a hook that filters") {
  unsigned third = 0;
  for (const char* program : {"filtered-function-O2", "filtered-entry-O2"}) {
    for (const Filter& filter : std::vector<Filter>{{.patterns = {{"nobody", kExcluded}}},
                                                    {.patterns = {{"stepped", kExcluded}}},
                                                    {.depth = 1}}) {
      CAPTURE(std::string(program));
      CAPTURE(filter.depth);
      const std::string what = "steps-forked:" + std::to_string(third++ % 3);
      const Recorded recorded = record(program, what, filter);
      CHECK(recorded.outcome.err == "");
      CHECK(recorded.outcome.exit_code == 0);
    }
  }
}

TEST_CASE("a call that is left out takes few instructions") {
  struct Cost {
    const char* program;
    long most;
  };
  struct Place {
    const char* where;
    long more;
  };
  for (const auto& [program, most] :
       {Cost{"filtered-function-O2", 130}, Cost{"filtered-entry-O2", 165}}) {
    // Also in a handler on a stack of its own, or where that is an array of the thread's.
    for (const auto& [where, more] : {Place{"costs", 0}, Place{"costs-handled", 30},
                                      Place{"costs-array", 30}, Place{"costs-array-handled", 30}}) {
      for (const Filter& filter :
           std::vector<Filter>{{.patterns = {{"nobody", kIncluded}}},
                               {.patterns = {{"costs", kExcluded}}},
                               {.patterns = {{"costly", kExcluded}}},
                               {.patterns = {{"nobody", kIncluded}, {"costly", kExcluded}}},
                               {.depth = 1}}) {
        CAPTURE(std::string(program));
        CAPTURE(std::string(where));
        CAPTURE(filter.depth);
        CAPTURE((filter.patterns.empty() ? "" : filter.patterns.begin()->first));
        const Recorded recorded = record(program, where, filter);
        REQUIRE(recorded.outcome.exit_code == 0);
        const long instructions = std::stol(recorded.outcome.out);
        CHECK(instructions > 0);
        CHECK(instructions <= most + more);
      }
    }
  }
}

TEST_CASE("where a plan does not tell of functions, the trace says so, and the program goes on") {
  for (const auto& [answers, why, said] :
       std::vector<std::tuple<Answers, std::uint32_t, std::string>>{
           {Answers::kPlans, 0, ""},
           {Answers::kUnread, ENOMEM, ""},
           {Answers::kRefusal, ENOMEM, "match no pattern: out of memory"},
           {Answers::kCut, ENODATA, "match no pattern: its list of modules was cut"}}) {
    for (const bool values : {false, true}) {
      CAPTURE(why);
      CAPTURE(values);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Planner planner(trace, {}, answers);
      const auto began = std::chrono::steady_clock::now();
      const Outcome outcome =
          run({.arguments = {"recursion"}, .trace = trace.string(), .in_child = [values] {
                 setenv("HEDDLE_PATTERNS", "2", 1);
                 if (values) setenv("HEDDLE_VALUES", "1", 1);
               }});
      // An answer that never comes is waited for half a minute.
      CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(15));
      CHECK(outcome.exit_code == 0);
      CAPTURE(outcome.err);
      CHECK(outcome.err.find(said) != std::string::npos);
      CHECK((outcome.err == "") == (said == ""));
      const RawProcess process = read_trace(trace).at(0);
      CHECK(process.enters() == 23);
      CHECK(process.unplanned == why);
      CHECK(process.wanted_of_plan == (why == 0 ? 0 : values ? 3 : 1));
    }
  }
}

TEST_CASE("what is known of a function's address ends with its module") {
  constexpr std::uint64_t kRounds = 20;
  for (const auto& [excluded, left] :
       std::vector<std::pair<const char*, std::uint64_t>>{{"twin_3", 5}, {"twin_5", 3}}) {
    CAPTURE(std::string(excluded));
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Planner planner(trace, {{excluded, kExcluded}});
    const Outcome outcome = run({.arguments = {"twins", std::to_string(kRounds), "own"},
                                 .trace = trace.string(),
                                 .in_child = [] { setenv("HEDDLE_PATTERNS", "2", 1); }});
    REQUIRE(outcome.exit_code == 0);
    MESSAGE("the two had the same address in so many of 20 rounds: ",
            outcome.out.substr(outcome.out.rfind(' ') + 1));
    CHECK(read_trace(trace).at(0).enters() == left * kRounds);
  }
}

TEST_CASE("signal handlers that interrupt the filter at a high rate unbalance nothing") {
  for_each_build([](const std::string& program) {
    const auto counts = [&](const Filter& filter) {
      const Recorded recorded = record(program, "signals", filter);
      REQUIRE(recorded.outcome.exit_code == 0);
      const RawProcess& process = recorded.processes.at(0);
      std::map<std::string, std::uint64_t> counted;
      std::uint64_t exits = 0;
      for (const RawRecord& record : process.threads.at(0).records) {
        if (record.exit) {
          ++exits;
        } else {
          ++counted[name_of(process, record)];
        }
      }
      std::uint64_t enters = 0;
      for (const auto& [name, count] : counted) enters += count;
      CHECK(exits == enters);
      return counted;
    };
    auto counted = counts({.patterns = {{"leaf", kExcluded}}});
    CHECK(counted["leaf"] == 0);
    CHECK(counted["middle"] == 1);
    CHECK(counted["pair"] == 1);
    CHECK(counted["handled"] == counted["on_signal"]);
    counted = counts({.patterns = {{"busy", kExcluded}}});
    CHECK(counted["leaf"] == 3);
    CHECK(counted["pair"] == 1);
    counted = counts({.patterns = {{"on_signal", kExcluded}}});
    CHECK(counted["on_signal"] == 0);
    CHECK(counted["handled"] == 0);
    CHECK(counted["leaf"] == 20 * counted["busy"] + 3);
    counted = counts({.patterns = {{"on_signal", kIncluded}}});
    CHECK(counted["on_signal"] >= 1000);
    CHECK(counted["handled"] == counted["on_signal"]);
    CHECK(counted.size() == 2);
    counted = counts({.depth = 1});
    CHECK(counted["middle"] == 1);
    CHECK(counted["leaf"] == 0);
    CHECK(counted["handled"] == 0);
    // Levels are counted right whatever was interrupted: `leaf` is never deeper than the third.
    for (const int depth : {3, 1000}) {
      counted = counts({.depth = depth});
      CHECK(counted["leaf"] == 20 * counted["busy"] + 3);
      CHECK(counted["pair"] == 1);
      if (depth == 3) CHECK(counted["handled"] <= counted["on_signal"]);
      if (depth != 3) CHECK(counted["handled"] == counted["on_signal"]);
    }
    CHECK(one_thread(program, "signals", {.min_ns = kHour}) == "");
  });
}

TEST_CASE("of calls in any shape that much is left which the whole recording tells") {
  const std::vector<Filter> filters = {
      {.patterns = {{"plain", kExcluded}}},
      {.patterns = {{"grows", kExcluded}, {"again", kExcluded}}},
      {.patterns = {{"gives", kIncluded}}},
      {.patterns = {{"small", kIncluded}, {"jumps", kIncluded}}},
      {.patterns = {{"again", kIncluded}, {"grows", kIncluded}, {"plain", kExcluded}}},
      {.patterns = {{"main", kIncluded}}},
      {.patterns = {{"small", kExcluded}}, .depth = 5},
      {.patterns = {{"grows", kIncluded}}, .depth = 2},
      {.depth = 3},
      {.depth = 9},
  };
  for (const char* program :
       {"random-function-O0", "random-function-O2", "random-entry-O0", "random-entry-O2"}) {
    for (const char* seed : {"1", "2", "3"}) {
      CAPTURE(std::string(program));
      CAPTURE(std::string(seed));
      const std::string whole = one_thread(program, seed, {});
      REQUIRE(std::count(whole.begin(), whole.end(), '(') > 100);
      std::size_t at = 0;
      const Tree tree = parse(whole, at);
      for (const Filter& filter : filters) {
        const bool any_included =
            std::any_of(filter.patterns.begin(), filter.patterns.end(),
                        [](const auto& pattern) { return (pattern.second & kIncluded) != 0; });
        CHECK(one_thread(program, seed, filter) == left_of(tree, filter, any_included, 0));
      }
      // Short calls end by hooks of every kind, tail-called ones among them.
      CHECK(one_thread(program, seed, {.min_ns = kHour}) == "");
      CHECK(one_thread(program, seed, {.depth = 5, .min_ns = kHour}) == "");
      CHECK(one_thread(program, seed, {.patterns = {{"gives", kIncluded}}, .min_ns = kHour}) == "");
    }
  }
}

TEST_CASE("threads, forked children and opened modules are filtered too") {
  for_each_build([](const std::string& program) {
    Recorded recorded = record(program, "threads", {.patterns = {{"pair", kExcluded}}});
    REQUIRE(recorded.processes.at(0).threads.size() == 4);
    for (const RawThread& thread : recorded.processes[0].threads)
      CHECK(thread.records.size() == 4000);

    recorded = record(program, "fork", {.patterns = {{"pair", kIncluded}}});
    REQUIRE(recorded.processes.size() == 2);
    for (const RawProcess& process : recorded.processes) {
      CHECK(calls(process, process.threads.at(0)) == "pair(leaf() leaf())");
    }
    CHECK(one_thread(program, "open",
                     {.patterns = {{"pair", kExcluded}, {"plugin_helper", kExcluded}}})
              .find("plugin_helper") == std::string::npos);
    CHECK(one_thread(program, "open", {.patterns = {{"plugin_work", kIncluded}}})
              .starts_with("plugin_work("));
  });
}

TEST_CASE("without heddle record nothing matches, and a line says so") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome =
      run({.arguments = {"filtered-function-O0", "calls"}, .trace = trace.string(), .in_child = [] {
             setenv("HEDDLE_PATTERNS", "2", 1);
           }});
  CHECK(outcome.exit_code == 0);
  // Had the program waited for an answer, it would say that heddle record does not answer.
  CHECK(outcome.err.find("heddle record, which knows the names, is gone") != std::string::npos);
  CHECK(outcome.err.find("does not answer") == std::string::npos);
  CHECK(read_trace(trace).at(0).events() == 18);
}
