"""The functions that took longest themselves, on each host, by Spark.

spark-submit examples/queries/traces.py traces

`traces` is the folder that `heddle export --format parquet -o traces` wrote: of one trace, or of all
that were recorded on many hosts (docs/export.md).
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def main(traces):
    spark = SparkSession.builder.appName("heddle").getOrCreate()
    ms = lambda column: f.round(column / 1e6, 6)
    # host and run are the folders' names.
    spark.read.parquet(f"{traces}/spans").groupBy("host", "function").agg(
        f.countDistinct("run").alias("runs"),
        f.count("*").alias("calls"),
        ms(f.sum("self_ns")).alias("self_ms"),
        ms(f.max(f.col("exit_ns") - f.col("enter_ns"))).alias("slowest_ms"),
    ).select("host", "runs", "calls", "self_ms", "slowest_ms", "function").orderBy(
        "host", f.desc("self_ms"), "function"
    ).show(1000, truncate=False)


main(sys.argv[1])
