use crate::arguments::Arguments;
use crate::rows::Measured;

/// The JSON line of docs/workloads.md. Nothing in it needs to be escaped.
pub fn line(arguments: &Arguments, measured: &Measured) -> String {
    let Arguments {
        row,
        strands,
        count,
        ..
    } = arguments;
    let Measured {
        time,
        operations,
        done,
        wrong,
        strand_bytes,
    } = measured;
    let (row, wall_ns) = (row.name(), time.wall.as_nanos());
    let ok = done == operations && *wrong == 0;
    let checked = if ok {
        format!("{operations} operations of row {row}")
    } else {
        format!(
            "expected: {operations} operations of row {row}; there were {done}, of which {wrong} were out of turn"
        )
    };
    let op_ns = wall_ns as f64 / *operations as f64;
    let cpu_ns = time.cpu_ns;
    let op_cpu_ns = cpu_ns as f64 / *operations as f64;
    let bytes =
        strand_bytes.map_or_else(String::new, |bytes| format!(", \"strand_bytes\": {bytes}"));
    format!(
        "{{\"workload\": \"coop-speed\", \"model\": \"tokio\", \
         \"params\": {{\"row\": \"{row}\", \"strands\": {strands}, \"count\": {count}}}, \
         \"oracle\": {{\"ok\": {ok}, \"checked\": \"{checked}\"}}, \
         \"metrics\": {{\"wall_ns\": {wall_ns}, \"cpu_ns\": {cpu_ns}, \"op_ns\": {op_ns}, \"op_cpu_ns\": {op_cpu_ns}, \"operations\": {operations}{bytes}}}, \
         \"build\": {{\"compiler\": \"rustc\", \"flags\": \"--release\"}}}}"
    )
}
