"""check_spark.py QUERY DATA-SET (EXPORTED STRANDS REPLAYED)...

The Spark program QUERY reads the data set that `heddle export --format parquet` made of several traces, some of which are said to be of another
host: its answers must be what DuckDB adds up of the same traces' rows of JSON. Prints a line of what was compared; ends with exit code 1 at the
first difference.
"""

import os
import subprocess
import sys

import duckdb
from check_json import rows_of
from timeline import check

# A trace and its packed file are the same run.
EXPECTED = """
  with hosts as (select filename, any_value(host) as host from rows where row = 'process' group by filename)
  select hosts.host, count(distinct filename), count(*), sum(self_ns) / 1e6, max(exit_ns - enter_ns) / 1e6, function
  from rows join hosts using (filename) where row = 'call' and not contains(filename, '.packed.') group by hosts.host, function order by all
"""


def answers(text):
    """Rows of a table that Spark shows. The function comes last, because a name may hold a bar."""
    lines = [line[1:-1].split("|", 5) for line in text.splitlines() if line.startswith("|")]
    rows = [[field.strip() for field in line] for line in lines]
    check(rows and rows[0] == ["host", "runs", "calls", "self_ms", "slowest_ms", "function"], "columns:", text)
    return sorted((host, int(runs), int(calls), float(own), float(slowest), name) for host, runs, calls, own, slowest, name in rows[1:])


def main(query, traces, exported):
    rows = duckdb.connect()
    rows_of(rows, exported)
    expected = rows.execute(EXPECTED).fetchall()
    # spark-submit asks the first python3 of PATH where Spark is.
    here = os.path.dirname(sys.executable)
    path = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}"}
    submit = [f"{here}/spark-submit", "--master", "local[2]", query, traces]
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
    print(f"Spark: {len(asked)} functions of {len(exported) // 2} traces of {len(hosts)} hosts, {sum(row[2] for row in asked)} calls")


main(sys.argv[1], sys.argv[2], sys.argv[3::3])
