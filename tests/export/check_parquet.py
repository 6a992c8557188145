"""check_parquet.py DOCS DATA-SET (JSON STRANDS REPLAYED)...

DuckDB reads the data set that `heddle export --format parquet` made of several traces, some of which are said to be of another host: each row of
each table must be in what `heddle export --format json` wrote of them, and the other way round. The queries in the file DOCS are asked, too, and
must have answers. Prints a line of what was compared; ends with exit code 1 at the first difference.
"""

import os
import re
import sys

import duckdb
from check_json import rows_of
from timeline import check

# By table: its rows among those of JSON, as `host, run` and its columns.
EXPECTED = {
    "processes": """pid, image, parent_pid, since_1970_ns, program, array_to_string(command, ' ') as command from rows where row = 'process'""",
    "strands": """pid, image, strand, kind, name, sure, parent, resumer, tid, threads, born_ns, died_ns, activations, elapsed_ns, children_ns, suspended_ns,
        calls from rows where row = 'strand'""",
    "spans": """pid, image, strand, tid, function, module, caller, line, enter_ns, exit_ns, self_ns, depth, "end", coalesce(inlined, false) as inlined
        from rows where row = 'call'""",
    "waits": """pid, image, strand, tid, why, "for", from_ns, to_ns, "by" from rows where row = 'pause'""",
    "arguments": """pid, image, strand, function, enter_ns, depth, entry.key as name, entry.value as value
        from (select *, unnest(map_entries("values")) as entry from rows where row = 'call')""",
    "events": """pid, image, strand, tid, time_ns, kind, text from rows where row = 'event'""",
}


def worked_queries(path, folder):
    """The queries of the section on Parquet, of the data set in `folder`."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    section = re.search(r"\n## Parquet\n(.*?)\n## ", text, re.S).group(1)
    queries = [query.replace("'traces/", f"'{folder}/") for query in re.findall(r"```sql\n(.*?)```", section, re.S)]
    # By table: the columns that are listed.
    tables = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", section, re.M)
    return queries, {name: re.findall(r"`(\w+)`", columns) for name, columns in tables}


def main(docs, folder, exported):
    asked = duckdb.connect()
    rows_of(asked, exported)
    queries, documented = worked_queries(docs, folder)
    table = lambda name: f"read_parquet('{folder}/{name}/*/*/*.parquet', hive_types_autocast = false)"
    check(sorted(os.listdir(folder)) == sorted(documented), "tables:", os.listdir(folder), "documented:", documented)
    # Which run each file of rows is.
    asked.execute(
        f"""create table runs as select trace.filename, any_value(there.host) as host, any_value(run) as run from rows trace
        join {table("processes")} there using (pid, since_1970_ns) where row = 'process' group by trace.filename"""
    )
    count = asked.execute("select count(*), count(distinct run), count(distinct host) from runs").fetchone()
    check(count == (len(exported), len(exported), 2), "runs:", count, len(exported))
    asked.execute("create view all_rows as select runs.host as host_, run, rows.* exclude (host) from rows join runs using (filename)")
    found = {}
    for name, query in EXPECTED.items():
        query = "select host_ as host, run, " + query.replace("from rows", "from all_rows")
        columns = [column[0] for column in asked.execute(f"select * from ({query}) limit 0").description]
        check(columns[2:] == documented[name], name, "has columns:", columns, "documented:", documented[name])
        # The clock of a recording of less than 10 ms is measured when it is read, so its times may differ by a nanosecond.
        times = [column for column in columns if column.endswith("_ns") and column != "since_1970_ns"]
        others = ", ".join(f'"{column}"' for column in columns if column not in times)
        one, other = f"select {others} from ({query})", f"select {others} from {table(name)}"
        for here, there in ((one, other), (other, one)):
            differing = asked.execute(f"({here}) except all ({there}) limit 3").fetchall()
            check(not differing, name, "differs:", differing)
        strand = "host, run, pid, image" + (", strand" if "strand" in columns else "")
        for time in times:
            in_order = f"select {time} as time, row_number() over (order by {strand}, {time} nulls first) as number from "
            furthest = asked.execute(
                f"""select coalesce(max(abs(here.time - there.time)), 0), count(*) filter ((here.time is null) <> (there.time is null))
                from ({in_order} ({query})) here join ({in_order} {table(name)}) there using (number)"""
            ).fetchone()
            check(furthest[0] <= 10 and furthest[1] == 0, name, time, "differs by up to", furthest[0], "ns, null or not:", furthest[1])
        found[name] = asked.execute(f"select count(*) from {table(name)}").fetchone()[0]
        check(found[name] > 0, "no rows of", name)
    sums = "select host, run, pid, image, function, module, {} from {} group by all"
    functions = sums.format("sum(calls), sum(self_ns)", table("functions"))
    called = sums.format("count(*), sum(self_ns)", table("spans"))
    for one, other in ((functions, called), (called, functions)):
        differing = asked.execute(f"({one}) except all ({other}) limit 3").fetchall()
        check(not differing, "functions differ:", differing)
    of_host = asked.execute(f"select host, count(distinct run) from {table('spans')} group by host").fetchall()
    check(len(of_host) == 2 and sum(count for _, count in of_host) == len(exported), "hosts:", of_host)
    for query in queries:
        check(asked.execute(query).fetchall(), "no answer to", query)
    print(f"Parquet: {len(exported)} traces of 2 hosts,", ", ".join(f"{count} {name}" for name, count in found.items()), f"and {len(queries)} queries")


if __name__ == "__main__":
    # A packed trace is the same run.
    main(sys.argv[1], sys.argv[2], [file for file in sys.argv[3::3] if ".packed." not in file])
