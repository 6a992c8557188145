#pragma once

#include "workloads/http/load.hpp"

namespace heddle::lab::http {

/// Throws cannot_run if wrk(1) is not installed.
void require_wrk();

/// Lets wrk(1) ask, one thread, on as many connections as the plan says, all for the same content.
/// The server's requests and processor time are those of `plan.wrk_ms` from where all connections
/// have been accepted, and have had two answers on average. Beside that:
///
/// - Before, all connections ask for a little, and each answer is looked at; when all are open,
///   the server's memory is compared with what it was with one. Once more after wrk, one asks.
/// - wrk looks at statuses alone. Of its answers' length, the sum is looked at; and a client of
/// ours
///   beside it, on a connection of its own, asks for one thing after the other, a millisecond after
///   each answer, and looks at these.
///
/// Latencies are as wrk gives them, of all its time: it adds the requests that it would have sent
/// while it waited for a slow one ("coordinated omission").
load_report run_by_wrk(const load_plan& plan, const server_state& server);

}  // namespace heddle::lab::http
