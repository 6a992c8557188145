# cmake -DOBJDUMP=… -DOBJECTS=a.o;b.o -DNAMES=regex -P scan_for_locks.cmake
#
# Says which instructions that lock memory (x86-64) are in those of the objects whose path matches: a `lock` prefix, or an exchange
# with memory, which locks without one. GNU's objdump writes `lock incq` and `xchg   %al,(%rdi)`, LLVM's, which CMake may choose for
# Clang, has `lock` on a line of its own, and `xchgb`.
set(found "")
set(scanned "")
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "${NAMES}")
    continue()
  endif()
  execute_process(COMMAND "${OBJDUMP}" -d --no-show-raw-insn "${object}" OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[\t ](lock[\t\n ]|xchg[bwlq]?[\t ][^\n]*\\()[^\n]*" locked "${code}")
  list(APPEND found ${locked})
  list(APPEND scanned "${object}")
endforeach()
if(scanned STREQUAL "")
  message(FATAL_ERROR "no object to scan: none of ${OBJECTS} matches ${NAMES}")
endif()
list(LENGTH found count)
message("${count} instructions that lock memory in ${scanned}: ${found}")
