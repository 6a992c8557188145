# The libraries that heddle::coop is built with where they are there, as targets heddle::NAME; for its build, and installed
# beside heddleConfig.cmake, for programs that use it, where they may lie elsewhere.

# The packages of Debian that have them.
set(HEDDLE_PACKAGE_OF_boost_context libboost-context-dev)
set(HEDDLE_PACKAGE_OF_pth libpth-dev)
set(HEDDLE_PACKAGE_OF_uring liburing-dev)

# heddle_library(NAME PATH [GLOBAL]): makes heddle::NAME of the library at PATH. A program that uses nothing of it does not
# load it.
function(heddle_library name path)
  if(NOT TARGET heddle::${name})
    add_library(heddle::${name} INTERFACE IMPORTED ${ARGN})
    set_target_properties(heddle::${name} PROPERTIES
      INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--as-needed,${path},--pop-state")
  endif()
endfunction()
