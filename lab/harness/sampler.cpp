#include "harness/sampler.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/model.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab {
namespace {

// Room for 65536 samples of a processor; where that is more than this user may lock
// (perf_event_mlock_kb, 516 KiB for each processor, and RLIMIT_MEMLOCK), for 16384.
constexpr std::size_t ring_bytes = 1024 * 1024;
constexpr std::size_t small_ring_bytes = 256 * 1024;
constexpr std::size_t sample_bytes = sizeof(perf_event_header) + sizeof(std::uint64_t);

[[noreturn]] void refuse(int error) {
  throw cannot_run(
      "the kernel lets nobody sample here (perf_event_open: " + std::string(std::strerror(error)) +
      "): it takes root, or `sysctl kernel.perf_event_paranoid=1`, and in a container "
      "the capability CAP_PERFMON");
}

// The words of a ring: records are whole words, but may go on at its begin.
class words {
 public:
  words(const std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::uint64_t next() {
    std::uint64_t word;
    std::memcpy(&word, data_ + at_ % bytes_, sizeof word);
    at_ += sizeof word;
    return word;
  }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  void go_to(std::uint64_t at) { at_ = at; }

 private:
  const std::byte* data_;
  std::size_t bytes_;
  std::uint64_t at_ = 0;
};

void read_record(words& ring, samples& into) {
  const std::uint64_t begin = ring.at();
  const std::uint64_t word = ring.next();
  perf_event_header header;
  std::memcpy(&header, &word, sizeof header);
  if (header.type == PERF_RECORD_SAMPLE) {
    const std::uint64_t counter = ring.next();
    if ((header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER) {
      ++into.at[static_cast<std::uintptr_t>(counter)];
    } else {
      ++into.in_kernel;
    }
  } else if (header.type == PERF_RECORD_LOST) {
    ring.next();  // the event's number
    into.lost += ring.next();
  }
  ring.go_to(begin + header.size);
}

}  // namespace

std::uint64_t samples::count() const {
  std::uint64_t sum = in_kernel;
  for (const auto& [address, each] : at) sum += each;
  return sum;
}

sampler::sampler(duration period) : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  try {
    if (open_all(period, ring_bytes)) return;
    close_all();
    if (!open_all(period, small_ring_bytes)) refuse(EPERM);
  } catch (...) {
    close_all();
    throw;
  }
}

sampler::~sampler() { close_all(); }

// False where so much may not be locked.
bool sampler::open_all(duration period, std::size_t bytes) {
  // An event that threads inherit has a buffer for each processor.
  const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  for (int i = 0; i < processors; ++i) {
    if (!open(i, period, bytes)) return false;
  }
  return true;
}

bool sampler::open(int processor, duration period, std::size_t bytes) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_CPU_CLOCK;
  wanted.sample_period = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(period).count());
  wanted.sample_type = PERF_SAMPLE_IP;
  wanted.disabled = 1;
  wanted.inherit = 1;
  wanted.inherit_thread = 1;  // processes have other addresses
  const auto event = static_cast<int>(
      syscall(SYS_perf_event_open, &wanted, 0, processor, -1, PERF_FLAG_FD_CLOEXEC));
  if (event < 0 && errno == ENODEV) return true;  // a processor that is switched off
  if (event < 0) refuse(errno);
  void* const pages =
      mmap(nullptr, page_bytes_ + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (pages == MAP_FAILED) {
    const int error = errno;
    close(event);
    if (error == EPERM) return false;
    errno = error;
    throw_errno("mmap of perf_event_open's buffer");
  }
  rings_.push_back({event, pages, bytes});
  return true;
}

void sampler::close_all() noexcept {
  for (const ring& each : rings_) {
    munmap(each.pages, page_bytes_ + each.bytes);
    close(each.event);
  }
  rings_.clear();
}

void sampler::start() {
  for (const ring& each : rings_) {
    if (ioctl(each.event, PERF_EVENT_IOC_ENABLE, 0) != 0) throw_errno("PERF_EVENT_IOC_ENABLE");
  }
}

void sampler::stop() {
  for (const ring& each : rings_) {
    if (ioctl(each.event, PERF_EVENT_IOC_DISABLE, 0) != 0) throw_errno("PERF_EVENT_IOC_DISABLE");
  }
}

samples sampler::taken() const {
  samples found;
  for (const ring& each : rings_) {
    const auto& control = *static_cast<const perf_event_mmap_page*>(each.pages);
    // Acquire: what the kernel wrote before it moved the head.
    const std::uint64_t head = __atomic_load_n(&control.data_head, __ATOMIC_ACQUIRE);
    words unread(static_cast<const std::byte*>(each.pages) + page_bytes_, each.bytes);
    while (unread.at() < head) read_record(unread, found);
    // The kernel says how many were lost once there is room again, which never comes.
    if (head + 2 * sample_bytes > each.bytes) ++found.lost;
  }
  return found;
}

}  // namespace heddle::lab
