"""The samples of reports as Parquet, and the models at each place, by Spark.

spark-submit examples/queries/spark.py results.parquet report/results.jsonl...
"""

import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as f

# Maps, because each workload has its own parameters, metrics and counters.
SAMPLES = """
    experiment string, workload string, model string,
    point map<string, string>, params map<string, string>,
    sample bigint, `order` bigint, seed decimal(20, 0), started_ns bigint,
    status string, detail string, checked string, ran string, result string,
    command array<string>,
    metrics map<string, double>, counters map<string, double>,
    process struct<wall_ns: bigint, user_ns: bigint, sys_ns: bigint, peak_rss_bytes: bigint,
                   voluntary_switches: bigint, involuntary_switches: bigint>,
    around struct<wake_ns: double, ghz: double, steal: double, others: double>,
    build map<string, string>,
    machine struct<host: string, cpu: string, cpus: bigint, memory_bytes: bigint, kernel: string,
                   system: string>
"""


def main(parquet, results):
    spark = SparkSession.builder.appName("heddle").getOrCreate()
    # FAILFAST: a line that is no sample ends it, instead of a row of nulls.
    samples = spark.read.schema(SAMPLES).option("mode", "FAILFAST").json(results)
    samples.write.mode("overwrite").parquet(parquet)

    samples = spark.read.parquet(parquet)
    # Each machine by itself: times of different machines are not compared. Maps cannot be grouped
    # by, their text can.
    ns = f.col("metrics")["wall_ns"]
    cells = (
        samples.where((f.col("status") == "ok") & ns.isNotNull())
        .groupBy("experiment", f.to_json("point").alias("point"), "model", "machine.cpu", "machine.cpus")
        .agg(f.count("*").alias("samples"), f.median(ns).alias("ns"))
    )
    place = Window.partitionBy("experiment", "point", "cpu", "cpus")
    cells.withColumn("times_worse", f.col("ns") / f.min("ns").over(place)).orderBy(
        "experiment", "point", "cpu", "cpus", "times_worse"
    ).show(1000, truncate=False)


main(sys.argv[1], sys.argv[2:])
