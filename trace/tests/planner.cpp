#include "planner.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace {

std::uint32_t* field(char* control, std::size_t offset) {
  return reinterpret_cast<std::uint32_t*>(control + offset);
}

template <typename Integer>
void put(std::string& to, Integer value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Symbols read_symbols(const std::string& path) {
  Symbols found;
  FILE* const listing = popen(("nm -S --defined-only '" + path + "' 2>/dev/null").c_str(), "r");
  if (listing == nullptr) throw std::runtime_error("no nm");
  char line[4096];
  while (fgets(line, sizeof line, listing) != nullptr) {
    unsigned long long start = 0, size = 0;
    char kind = 0, name[2048];
    if (std::sscanf(line, "%llx %llx %c %2047s", &start, &size, &kind, name) != 4) continue;
    // A part that the optimiser cut off is of the same function.
    const std::string whole = std::string(name).substr(0, std::string(name).find('.'));
    if (std::strchr("tTwW", kind) != nullptr) found[start] = {size, whole};
  }
  pclose(listing);
  return found;
}

}  // namespace

const Symbols& symbols_of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Symbols> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(path);
  return found != known.end() ? found->second : known[path] = read_symbols(path);
}

Planner::Planner(const std::filesystem::path& trace, Patterns patterns, Answers answers)
    : trace_(trace), patterns_(std::move(patterns)), answers_(answers) {
  std::filesystem::create_directory(trace);
  std::ofstream(trace / "heddle") << "heddle trace 5\n";
  descriptor_ = open((trace / "control").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0 || ftruncate(descriptor_, 4096) != 0 || flock(descriptor_, LOCK_EX) != 0) {
    throw std::runtime_error("no control");
  }
  void* const mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  control_ = static_cast<char*>(mapped);
  *field(control_, 8) = 5;
  std::memcpy(control_, "HEDLCTRL", 8);
  if (answers == Answers::kRefusal) {
    *field(control_, 20) = ~0u;
    *field(control_, 76) = ENOMEM;
  }
  thread_ = std::thread([this] {
    while (!end_) {
      const std::uint32_t seen = __atomic_load_n(field(control_, 16), __ATOMIC_ACQUIRE);
      answer_all();
      const timespec tick{0, 20'000'000};
      syscall(SYS_futex, field(control_, 16), FUTEX_WAIT, seen, &tick, nullptr, 0);
    }
  });
}

Planner::~Planner() {
  end_ = true;
  thread_.join();
  munmap(control_, 4096);
  close(descriptor_);
  std::filesystem::remove(trace_ / "control");
}

std::uint32_t Planner::requests() const {
  return __atomic_load_n(field(control_, 16), __ATOMIC_ACQUIRE);
}

void Planner::answer_all() {
  for (const auto& entry : std::filesystem::directory_iterator(trace_)) {
    if (entry.is_directory()) answer(entry.path());
  }
}

void Planner::answer(const std::filesystem::path& process) {
  std::ostringstream text;
  text << std::ifstream(process / "modules").rdbuf();
  const std::string whole = text.str().substr(0, text.str().rfind('\n') + 1);
  auto& [bytes, plans] = done_[process];
  if (whole.size() <= bytes || answers_ == Answers::kRefusal) return;
  if (answers_ == Answers::kCut) return std::filesystem::resize_file(process / "modules", 0);
  std::istringstream lines(whole.substr(bytes));
  std::string modules, ranges;
  std::uint32_t count = 0;
  std::uint64_t first = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string sum, before, what, path, build_id;
    std::uint64_t ticks, start, end, text_start, text_end, bias;
    fields >> sum >> before >> what >> ticks >> std::hex >> start >> end >> text_start >>
        text_end >> bias >> build_id;
    if (what != "load") continue;
    fields.ignore(1);
    std::getline(fields, path);
    std::uint64_t matched = 0;
    if (answers_ == Answers::kUnread) {
      put(ranges, start);
      put(ranges, std::uint32_t{0});
      put(ranges, std::uint32_t{ENOMEM});
      ++matched;
    }
    for (const auto& [address, symbol] : symbols_of(path)) {
      const auto pattern = patterns_.find(symbol.second);
      if (pattern == patterns_.end()) continue;
      put(ranges, address + bias);
      put(ranges, static_cast<std::uint32_t>(symbol.first));
      put(ranges, pattern->second);
      ++matched;
    }
    put(modules, start);
    put(modules, end);
    put(modules, first);
    put(modules, matched);
    first += matched;
    ++count;
  }
  bytes = whole.size();
  std::string plan = "HEDLPLAN";
  put(plan, std::uint32_t{5});
  put(plan, count);
  put(plan, bytes);
  put(plan, std::uint64_t{0});
  std::ofstream(process / "plan.tmp", std::ios::binary) << plan << modules << ranges;
  std::filesystem::rename(process / "plan.tmp", process / ("plan-" + std::to_string(++plans)));
  ++answered_;
  __atomic_fetch_add(field(control_, 20), 1, __ATOMIC_ACQ_REL);
  syscall(SYS_futex, field(control_, 20), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
