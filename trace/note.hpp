// The recorder's few lines on stderr.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// Says, once per process (`noted`), that recording stopped (or a part of it), why, and what to do.
/// `error` is a negated error number. Call with signals blocked.
void note_trouble(bool& noted, const char* what, const char* path, long error);

/// Says that heddle record does not tell which functions patterns match.
void note_unplanned(const char* path, long error);

/// At exit, where coroutines' frames could not be looked for.
void note_blind(long error);

/// Says that a seccomp filter ends recording.
void note_barred();

/// At exit, where nothing could be recorded, which was said before: how much is missing.
void note_lost(std::uint64_t events);

/// At exit after a bare preload: where the trace is.
void note_recorded(const char* program, std::uint32_t pid, const char* directory);

}  // namespace heddle::trace
