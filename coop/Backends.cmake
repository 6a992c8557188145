# Contexts on other libraries' mechanisms, each where its library is found; HEDDLE_OPTIONAL_BACKENDS
# lists those, for the programs that test and time them.
set(HEDDLE_OPTIONAL_BACKENDS "")

# heddle_optional_backend(NAME HEADER LIBRARY PACKAGE)
macro(heddle_optional_backend name header library package)
  string(TOUPPER "${name}" upper)
  find_path(HEDDLE_${upper}_INCLUDE "${header}")
  find_library(HEDDLE_${upper}_LIBRARY "${library}")
  if(HEDDLE_${upper}_INCLUDE AND HEDDLE_${upper}_LIBRARY)
    list(APPEND HEDDLE_OPTIONAL_BACKENDS "${name}")
    target_sources(heddle_coop PRIVATE "context/${name}_context.cpp")
    target_compile_definitions(heddle_coop PRIVATE "HEDDLE_BACKEND_${upper}")
    target_include_directories(heddle_coop SYSTEM PRIVATE "${HEDDLE_${upper}_INCLUDE}")
    # By name, as the package may be used where the library lies elsewhere; in one piece, so that a
    # program that makes no such context does not load it.
    target_link_libraries(heddle_coop PRIVATE "-Wl,--push-state,--as-needed,-l${library},--pop-state")
  else()
    message(STATUS "Heddle: ${package} not found, so there are no ${name} contexts (apt-get install ${package})")
  endif()
endmacro()

heddle_optional_backend(boost boost/context/detail/fcontext.hpp boost_context libboost-context-dev)
heddle_optional_backend(pth pth.h pth libpth-dev)

# Valgrind's requests are inlined; what is built knows nothing of it otherwise.
find_path(HEDDLE_VALGRIND_INCLUDE valgrind/valgrind.h)
if(HEDDLE_VALGRIND_INCLUDE)
  target_compile_definitions(heddle_coop PRIVATE HEDDLE_VALGRIND)
  target_include_directories(heddle_coop SYSTEM PRIVATE "${HEDDLE_VALGRIND_INCLUDE}")
else()
  message(STATUS "Heddle: valgrind.h not found, so Valgrind is not told of stacks (apt-get install valgrind)")
endif()
