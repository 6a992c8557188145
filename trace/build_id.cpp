#include "build_id.hpp"

#include <elf.h>

namespace heddle::trace {

namespace {

/// Whether one segment lies in the other. The numbers are a file's: their sums may wrap around.
bool within(const ElfW(Phdr) & inner, const ElfW(Phdr) & outer) {
  const std::uint64_t offset = inner.p_vaddr - outer.p_vaddr;
  return inner.p_vaddr >= outer.p_vaddr && offset <= outer.p_memsz &&
         inner.p_memsz <= outer.p_memsz - offset;
}

bool is_readable(const dl_phdr_info& info, const ElfW(Phdr) & segment) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = info.dlpi_phdr[i];
    if (load.p_type == PT_LOAD && (load.p_flags & PF_R) != 0 && within(segment, load)) return true;
  }
  return false;
}

}  // namespace

void put_build_id(Text& line, const dl_phdr_info& info) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& note = info.dlpi_phdr[i];
    if (note.p_type != PT_NOTE || !is_readable(info, note)) continue;
    const std::uint64_t align = note.p_align == 8 ? 8 : 4;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + note.p_vaddr);
    const char* end = at + note.p_memsz;
    ElfW(Nhdr) header;
    while (at + sizeof header <= end) {
      __builtin_memcpy(&header, at, sizeof header);  // it may be misaligned
      const char* name = at + sizeof header;
      const char* content = name + ((header.n_namesz + align - 1) & -align);
      if (content > end || content + header.n_descsz > end) break;
      const bool gnu = header.n_namesz == 4 && name[0] == 'G' && name[1] == 'N' && name[2] == 'U' &&
                       name[3] == '\0';
      if (gnu && header.n_type == NT_GNU_BUILD_ID && header.n_descsz > 0) {
        for (unsigned k = 0; k < header.n_descsz; ++k) {
          line.hex_byte(static_cast<std::uint8_t>(content[k]));
        }
        return;
      }
      at = content + ((header.n_descsz + align - 1) & -align);
    }
  }
  line << '-';
}

}  // namespace heddle::trace
