# How much is tested. By default each promise at two levels of optimisation, with the lab's main programs; `./dev test --all`
# has every level, library and program, and longer runs.
option(HEDDLE_TEST_ALL "Test at every level, with every program, and for longer" OFF)
if(HEDDLE_TEST_ALL)
  set(HEDDLE_TEST_LEVELS O0 O1 O2 O3 Os)
  set(HEDDLE_TEST_KILLS 200)
  set(HEDDLE_TEST_FLAGS "")
else()
  set(HEDDLE_TEST_LEVELS O0 O2)
  set(HEDDLE_TEST_KILLS 20)
  # The tests' own code is half of what there is to compile; what they test is optimised.
  set(HEDDLE_TEST_FLAGS -O0 -g0)
endif()
