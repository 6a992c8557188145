#include "thread_file.hpp"

namespace heddle::trace {

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

constexpr std::uint64_t offset_of(std::uint64_t record) {
  return kHeaderBytes + record * sizeof(Record);
}

void* map_records(long fd, std::uint64_t first, std::uint64_t count) {
  return sys::mmap(nullptr, count * sizeof(Record), kReadWrite, MAP_SHARED, fd, offset_of(first));
}

}  // namespace

long ThreadFile::create(std::uint32_t tid) {
  const long fd = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (fd < 0) return fd;
  const std::uint64_t bytes = kHeaderBytes + kFirstChunk;
  long error = sys::allocate(fd, 0, bytes);
  if (error == 0) {
    void* mapped = sys::mmap(nullptr, bytes, kReadWrite, MAP_SHARED, fd);
    if (sys::failed(mapped)) {
      error = sys::error_of(mapped);
    } else {
      header = static_cast<ThreadHeader*>(mapped);
    }
  }
  sys::close(fd);
  if (error != 0) {
    sys::unlink(path);
    return error;
  }
  header_map_bytes = bytes;
  const std::uint64_t room = kFirstChunk / sizeof(Record);
  segments[0] = {&header->reserved, 0, room,
                 reinterpret_cast<Record*>(reinterpret_cast<char*>(header) + kHeaderBytes)};
  reserved[0] = room;
  used = 1;
  dropping = {&header->dropped, 0, 0, nullptr};
  header->version = kVersion;
  header->record_bytes = sizeof(Record);
  header->tid = tid;
  header->room = room;
  return 0;
}

long ThreadFile::reopen() {
  const long fd = sys::open(path, O_RDWR | O_NOFOLLOW);
  if (fd < 0) return fd;
  void* mapped = sys::mmap(nullptr, kHeaderBytes, kReadWrite, MAP_SHARED, fd);
  if (sys::failed(mapped)) {
    sys::close(fd);
    return sys::error_of(mapped);
  }
  header = static_cast<ThreadHeader*>(mapped);
  header_map_bytes = kHeaderBytes;
  dropping = {&header->dropped, 0, 0, nullptr};
  used = 0;
  // The rest of the last chunk, from the page that holds the next record.
  constexpr std::uint64_t kPerPage = 4096 / sizeof(Record);
  const std::uint64_t first = header->reserved / kPerPage * kPerPage;
  if (first < header->room) {
    const std::uint64_t room = header->room - first;
    mapped =
        sys::mmap(nullptr, room * sizeof(Record), kReadWrite, MAP_SHARED, fd, offset_of(first));
    if (!sys::failed(mapped)) {
      segments[0] = {&header->reserved, first, room, static_cast<Record*>(mapped)};
      reserved[0] = room;
      used = 1;
    }
  }
  sys::close(fd);
  if (used == 1) return 0;
  const long error = grow();
  full = error != 0;
  return error;
}

long ThreadFile::map_more(long fd) {
  constexpr std::uint64_t kMore = kChunk / sizeof(Record);
  const std::uint64_t room = header->room;
  const long error = sys::allocate(fd, offset_of(room), offset_of(room + kMore));
  if (error != 0) return error;

  Segment* last = used > 0 ? &segments[used - 1] : nullptr;
  const bool fits = last != nullptr && last->capacity + kMore <= reserved[used - 1];
  if (!fits) {
    if (used == kSegments) return -ENOMEM;
    // One mapping for the whole segment, far beyond the file's end: what the file grows by later is
    // there at once. A mapping a chunk would use up vm.max_map_count, 65530, in one long run.
    std::uint64_t space = kMore << used;
    void* mapped = map_records(fd, room, space);
    if (sys::failed(mapped)) {  // an address space limit: just what is needed now
      space = kMore;
      mapped = map_records(fd, room, space);
    }
    if (sys::failed(mapped)) {
      // Room that nobody can write to would be read as records that were never filled.
      arch::syscall(SYS_ftruncate, fd, offset_of(room));
      return sys::error_of(mapped);
    }
    segments[used] = {&header->reserved, room, 0, static_cast<Record*>(mapped)};
    reserved[used] = space;
  }
  const Segment& newest = segments[fits ? used - 1 : used];
  // All its page faults at once; Linux before 5.14 takes them one by one.
  sys::madvise(newest.records + newest.capacity, kChunk, MADV_POPULATE_WRITE);

  if (last != nullptr) {
    // The full chunk stays mapped, but need not stay resident: its data are the page cache's from
    // here on.
    const std::uint64_t spent = last->capacity < kMore ? last->capacity : kMore;
    sys::madvise(last->records + (last->capacity - spent), spent * sizeof(Record), MADV_DONTNEED);
  }
  header->room = room + kMore;
  if (fits) {
    __atomic_store_n(&last->capacity, last->capacity + kMore, __ATOMIC_RELEASE);
  } else {
    segments[used].capacity = kMore;  // not published yet
    ++used;
  }
  return 0;
}

long ThreadFile::grow() {
  const long fd = sys::open(path, O_RDWR | O_NOFOLLOW);
  if (fd < 0) return fd;
  const long error = map_more(fd);
  sys::close(fd);
  return error;
}

bool ThreadFile::store(std::uint64_t index, const Record& record) {
  for (unsigned i = used; i-- > 0;) {
    const Segment& segment = segments[i];
    if (index - segment.first < segment.capacity) {
      fill(segment.records[index - segment.first], record);
      return true;
    }
  }
  return false;
}

void ThreadFile::close() {
  for (unsigned i = 0; i < used; ++i) {
    // The first segment of a new file lies in the header's mapping.
    if (i == 0 && header_map_bytes > kHeaderBytes) continue;
    sys::munmap(segments[i].records, reserved[i] * sizeof(Record));
  }
  sys::munmap(header, header_map_bytes);
  header = nullptr;
}

}  // namespace heddle::trace
