"""check_json.py (EXPORTED STRANDS REPLAYED)...

DuckDB reads what `heddle export --format json` wrote. What it adds up must be what `heddle strands --json` and `heddle replay` say of the same
trace. Prints a line of what was compared; ends with exit code 1 at the first difference.
"""

import sys

import duckdb
from timeline import check, read_strands, replayed

# All columns, since a trace without pauses has no rows that do.
COLUMNS = """{
  row: 'varchar', host: 'varchar', pid: 'bigint', image: 'bigint', parent_pid: 'bigint', since_1970_ns: 'bigint', program: 'varchar',
  command: 'varchar[]', strand: 'bigint', kind: 'varchar', name: 'varchar', sure: 'boolean', parent: 'bigint', resumer: 'bigint', tid: 'bigint', threads: 'bigint',
  born_ns: 'bigint', died_ns: 'bigint', activations: 'bigint', elapsed_ns: 'bigint', children_ns: 'bigint', suspended_ns: 'bigint',
  calls: 'bigint', function: 'varchar', module: 'varchar', caller: 'varchar', line: 'varchar', enter_ns: 'bigint', exit_ns: 'bigint',
  self_ns: 'bigint', depth: 'bigint', "end": 'varchar', inlined: 'boolean', "values": 'map(varchar, varchar)',
  why: 'varchar', "for": 'varchar', from_ns: 'bigint', to_ns: 'bigint', "by": 'bigint', time_ns: 'bigint', text: 'varchar'
}"""


def rows_of(connection, files):
    """Makes a table of the rows of these files."""
    connection.execute(f"create table rows as from read_json(?, filename = true, columns = {COLUMNS})", [files])


def main(exported, strands_path, replay_path):
    rows = duckdb.connect()
    rows_of(rows, [exported])
    strands = read_strands(strands_path)
    asked = rows.execute(
        """
        select strand.pid, strand.image, strand.strand, any_value(strand.kind), any_value(strand.name), any_value(strand.parent), any_value(strand.resumer),
          any_value(strand.born_ns), any_value(strand.died_ns),
          (select count(*) from rows call where call.row = 'call' and call.pid = strand.pid and call.image = strand.image
           and call.strand = strand.strand),
          any_value(strand.suspended_ns)
        from rows strand where strand.row = 'strand' group by all order by all
        """
    ).fetchall()
    keys = ("pid", "image", "strand", "kind", "name", "parent", "resumer", "born_ns", "died_ns", "calls", "suspended_ns")
    expected = sorted((tuple(strand[key] for key in keys) for strand in strands), key=lambda one: one[:3])
    check(sorted(asked, key=lambda one: one[:3]) == expected, "strands:", set(asked) ^ set(expected))
    # What has not ended is counted up to its process's last event, which may be none of these rows.
    differs = rows.execute(
        """
        with pauses as (
          select pid, image, strand, sum(coalesce(to_ns, from_ns) - from_ns) took, bool_or(to_ns is null) is_open
          from rows where row = 'pause' and why = 'suspended' group by all
        )
        select strand.pid, strand.strand, strand.suspended_ns, took, is_open
        from rows strand left join pauses on (pauses.pid, pauses.image, pauses.strand) = (strand.pid, strand.image, strand.strand)
        where strand.row = 'strand' and not if(coalesce(is_open, false), took <= suspended_ns, coalesce(took, 0) = suspended_ns)
        """
    ).fetchall()
    check(differs == [], "pauses that do not add up to how long the strand was suspended:", differs)
    enters, exits = replayed(replay_path)
    calls = rows.execute("""select enter_ns, "function" from rows where row = 'call'""").fetchall()
    check(sorted(calls) == sorted(enters), "calls that are not replay's:", set(calls) ^ set(enters))
    ends = rows.execute("select exit_ns from rows where row = 'call' and \"end\" = 'returned'").fetchall()
    check(sorted(ends) == sorted((time,) for time, _ in exits), "exits that are not replay's")
    own = rows.execute("select count(*) from rows where row = 'call' and (self_ns > exit_ns - enter_ns or self_ns < 0)").fetchone()
    check(own == (0,), "calls with more time of their own than they took:", own)
    print(f"json: {len(strands)} strands, {len(calls)} calls")


if __name__ == "__main__":
    for first in range(1, len(sys.argv), 3):
        main(*sys.argv[first : first + 3])
