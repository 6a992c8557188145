// What assembly code must know of the recorder's structures, in bytes; entry.cpp checks every
// figure.
#pragma once

#define HEDDLE_LOCAL_CURRENT 0
#define HEDDLE_SEGMENT_COUNT 0
#define HEDDLE_SEGMENT_FIRST 8
#define HEDDLE_SEGMENT_CAPACITY 16
#define HEDDLE_SEGMENT_RECORDS 24
#define HEDDLE_RECORD_SHIFT 5  // log2 of the size
#define HEDDLE_RECORD_WHEN 0
#define HEDDLE_RECORD_FUNCTION 8
#define HEDDLE_RECORD_CALL_SITE 16
#define HEDDLE_RECORD_STACK_POINTER 24
