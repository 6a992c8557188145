"""gdb's view of the strands of heddle::coop: in a running program, or in a core file of one.

    gdb -x heddle_gdb.py ./app core
    (gdb) heddle strands

prints what scheduler::dump() would, and where each strand that waits has stopped. It reads memory and calls nothing. The library has to be built
with -g.
"""

import gdb

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
    nodes = chain(strand["waits"], "sibling") if int(strand["several"]) else [strand["waits"]] if int(strand["waits"]) else []
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


def source_of(address):
    begin = gdb.find_pc_line(address)
    return "%s:%d" % (begin.symtab.filename.rsplit("/", 1)[-1], begin.line) if begin.symtab is not None else None


def function_at(address):
    """The program's own function, as FILE:LINE, that this code was compiled for: the innermost that is not a part of the library."""
    block = gdb.block_for_pc(address)
    while block is not None:
        function = block.function
        if function is not None and not function.print_name.startswith("heddle::coop::"):
            return source_of(block.start)
        block = block.superblock
    return None


def stopped_in(strand):
    """The function in which a strand that waits has stopped, as FILE:LINE; None if nobody knows."""
    try:
        if str(strand["kind"]).endswith("::task"):
            # A frame begins with what is called to resume it.
            frame = strand["resume_at"].cast(gdb.lookup_type("unsigned long").pointer())
            return source_of(int(frame.dereference()))
        return function_at(int(strand["runner"]["context"]["switch_"]["ip"]))
    except gdb.error:  # another mechanism of switching, or memory that the core file lacks
        return None


class Heddle(gdb.Command):
    """Strands of heddle::coop."""

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_STACK, prefix=True)


class Strands(gdb.Command):
    """Lists every strand that has not ended: its number, its name, what it waits for, and the function that it waits in."""

    def __init__(self):
        super().__init__("heddle strands", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        # Where the program stopped may be C or assembly, in which gdb parses no C++ names.
        language = gdb.parameter("language")
        gdb.execute("set language c++", to_string=True)
        try:
            self.list_all()
        finally:
            gdb.execute("set language " + language, to_string=True)

    def list_all(self):
        try:
            all_of_them = schedulers()
        except gdb.error as error:
            raise gdb.GdbError(
                "no schedulers found (%s): is this program linked with heddle::coop, is that built with -g, and does it run, or is there a core file?" % error
            )
        running_now = running()
        for scheduler in all_of_them:
            found = list(strands(scheduler))
            print("scheduler %#x: %d strand%s" % (int(scheduler.address), len(found), "" if len(found) == 1 else "s"))
            for number, strand in found:
                line = "  strand %d" % number
                if int(strand["rare"]):
                    name = text_of(strand["rare"]["name"])
                    if name:
                        line += ' "%s"' % name
                says = state(strand, running_now)
                line += " " + says
                where = stopped_in(strand) if says.startswith(("waits", "sleeps")) else None
                print(line + (", in " + where if where else ""))
        if not all_of_them:
            print("no schedulers")


Heddle()
Strands()
