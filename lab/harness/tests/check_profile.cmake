# Runs PROGRAM with ARGUMENTS, which ask for a profile of a run that is hardly anything but work: the profile says so, and its
# shares add up.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} OUTPUT_VARIABLE line ERROR_VARIABLE notes RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${code}:\n${notes}")
endif()
set(sum 0)
foreach(activity IN ITEMS work program checkpoints semaphores waits switches kernel other)
  string(JSON share GET "${line}" counters "percent_in_${activity}")
  # In thousandths of a percent, as CMake counts in integers.
  if(NOT share MATCHES "^([0-9]+)([.]([0-9]*))?$")
    message(FATAL_ERROR "percent_in_${activity} is ${share}")
  endif()
  set(thousandths "${CMAKE_MATCH_3}000")
  string(SUBSTRING "${thousandths}" 0 3 thousandths)
  math(EXPR ${activity} "${CMAKE_MATCH_1} * 1000 + 1${thousandths} - 1000")
  math(EXPR sum "${sum} + ${${activity}}")
endforeach()
if(sum LESS 99990 OR sum GREATER 100000)
  message(FATAL_ERROR "the shares add up to ${sum} thousandths of a percent:\n${line}")
endif()
# A checkpoint is at each iteration of the work. The kernel's part is that of interrupts, which a busy machine
# has more of; so has it of what is no part of the program (libc's, the loader's).
math(EXPR spent "${work} + ${checkpoints} + ${kernel}")
if(work LESS 25000 OR spent LESS 95000)
  message(FATAL_ERROR "expected work, checkpoints and little else:\n${line}")
endif()
