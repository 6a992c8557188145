// Who makes a fiber.
#pragma once

namespace heddle::trace {

/// Finds the real makecontext, before a small stack calls ours.
void find_makecontext();

}  // namespace heddle::trace
