#include <fstream>
#include <sstream>

#include "workloads/call_log/workload.hpp"
#include "workloads/tracing/recorder.hpp"

namespace heddle::lab::call_log {
namespace {

// The source's hooks, preloaded, write the log themselves.
void run(problem& work, region&) {
  const auto trace = work.place().fresh("trace");
  work.run(tracing::preloaded("naive", trace));
  std::ostringstream text;
  text << std::ifstream(trace / "naive.log").rdbuf();
  work.found(parse(text.str()));
}

const model<problem> naive{"hooks/naive", &run};

}  // namespace
}  // namespace heddle::lab::call_log
