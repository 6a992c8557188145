"""check_spark.py DOCS QUERY (EXPORTED STRANDS REPLAYED)...

Parquet files of all traces, which DuckDB makes as the file DOCS says, are read by the Spark program QUERY: its answers must be what DuckDB adds
up of the exported rows. Half of the traces are said to be of another host. Prints a line of what was compared; ends with exit code 1 at the first difference.
"""

import json
import os
import subprocess
import sys
import tempfile

import duckdb
from check_json import worked_queries
from timeline import check

EXPECTED = """
  with hosts as (select filename, any_value(host) as host from rows where row = 'process' group by filename)
  select hosts.host, count(distinct filename), count(*), sum(self_ns) / 1e6, max(exit_ns - enter_ns) / 1e6, function
  from rows join hosts using (filename) where row = 'call' group by hosts.host, function order by all
"""


def answers(text):
    """Rows of a table that Spark shows. The function comes last, because a name may hold a bar."""
    lines = [line[1:-1].split("|", 5) for line in text.splitlines() if line.startswith("|")]
    rows = [[field.strip() for field in line] for line in lines]
    check(rows and rows[0] == ["host", "runs", "calls", "self_ms", "slowest_ms", "function"], "columns:", text)
    return sorted((host, int(runs), int(calls), float(own), float(slowest), name) for host, runs, calls, own, slowest, name in rows[1:])


def of_another_host(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            if row["row"] == "process":
                row["host"] = "another"
            file.write(json.dumps(row) + "\n")


def main(docs, query, exported):
    queries = worked_queries(docs)
    for file in exported[::2]:
        of_another_host(file)
    with tempfile.TemporaryDirectory() as folder:
        calls = os.path.join(folder, "calls")
        rows = duckdb.connect()
        rows.execute(queries[0])
        for file in exported:
            rows.execute(queries[-1].replace("'heddle.trace.jsonl'", f"'{file}'").replace("'calls'", f"'{calls}'"))
        rows.execute("create table rows as from heddle(?)", [exported])
        expected = rows.execute(EXPECTED).fetchall()
        # spark-submit asks the first python3 of PATH where Spark is.
        here = os.path.dirname(sys.executable)
        path = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}"}
        submit = [f"{here}/spark-submit", "--master", "local[2]", query, calls]
        spark = subprocess.run(submit, capture_output=True, text=True, env=path)
        check(spark.returncode == 0, "spark-submit:", spark.stderr[-2000:])
        asked = answers(spark.stdout)
    check(len(asked) == len(expected) and expected, "functions:", len(asked), len(expected))
    for one, other in zip(asked, expected):
        check(one[:3] == other[:3] and one[5] == other[5], "Spark:", one, "DuckDB:", other)
        near = all(abs(one[at] - float(other[at])) < 1e-5 for at in (3, 4))
        check(near, "times of Spark:", one, "DuckDB:", other)
    hosts = {row[0] for row in asked}
    check(len(hosts) == 2, "hosts:", hosts)
    print(f"Spark: {len(asked)} functions of {len(exported)} traces of {len(hosts)} hosts, {sum(row[2] for row in asked)} calls")


main(sys.argv[1], sys.argv[2], sys.argv[3::3])
