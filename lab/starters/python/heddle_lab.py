"""The part of a lab program that is the same in each: it reads the command line, runs one model, has
the result checked, and prints the one JSON line that `heddle compare` reads. Python 3.9, Linux.
"""

import json
import resource
import sys
import time


class CannotRun(Exception):
    """A model lacks something on this machine: what, and what would help. `heddle compare` skips it."""


class Lab:
    """A lab program. Declare its parameters and models, then call run().

    `metrics` are figures with their units in their names (_ns, _bytes, _per_s), `counters` are counts
    that say why (p_operations, allocations …).
    """

    def __init__(self, workload):
        self.workload = workload
        self.metrics, self.counters = {}, {}
        self._models, self._params, self._given = {}, {}, {}
        for argument in sys.argv[1:]:
            name, equals, value = argument.partition("=")
            if not name.startswith("--") or not (equals or name == "--list"):
                fail(f"`{argument}`: expected --NAME=VALUE")
            self._given[name[2:]] = value

    def parameter(self, name, fallback, least, most):
        """The value of --NAME=…, or fallback. One outside of least … most ends the program."""
        text = self._given.pop(name, str(fallback))
        if not text.lstrip("-").isdecimal() or not least <= int(text) <= most:
            fail(f"--{name}={text}: expected {least} … {most}")
        self._params[name] = int(text)
        return int(text)

    def model(self, name, body):
        """Declares a model. `body` is what is measured, all of it; it returns the answer."""
        self._models[name] = body

    def run(self, oracle):
        """Runs the model that the command line names, and prints the line. `oracle` is given the
        answer, and returns whether it is right, and what was compared."""
        if "list" in self._given:
            print("\n".join(self._models))
            return
        wanted = self._given.pop("model", "")
        if self._given:
            fail(f"unknown parameter --{next(iter(self._given))}")
        if wanted not in self._models:
            fail(f"unknown model `{wanted}`; there are: {' '.join(self._models)}")
        before = resource.getrusage(resource.RUSAGE_SELF)
        cpu_start, start = time.process_time_ns(), time.monotonic_ns()
        try:
            answer = self._models[wanted]()
        except CannotRun as why:
            print(f"error: {why}", file=sys.stderr)
            sys.exit(77)
        self.metrics["wall_ns"] = time.monotonic_ns() - start
        self.metrics["cpu_ns"] = time.process_time_ns() - cpu_start
        after = resource.getrusage(resource.RUSAGE_SELF)
        self.counters["voluntary_switches"] = after.ru_nvcsw - before.ru_nvcsw
        self.counters["involuntary_switches"] = after.ru_nivcsw - before.ru_nivcsw
        ok, checked = oracle(answer)
        line = {
            "workload": self.workload,
            "model": wanted,
            "params": self._params,
            "oracle": {"ok": ok, "checked": checked},
            "result": str(answer)[:200],
            "metrics": self.metrics,
            "counters": self.counters,
        }
        print(json.dumps(line, allow_nan=False))


def fail(why):
    print(f"error: {why}\nusage: {sys.argv[0]} --model=MODEL [--NAME=VALUE …], or --list", file=sys.stderr)
    sys.exit(2)
