"""gdb's view of the strands of heddle::coop: in a running program, or in a core file of one.

    gdb -x heddle_gdb.py ./app core
    (gdb) heddle strands

prints what scheduler::dump() would, and where each strand that waits has stopped. It reads memory and calls nothing. The library has to be built
with -g.
"""

import gdb
import gdb.unwinder

LIST = "heddle::coop::detail::scheduler_list_entry::newest_"
CURRENT = "heddle::coop::detail::current_strand"


def text_of(string):
    """The characters of a std::string of libstdc++."""
    length = int(string["_M_string_length"])
    return string["_M_dataplus"]["_M_p"].string(length=length) if length else ""


def chain(node, link):
    while int(node):
        yield node
        node = node[link]


def siblings(node):
    """The nodes of a wait in several lists."""
    several = gdb.lookup_type("heddle::coop::detail::several_node").pointer()
    while int(node):
        yield node
        node = node.cast(several)["sibling"]


def schedulers():
    """All of the process, the oldest first."""
    entries = list(chain(gdb.parse_and_eval(LIST), "older_"))
    return [entry["self_"].referenced_value() for entry in reversed(entries)]


def running():
    """The addresses of the strands that threads are running now; None where thread-local variables cannot be read."""
    selected = gdb.selected_thread()
    found = set()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            found.add(int(gdb.parse_and_eval(CURRENT)))
    except gdb.error:
        return None
    finally:
        if selected is not None:
            selected.switch()
    return found


def strands(scheduler):
    """(number, block) of each strand that has not ended, the oldest first."""
    registry = scheduler["all_"]
    held = registry["entries_"]  # a unique_ptr: one pointer
    entry = gdb.lookup_type("heddle::coop::detail::strand_registry::entry")
    entries = held.address.cast(entry.pointer().pointer()).dereference()
    for place in range(int(registry["used_"])):
        if int(entries[place]["strand"]):
            yield int(entries[place]["id"]), entries[place]["strand"].dereference()


def state(strand, running_now):
    status = str(strand["status"]).rsplit("::", 1)[-1]
    if running_now is None and status == "ready" and not int(strand["waits"]):
        return "is ready or runs"
    if running_now is not None and int(strand.address) in running_now:
        return "runs"
    if status == "ready" and not int(strand["waits"]):
        return "is ready"
    if status == "unstarted":
        return "has not started"
    if status == "polling":
        return "waits for its predicate to hold"
    reasons = []
    nodes = siblings(strand["waits"]) if int(strand["several"]) else [strand["waits"]] if int(strand["waits"]) else []
    for node in nodes:
        if not int(node["list"]):
            continue
        waited_for = node["list"].dereference()
        name = text_of(waited_for["name_"].referenced_value())
        reasons.append(waited_for["kind_"].string() + (' "%s"' % name if name else " (unnamed)"))
    if reasons:
        return "waits for " + " or ".join(reasons)
    # The awaitable of a waiting strand is on its stack. (gdb's own generate-core-file leaves out
    # mappings with guard pages; the kernel's core files have them.)
    return "waits, for what is not in this core file" if int(strand["waits"]) else "sleeps"


def place(symtab, line):
    return "%s:%d" % (symtab.filename.rsplit("/", 1)[-1], line)


class SuspendedFiber(gdb.unwinder.Unwinder):
    """Makes a suspended fiber's innermost frame the caller of the selected thread's, so that gdb unwinds its stack as any other. x86-64 alone."""

    def __init__(self):
        super().__init__("heddle::coop fiber")
        self.enabled = False
        gdb.unwinder.register_unwinder(None, self, replace=True)

    def __call__(self, pending):
        if not self.enabled or int(pending.read_register("rsp")) != self.thread_sp:
            return None
        # The lowest of stack pointers: a caller's is above, as gdb asks for.
        lowest = gdb.Value(16).cast(pending.read_register("rsp").type)
        info = pending.create_unwind_info(type("FrameId", (), {"sp": lowest, "pc": pending.read_register("rip")})())
        for name in ("rip", "rsp", "rbp"):
            info.add_saved_register(name, gdb.Value(self.saved[name]).cast(pending.read_register(name).type))
        return info

    def frames(self, strand):
        """The frames of a fiber that is suspended, the innermost first."""
        switch = strand["runner"]["context"]["switch_"]
        self.saved = {"rip": int(switch["ip"]), "rsp": int(switch["sp"]), "rbp": int(switch["bp"])}
        gdb.invalidate_cached_frames()
        self.thread_sp = int(gdb.newest_frame().read_register("rsp"))
        self.enabled = True
        try:
            gdb.invalidate_cached_frames()
            frame = gdb.newest_frame()
            while frame is not None and int(frame.read_register("rsp")) != self.saved["rsp"]:
                frame = frame.older()
            while frame is not None and frame.name() is not None:
                sal = frame.find_sal()
                where = place(sal.symtab, sal.line) if sal.symtab is not None else None
                yield frame.name(), where, of_library(frame.name(), sal.symtab)
                frame = frame.older()
        finally:
            self.enabled = False
            gdb.invalidate_cached_frames()


suspended_fiber = SuspendedFiber()


def of_library(function, symtab):
    return function.startswith(("heddle::coop::", "std::")) or (symtab is not None and "/heddle/coop/" in symtab.filename)


def without_parameters(function):
    """`f` of `f(f()::Frame*)`, as a coroutine's body is called."""
    depth = 0
    for i in range(len(function) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(function[i], 0)
        if depth == 0:
            return function[:i] if function[i] == "(" else function
    return function


def source_of(address):
    begin = gdb.find_pc_line(address)
    return place(begin.symtab, begin.line) if begin.symtab is not None else None


def coroutines(frame):
    """The coroutines that wait for each other, from the one at this address, whose frame begins with what is called to resume it, on."""
    words = gdb.lookup_type("unsigned long").pointer()
    while frame:
        here = gdb.Value(frame).cast(words)
        resume = int(here.dereference())
        block = gdb.block_for_pc(resume)
        function = block.function if block is not None else None
        while function is None and block is not None:
            block = block.superblock
            function = block.function if block is not None else None
        if function is None or "end_mark" in function.print_name:
            return  # something else; or the fiber that awaits the outermost task
        where = place(function.symtab, function.line) if function.line != 0 else source_of(resume)  # GCC gives some no line
        yield without_parameters(function.print_name), where, of_library(function.print_name, None)
        # The promise begins with the coroutine that continues; an odd one is a strand.
        continued = int((here + 2).dereference())
        frame = 0 if continued & 1 else continued


def calls(strand):
    """(function, FILE:LINE or None, whether it is of the library) of each frame of a strand that is suspended, the innermost first."""
    if str(strand["kind"]).endswith("::task"):
        yield from coroutines(int(strand["resume_at"]))
        return
    frames = list(suspended_fiber.frames(strand))
    # A fiber that awaits a task waits where the task does.
    for name, _, library in frames:
        if not library:
            break
        if name.startswith("heddle::coop::detail::run_on_fiber"):
            yield from coroutines(int(strand["resume_at"]))
            break
    yield from frames


def stopped_in(strand):
    """The place at which a strand that waits has left its own code for the library, as FILE:LINE; None if nobody knows."""
    try:
        for _, where, library in calls(strand):
            if not library and where is not None:
                return where
    except gdb.error:  # another mechanism of switching, or memory that the core file lacks
        pass
    return None


class Heddle(gdb.Command):
    """Strands of heddle::coop."""

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_STACK, prefix=True)


def in_cxx(code):
    """Runs code() with C++ as gdb's language: where the program stopped may be C or assembly, in which gdb parses no C++ names."""
    language = gdb.parameter("language")
    gdb.execute("set language c++", to_string=True)
    try:
        code()
    finally:
        gdb.execute("set language " + language, to_string=True)


def all_schedulers():
    try:
        return schedulers()
    except gdb.error as error:
        raise gdb.GdbError(
            "no schedulers found (%s): is this program linked with heddle::coop, is that built with -g, and does it run, or is there a core file?" % error
        )


def description(number, strand, says):
    line = "strand %d" % number
    if int(strand["rare"]):
        name = text_of(strand["rare"]["name"])
        if name:
            line += ' "%s"' % name
    return line + " " + says


class Strands(gdb.Command):
    """Lists every strand that has not ended: its number, its name, what it waits for, and where."""

    def __init__(self):
        super().__init__("heddle strands", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        in_cxx(self.list_all)

    def list_all(self):
        all_of_them = all_schedulers()
        running_now = running()
        for scheduler in all_of_them:
            found = list(strands(scheduler))
            print("scheduler %#x: %d strand%s" % (int(scheduler.address), len(found), "" if len(found) == 1 else "s"))
            for number, strand in found:
                says = state(strand, running_now)
                where = stopped_in(strand) if says.startswith(("waits", "sleeps")) else None
                print("  " + description(number, strand, says) + (", in " + where if where else ""))
        if not all_of_them:
            print("no schedulers")


class Backtrace(gdb.Command):
    """Prints the calls that a suspended strand has not returned from, the innermost first.

    heddle backtrace NUMBER [SCHEDULER] [all]

    NUMBER as `heddle strands` prints it, SCHEDULER the address there, if several have a strand of that number. Without `all`, calls inside
    of the library are left out. A task's calls are the coroutines that await each other, each with the line where it begins."""

    def __init__(self):
        super().__init__("heddle backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        with_library = "all" in words
        numbers = [word for word in words if word != "all"]
        if not 1 <= len(numbers) <= 2:
            raise gdb.GdbError("usage: heddle backtrace NUMBER [SCHEDULER] [all]")
        wanted = [int(number, 0) for number in numbers]
        in_cxx(lambda: self.print_all(wanted[0], wanted[1] if len(wanted) == 2 else None, with_library))

    def print_all(self, wanted, at, with_library):
        running_now = running()
        found = False
        for scheduler in all_schedulers():
            if at is not None and int(scheduler.address) != at:
                continue
            for number, strand in strands(scheduler):
                if number == wanted:
                    found = True
                    self.print_one(scheduler, number, strand, state(strand, running_now), with_library)
        if not found:
            raise gdb.GdbError("no strand has the number %d; `heddle strands` lists them" % wanted)

    def print_one(self, scheduler, number, strand, says, with_library):
        print("scheduler %#x: %s" % (int(scheduler.address), description(number, strand, says)))
        if says == "runs":
            print("  it runs: the backtrace of its thread is its own")
            return
        if says == "has not started" or not int(strand["runner"]):
            print("  it has no calls yet")
            return
        level = 0
        for function, where, library in calls(strand):
            if with_library or not library:
                print("  #%-2d %s%s" % (level, function, " at " + where if where else ""))
                level += 1


Heddle()
Strands()
Backtrace()
