-- The minutes in which samples took longest, compared with their cell's median, and what the machine
-- was like then: was it other programs, the host, the clock, or a costlier wake?
WITH relative AS (
  SELECT
    machine.host AS host, time_bucket(INTERVAL 1 minute, make_timestamp_ns(started_ns)) AS minute,
    process.wall_ns / median(process.wall_ns) OVER (PARTITION BY machine, experiment, model, point)
      AS times_median,
    around
  FROM samples
)
SELECT
  host, minute, count(*) AS samples, median(times_median) AS times_median,
  median(around.wake_ns) AS wake_ns, median(around.ghz) AS ghz, avg(around.steal) AS steal,
  avg(around.others) AS others
FROM relative
GROUP BY ALL
ORDER BY times_median DESC
LIMIT 20;
