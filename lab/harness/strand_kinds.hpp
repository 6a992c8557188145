// Macros with which a model that differs by keywords alone is written once for both kinds of
// strand, as the tests of coop are. STACKFUL is 1 where it is compiled for fibers, 0 for tasks, and
// KIND is the word for that in the model's name.
//
//     s.spawn([&gate]() -> STRAND { WAIT(gate.P()); });
//
// STRAND is what a strand's function returns, and RESULT(T) where that is a value. WAIT(x) is how
// it waits for an awaitable, CALL(f()) how it calls another such function, RETURN how it ends: a
// function without any WAIT or CALL must have a RETURN.
#pragma once

#ifndef STACKFUL
#error "heddle_workload() compiles this file for each kind of strand"
#elif STACKFUL
#include "heddle/coop/await.hpp"
#define KIND "asm"
#define STRAND void
#define RESULT(T) T
#define WAIT(...) ::heddle::coop::await(__VA_ARGS__)
#define CALL(...) __VA_ARGS__
#define RETURN return
#else
#include "heddle/coop/task.hpp"
#define KIND "stackless"
#define STRAND ::heddle::coop::task<>
#define RESULT(T) ::heddle::coop::task<T>
#define WAIT(...) (co_await (__VA_ARGS__))
#define CALL(...) (co_await (__VA_ARGS__))
#define RETURN co_return
#endif
