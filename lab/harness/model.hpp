#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/json.hpp"
#include "harness/measure.hpp"
#include "harness/parameters.hpp"

namespace heddle::lab {

/// A model lacks something on this machine; the message says what, and what would help. Exit code
/// 77: the comparison skips it.
struct cannot_run : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The oracle's answer.
struct verdict {
  bool ok = false;
  std::string checked;  ///< what was compared; on failure, what was expected and what came
};

/// What a workload adds to the harness's own in the line of a run.
struct results {
  json_object metrics;
  json_object counters;
  /// The answer or a checksum of it: equal for all models and languages that ran with the same
  /// parameters. Empty: nothing is compared.
  std::string result;
  /// The model whose code ran, where it is not the one that was asked for.
  std::string ran;
};

/// Runs the same model on other parameters, unmeasured.
using rerun = std::function<void(const parameters&)>;

/// A workload is a class with
///
///     static constexpr std::string_view name;
///     static std::vector<parameter> declare();
///     static parameters small(const parameters&);   // for the warm-up: same shape, little work
///     explicit W(const parameters&);                // sets the problem up, not measured
///     verdict check();                              // after a model has run on it
///     void report(const region&, results&, const rerun&) const;   // optional: figures of its own
///
/// and a model is a function `void run(W&, region&)`, with one line to make itself known:
///
///     const model<W> registered{"serial", run};
///
/// fiber_models.hpp does that for fibers on several contexts, strand_kinds.hpp for a model that is
/// written once for fibers and tasks.
template <class W>
class model;

/// A model with its problem, ready to run.
class prepared {
 public:
  virtual ~prepared() = default;
  virtual void run(region&) = 0;
  [[nodiscard]] virtual verdict check() = 0;
  virtual void report(const region&, results&, const rerun&) const = 0;
};

/// A model as the harness registers it.
struct model_entry {
  std::string_view name;
  std::string_view workload;
  std::vector<parameter> (*declare)();
  parameters (*small)(const parameters&);
  std::function<std::unique_ptr<prepared>(const parameters&)> prepare;
};

/// All models linked into this program, in no particular order.
std::vector<model_entry>& registry();

template <class W>
class model {
 public:
  using function = void (*)(W&, region&);

  model(std::string_view name, function body) {
    registry().push_back({name, W::name, &W::declare, &W::small, [body](const parameters& values) {
                            return std::make_unique<run_of>(values, body);
                          }});
  }

 private:
  class run_of final : public prepared {
   public:
    run_of(const parameters& values, function body) : work_(values), run_(body) {}
    void run(region& timed) override { run_(work_, timed); }
    verdict check() override { return work_.check(); }
    void report(const region& timed, results& out, const rerun& again) const override {
      if constexpr (requires { work_.report(timed, out, again); }) work_.report(timed, out, again);
    }

   private:
    W work_;
    function run_;
  };
};

}  // namespace heddle::lab
