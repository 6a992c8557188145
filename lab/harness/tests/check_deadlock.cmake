# Runs PROGRAM with ARGUMENTS, which ends in a deadlock: at once, with one JSON line that says so.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} OUTPUT_VARIABLE line ERROR_VARIABLE notes RESULT_VARIABLE code)
string(JSON deadlock ERROR_VARIABLE error GET "${line}" oracle deadlock)
string(JSON ok ERROR_VARIABLE error GET "${line}" oracle ok)
if(NOT code EQUAL 1 OR NOT deadlock OR ok)
  message(FATAL_ERROR "expected exit code 1 and a deadlock, got ${code} and\n${line}${notes}")
endif()
