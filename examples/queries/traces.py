"""The functions that took longest themselves, on each host, by Spark.

spark-submit examples/queries/traces.py calls

`calls` is the folder of Parquet files that docs/export.md makes of traces: of one, or of all that
were recorded on many hosts.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def main(calls):
    spark = SparkSession.builder.appName("heddle").getOrCreate()
    ms = lambda column: f.round(column / 1e6, 6)
    # host and run are the folders' names.
    spark.read.parquet(calls).groupBy("host", "function").agg(
        f.countDistinct("run").alias("runs"),
        f.count("*").alias("calls"),
        ms(f.sum("self_ns")).alias("self_ms"),
        ms(f.max(f.col("exit_ns") - f.col("enter_ns"))).alias("slowest_ms"),
    ).select("host", "runs", "calls", "self_ms", "slowest_ms", "function").orderBy(
        "host", f.desc("self_ms"), "function"
    ).show(1000, truncate=False)


main(sys.argv[1])
