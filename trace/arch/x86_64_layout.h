// What assembly code must know of the recorder's structures, in bytes; layout.cpp checks every
// figure.
#pragma once

#define HEDDLE_LOCAL_CURRENT 0
#define HEDDLE_WINDOW_SEQUENCE 0
#define HEDDLE_WINDOW_POSITION 8
#define HEDDLE_WINDOW_LIMIT 16
#define HEDDLE_WINDOW_TICKS 24
#define HEDDLE_WINDOW_BASE_STACK 32
#define HEDDLE_WINDOW_DROPPED 40
#define HEDDLE_KIND_EXIT 1
#define HEDDLE_KIND_ENTRY_WAY 2
#define HEDDLE_KIND_CALL 8
#define HEDDLE_STACK_SHIFT 4
#define HEDDLE_STACK_MOST 0x3fffff
#define HEDDLE_STACK_UNIT_SHIFT 3
#define HEDDLE_CALLEE_SHIFT 26
#define HEDDLE_CALLEE_MOST 0xfff
#define HEDDLE_CALLEE_UNIT_SHIFT 4
#define HEDDLE_TICKS_SHIFT 38
#define HEDDLE_TICKS_BITS 26
