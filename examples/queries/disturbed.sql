-- The minutes in which samples took longest, compared with their cell's median: when was the
-- machine disturbed?
WITH relative AS (
  SELECT
    machine.host AS host, time_bucket(INTERVAL 1 minute, make_timestamp_ns(started_ns)) AS minute,
    process.wall_ns / median(process.wall_ns) OVER (PARTITION BY machine, experiment, model, point)
      AS times_median
  FROM samples
)
SELECT host, minute, count(*) AS samples, median(times_median) AS times_median
FROM relative
GROUP BY ALL
ORDER BY times_median DESC
LIMIT 20;
