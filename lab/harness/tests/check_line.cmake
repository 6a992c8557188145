# Runs PROGRAM with --model=MODEL and ARGUMENTS: one JSON line with everything that docs/workloads.md asks for, oracle satisfied.
execute_process(
  COMMAND "${PROGRAM}" "--model=${MODEL}" ${ARGUMENTS}
  OUTPUT_VARIABLE line ERROR_VARIABLE notes RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --model=${MODEL} ended with ${code}:\n${notes}")
endif()
if(NOT line MATCHES "^{[^\n]*}\n$")
  message(FATAL_ERROR "expected one line with one JSON object, got:\n${line}")
endif()

# expect_json(REGEX KEY…): fails unless the member exists and matches.
function(expect_json pattern)
  string(JSON value ERROR_VARIABLE error GET "${line}" ${ARGN})
  if(error OR NOT value MATCHES "${pattern}")
    message(FATAL_ERROR "member ${ARGN}: expected ${pattern}, got `${value}` ${error} in\n${line}")
  endif()
endfunction()

expect_json("^${MODEL}$" model)
expect_json("^[a-z-]+$" workload)
expect_json("^ON$" oracle ok)
expect_json("." oracle checked)
expect_json("^[1-9][0-9]*$" metrics wall_ns)
expect_json("^[1-9][0-9]*$" metrics total_ns)
foreach(counter IN ITEMS
    user_ns sys_ns peak_rss_bytes voluntary_switches involuntary_switches
    strand_switches p_operations blocked_p_operations allocations kernel_threads)
  expect_json("^[0-9]+$" counters ${counter})
endforeach()
expect_json("." build compiler)
expect_json("." build flags)
