// The two functions that GCC and clang call under -finstrument-functions.
#pragma once

extern "C" {

/// `function` was entered from `call_site`. Keeps errno; may be called from a signal handler.
void __cyg_profile_func_enter(void* function, void* call_site);

/// `function` is about to return to `call_site`, or is being unwound.
void __cyg_profile_func_exit(void* function, void* call_site);
}
