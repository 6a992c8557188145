// The two ways into the recorder: the shapes' programs are there once for each.
#pragma once

#include <string>
#include <vector>

/// Folders of the programs: -finstrument-functions; -mfentry -minstrument-return=call (GCC alone
/// has it).
inline std::vector<std::string> ways() {
#if HEDDLE_ENTRY_WAY
  return {TRACED_PROGRAMS "/", TRACED_PROGRAMS "/entry/"};
#else
  return {TRACED_PROGRAMS "/"};
#endif
}
