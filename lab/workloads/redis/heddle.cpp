#include "workloads/redis/workload.hpp"

namespace heddle::lab::redis {
namespace {

void calls(problem& work, region& timed) { work.record({}, timed); }
void sync(problem& work, region& timed) { work.record({"--sync"}, timed); }
void sched(problem& work, region& timed) { work.record({"--sched"}, timed); }
void alloc(problem& work, region& timed) { work.record({"--alloc"}, timed); }
void args(problem& work, region& timed) { work.record({"--args", "."}, timed); }

const model<problem> models[] = {
    {"heddle/calls", &calls}, {"heddle/sync", &sync}, {"heddle/sched", &sched},
    {"heddle/alloc", &alloc}, {"heddle/args", &args},
};

}  // namespace
}  // namespace heddle::lab::redis
