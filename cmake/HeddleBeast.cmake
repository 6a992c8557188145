# heddle_beast: Boost.Beast's HTTP parser, headers alone. Not there if Debian's libboost-dev is not; who wants it says so.
find_path(HEDDLE_BEAST_INCLUDE boost/beast/http/basic_parser.hpp)
if(HEDDLE_BEAST_INCLUDE)
  add_library(heddle_beast INTERFACE)
  target_include_directories(heddle_beast SYSTEM INTERFACE "${HEDDLE_BEAST_INCLUDE}")
  # 1.74 asserts that the last chunk's line, once seen, comes again with at least five bytes, and goes on correctly if not:
  # without this, a peer that sends "0\r\n", "\r" and "\n" one after the other ends the server.
  target_compile_definitions(heddle_beast INTERFACE BOOST_DISABLE_ASSERTS)
endif()
