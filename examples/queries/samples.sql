-- The samples of a report as a table, for DuckDB, and as Parquet. Two lines name the files:
SET VARIABLE results = 'report/results.jsonl';
SET VARIABLE parquet = 'results.parquet';

-- Maps, because each workload has its own parameters, metrics and counters. JSON's numbers in
-- `point` and `params` become text: an experiment may sweep words.
CREATE OR REPLACE TABLE samples AS
SELECT * FROM read_json(getvariable('results'), format = 'newline_delimited', columns = {
  experiment: 'VARCHAR', workload: 'VARCHAR', model: 'VARCHAR',
  point: 'MAP(VARCHAR, VARCHAR)', params: 'MAP(VARCHAR, VARCHAR)',
  sample: 'BIGINT', "order": 'BIGINT', seed: 'UBIGINT', started_ns: 'BIGINT',
  status: 'VARCHAR', detail: 'VARCHAR', checked: 'VARCHAR', ran: 'VARCHAR', result: 'VARCHAR',
  command: 'VARCHAR[]',
  metrics: 'MAP(VARCHAR, DOUBLE)', counters: 'MAP(VARCHAR, DOUBLE)',
  process: 'STRUCT(wall_ns BIGINT, user_ns BIGINT, sys_ns BIGINT, peak_rss_bytes BIGINT,
                   voluntary_switches BIGINT, involuntary_switches BIGINT)',
  around: 'STRUCT(wake_ns DOUBLE, ghz DOUBLE, steal DOUBLE, others DOUBLE)',
  build: 'MAP(VARCHAR, VARCHAR)',
  machine: 'STRUCT(host VARCHAR, cpu VARCHAR, cpus BIGINT, memory_bytes BIGINT, kernel VARCHAR,
                   "system" VARCHAR)'
});

COPY samples TO (getvariable('parquet')) (FORMAT parquet, COMPRESSION zstd);
