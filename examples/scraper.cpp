// A scraper: follows the links of a site that is slow, fails at times, and has a page that never
// answers. Nine requests at once, three tries for each page, and a deadline for the whole.
//
//   build/examples/scraper
//
// Look at: within() limits a try, and strand_context the whole, without a parameter; a strand for
// each page costs nothing to have; in virtual time the hour that a page takes is over at once, and
// every run is the same.
#include <chrono>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand_context.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "heddle/coop/yield.hpp"

namespace {

using namespace heddle::coop;
using namespace std::chrono_literals;

constexpr int pages = 100;

// The site: page n links to 2n + 1 and 2n + 2, and back to page 0.
class site {
 public:
  task<std::vector<int>> get(int page) {
    const int tries = ++tries_[page];
    most_at_once = std::max(most_at_once, ++at_once_);
    struct leave {
      int& count;
      ~leave() { --count; }
    } const at_end{at_once_};
    co_await sleep_for(page == 42 ? 1h : 20ms);
    if (page == 77 || (page % 5 == 0 && tries == 1)) throw std::runtime_error("503");
    std::vector<int> links{0};
    for (const int each : {2 * page + 1, 2 * page + 2}) {
      if (each < pages) links.push_back(each);
    }
    co_return links;
  }
  int most_at_once = 0;

 private:
  std::map<int, int> tries_;
  int at_once_ = 0;
};

struct scraper {
  scheduler& s;
  site& from;
  semaphore slots{9, "requests"};
  std::set<int> seen = {};
  std::set<int> scraped = {};
  std::map<int, std::string> failed = {};

  // Three tries, with a pause between them that doubles.
  task<std::vector<int>> links_of(int page) {
    std::string why;
    for (int tries = 0; tries < 3; ++tries) {
      if (tries != 0) co_await sleep_for(10ms * (1 << tries));
      const auto slot = co_await slots.scoped_acquire();
      try {
        const auto links = co_await within(100ms, from.get(page));
        if (links) co_return *links;
        why = "no answer";
      } catch (const std::exception& error) {
        why = error.what();
      }
    }
    throw std::runtime_error(why);
  }

  task<> visit(scope& all, int page) {
    if (!seen.insert(page).second) co_return;
    try {
      for (const int link : co_await links_of(page)) all.spawn(visit(all, link));
      scraped.insert(page);
    } catch (const std::exception& error) {
      failed.emplace(page, error.what());
    }
  }

  task<> run() {
    co_await in_scope(s, [this](scope& all) -> task<> { return visit(all, 0); });
  }
};

struct outcome {
  std::size_t scraped;
  std::map<int, std::string> failed;
  std::error_code error;
  int most_at_once;
  duration took;
};

outcome scrape(duration limit) {
  scheduler s({.clock = clock_policy::simulated});
  site from;
  scraper all{s, from};
  outcome result{};
  s.spawn([&]() -> task<> {
    const time_point begin = s.now();
    const strand_context whole = strand_context::current().with_timeout(limit);
    co_await in_context(whole, all.run());
    result.error = whole.error();
    result.took = s.now() - begin;
  });
  s.run();
  result.scraped = all.scraped.size();
  result.failed = all.failed;
  result.most_at_once = from.most_at_once;
  return result;
}

}  // namespace

int main() {
  const outcome whole = scrape(10s);
  const outcome part = scrape(200ms);
  for (const auto& [page, why] : whole.failed) std::cout << "page " << page << ": " << why << '\n';
  for (const outcome& each : {whole, part}) {
    std::cout << each.scraped << " pages in " << each.took / 1ms << " ms, at most "
              << each.most_at_once << " at once" << (each.error ? ": " + each.error.message() : "")
              << '\n';
  }
  const std::map<int, std::string> failed{{42, "no answer"}, {77, "503"}};
  const bool right = whole.failed == failed && !whole.error && whole.most_at_once == 9 &&
                     part.error == std::errc::timed_out && part.took == 200ms &&
                     part.scraped < whole.scraped;
  // Behind page 42 are 85 and 86, behind page 77 is nothing.
  return right && whole.scraped == pages - 4 ? 0 : 1;
}
