#include "heddle/coop/duff.h"

#define BEGIN HEDDLE_DUFF_BEGIN
#define YIELD HEDDLE_DUFF_YIELD
#define END HEDDLE_DUFF_END

namespace heddle::lab::surveying {
using place = heddle_duff;
}

#include "workloads/survey/protothreads.hpp"

namespace heddle::lab::surveying {
namespace {

const model<problem> stackless_duff{"stackless/duff", &run};

}  // namespace
}  // namespace heddle::lab::surveying
