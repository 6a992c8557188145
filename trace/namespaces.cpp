#include "namespaces.hpp"

namespace heddle::trace {

/// glibc's `r_debug_extended`. Older versions of <link.h> do not have it.
struct Elsewhere::Space {
  r_debug debug;
  const Space* next;  ///< if `debug.r_version` is at least 2

  const Space* following() const { return debug.r_version >= 2 ? next : nullptr; }
};

namespace {

constexpr const char* kHooks[] = {"__cyg_profile_func_enter", "__fentry__"};

bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

/// The tables that tell which symbols a library uses.
struct Used {
  const char* names = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * of_data = nullptr;
  const ElfW(Rela) * of_calls = nullptr;
  std::uint64_t data_bytes = 0, call_bytes = 0;

  explicit Used(const link_map& module) {
    // The loader has added the bias to most addresses there, but to none of a section that is not
    // to be written.
    const auto at = [&](const ElfW(Dyn) & entry) {
      const std::uint64_t address = entry.d_un.d_ptr;
      return address < module.l_addr ? address + module.l_addr : address;
    };
    for (const ElfW(Dyn)* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_STRTAB:
          names = reinterpret_cast<const char*>(at(*entry));
          break;
        case DT_SYMTAB:
          symbols = reinterpret_cast<const ElfW(Sym)*>(at(*entry));
          break;
        case DT_RELA:
          of_data = reinterpret_cast<const ElfW(Rela)*>(at(*entry));
          break;
        case DT_RELASZ:
          data_bytes = entry->d_un.d_val;
          break;
        case DT_JMPREL:
          of_calls = reinterpret_cast<const ElfW(Rela)*>(at(*entry));
          break;
        case DT_PLTRELSZ:
          call_bytes = entry->d_un.d_val;
          break;
        default:
          break;
      }
    }
  }

  bool has_hook(const ElfW(Rela) * table, std::uint64_t bytes) const {
    if (table == nullptr || names == nullptr || symbols == nullptr) return false;
    for (std::uint64_t i = 0; i < bytes / sizeof *table; ++i) {
      const std::uint64_t symbol = ELF64_R_SYM(table[i].r_info);
      if (symbol == 0) continue;
      const char* const name = names + symbols[symbol].st_name;
      if (equal(name, kHooks[0]) || equal(name, kHooks[1])) return true;
    }
    return false;
  }

  bool has_hook() const { return has_hook(of_calls, call_bytes) || has_hook(of_data, data_bytes); }
};

}  // namespace

Elsewhere::Elsewhere(const dl_phdr_info& program) : space_(nullptr) {
  for (unsigned i = 0; i < program.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = program.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(program.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_DEBUG || entry->d_un.d_ptr == 0) continue;
      space_ = reinterpret_cast<const Space*>(entry->d_un.d_ptr)->following();
      if (space_ != nullptr) module_ = space_->debug.r_map;
      return;
    }
  }
}

const link_map* Elsewhere::next() {
  while (space_ != nullptr) {
    while (module_ != nullptr) {
      const link_map* const module = module_;
      module_ = module->l_next;
      if (module->l_ld != nullptr && Used(*module).has_hook()) return module;
    }
    space_ = space_->following();
    if (space_ != nullptr) module_ = space_->debug.r_map;
  }
  return nullptr;
}

}  // namespace heddle::trace
