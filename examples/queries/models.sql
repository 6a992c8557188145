-- How many times worse than the best each model is, at each place and on each machine by itself:
-- times of different machines are not compared. Where an experiment's metric is not wall_ns, name
-- it here.
WITH cells AS (
  SELECT
    machine.cpu AS cpu, machine.cpus AS cpus, experiment, point, model,
    median(metrics['wall_ns']) AS ns, count(*) AS samples
  FROM samples
  WHERE status = 'ok' AND metrics['wall_ns'] IS NOT NULL
  GROUP BY ALL
)
SELECT
  experiment, point, model, cpu, cpus, samples, ns,
  ns / min(ns) OVER (PARTITION BY cpu, cpus, experiment, point) AS times_worse
FROM cells
ORDER BY experiment, point, cpu, cpus, times_worse;
