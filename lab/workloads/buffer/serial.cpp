#include <algorithm>

#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {
namespace {

// Producers and consumers in turn, as many items at a time as there are slots.
void run(problem& work, region&) {
  const std::int64_t all = work.all_items();
  int producer = 0;
  int consumer = 0;
  for (std::int64_t done = 0; done < all;) {
    const std::int64_t batch = std::min<std::int64_t>(work.slots(), all - done);
    for (std::int64_t i = 0; i < batch; ++i) {
      work.produce(producer, no_checkpoint);
      work.deposit(producer, no_checkpoint);
      producer = producer + 1 < work.producers() ? producer + 1 : 0;
    }
    for (std::int64_t i = 0; i < batch; ++i) {
      work.fetch(consumer, no_checkpoint);
      work.consume(consumer, no_checkpoint);
      consumer = consumer + 1 < work.consumers() ? consumer + 1 : 0;
    }
    done += batch;
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::buffer
