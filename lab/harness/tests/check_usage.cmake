# Runs PROGRAM with ARGUMENTS, which are wrong: exit code 2, MESSAGE (a regular expression) on standard error, nothing on standard output.
execute_process(
  COMMAND "${PROGRAM}" ${ARGUMENTS}
  OUTPUT_VARIABLE out ERROR_VARIABLE notes RESULT_VARIABLE code)
if(NOT code EQUAL 2 OR NOT notes MATCHES "^error: .*${MESSAGE}" OR NOT out STREQUAL "")
  message(FATAL_ERROR "expected exit code 2 and `${MESSAGE}`, got ${code}:\n${notes}${out}")
endif()
