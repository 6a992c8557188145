"""check_json.py DOCS (EXPORTED STRANDS REPLAYED)...

DuckDB reads what `heddle export --format json` wrote. What it adds up must be what `heddle strands
--json` and `heddle replay` say of the same trace. The queries in the file DOCS, of which
the first one makes a macro, are asked, too, and must have answers. Prints a line of what was compared; ends with exit code 1 at the first difference.
"""

import re
import sys

import duckdb
from timeline import check, read_strands, replayed


def worked_queries(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    section = text[text.index("\n## JSON\n") :]
    return re.findall(r"```sql\n(.*?)```", section, re.S)


def main(queries, exported, strands_path, replay_path):
    rows = duckdb.connect()
    rows.execute(queries[0])
    rows.execute("create table rows as from heddle(?)", [exported])
    strands = read_strands(strands_path)
    asked = rows.execute(
        """
        select strand.pid, strand.strand, any_value(strand.kind), any_value(strand.name), any_value(strand.parent), any_value(strand.resumer),
          any_value(strand.born_ns), any_value(strand.died_ns),
          (select count(*) from rows call where call.row = 'call' and call.pid = strand.pid and call.strand = strand.strand),
          (select coalesce(sum(to_ns - from_ns), 0) from rows pause
           where pause.row = 'pause' and why = 'suspended' and pause.pid = strand.pid and pause.strand = strand.strand)
        from rows strand where strand.row = 'strand' group by all order by all
        """
    ).fetchall()
    keys = ("pid", "strand", "kind", "name", "parent", "resumer", "born_ns", "died_ns", "calls", "suspended_ns")
    expected = sorted((tuple(strand[key] for key in keys) for strand in strands), key=lambda one: one[:2])
    check(sorted(asked, key=lambda one: one[:2]) == expected, "strands:", set(asked) ^ set(expected))
    enters, exits = replayed(replay_path)
    calls = rows.execute("""select enter_ns, "function" from rows where row = 'call'""").fetchall()
    check(sorted(calls) == sorted(enters), "calls that are not replay's:", set(calls) ^ set(enters))
    ends = rows.execute("select exit_ns from rows where row = 'call' and \"end\" = 'returned'").fetchall()
    check(sorted(ends) == sorted((time,) for time, _ in exits), "exits that are not replay's")
    own = rows.execute("select count(*) from rows where row = 'call' and (self_ns > exit_ns - enter_ns or self_ns < 0)").fetchone()
    check(own == (0,), "calls with more time of their own than they took:", own)
    parquet = f"{exported}.calls"
    for query in queries[1:]:
        query = query.replace("'heddle.trace.jsonl'", f"'{exported}'").replace("'calls'", f"'{parquet}'")
        check(rows.execute(query).fetchall(), "no answer to", query)
    copied = rows.execute(f"select pid, strand, enter_ns from read_parquet('{parquet}/host=*/run=*/*.parquet') order by all").fetchall()
    there = rows.execute("select pid, strand, enter_ns from rows where row = 'call' order by all").fetchall()
    check(copied == there, "calls in Parquet:", len(copied))
    print(f"json: {len(strands)} strands, {len(calls)} calls, {len(queries) - 1} queries")


if __name__ == "__main__":
    queries = worked_queries(sys.argv[1])
    check(len(queries) > 1, "no queries in", sys.argv[1])
    for first in range(2, len(sys.argv), 3):
        main(queries, *sys.argv[first : first + 3])
