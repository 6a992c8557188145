#pragma once

// As strand_kinds.hpp's BODY: for what a strand owns and changes, and for handlers of messages.
#if STACKFUL
#define OWNER(...) [__VA_ARGS__]() mutable
#define HANDLER(result, parameter, ...) [__VA_ARGS__](parameter) -> result
#else
#define OWNER(...) [__VA_ARGS__]() mutable -> ::heddle::coop::task<>
#define HANDLER(result, parameter, ...) [__VA_ARGS__](parameter) -> ::heddle::coop::task<result>
#endif
