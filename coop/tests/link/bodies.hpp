#pragma once

// Like BODY of strand_kinds.hpp: OWNER for a body that owns and changes its captures, HANDLER for
// handlers of messages.
#if STACKFUL
#define OWNER(...) [__VA_ARGS__]() mutable
#define HANDLER(result, parameter, ...) [__VA_ARGS__](parameter) -> result
#else
#define OWNER(...) [__VA_ARGS__]() mutable -> ::heddle::coop::task<>
#define HANDLER(result, parameter, ...) [__VA_ARGS__](parameter) -> ::heddle::coop::task<result>
#endif
