#pragma once

namespace heddle::lab::http {

/// Answers GETs of any number of clients as back_end_process says. Never returns; ends the process
/// if it cannot go on.
[[noreturn]] void answer_as_redis(int door);

}  // namespace heddle::lab::http
