//! A small trace: two threads, a crowd of fibers, and a coroutine that waits for ever.

use heddle_tui::{Function, Graph, GraphRow, LIVED, Model, Place, StrandKey, StrandRow, Strands};
use heddle_view::{
    Builder, Call, Data, Head, Limits, Pause, Process, Run, Strand, StrandKind, Why,
};

const MS: u64 = 1_000_000;

fn function(name: &str, calls: u64, total: u64, own: u64, line: u32) -> Function {
    Function {
        name: name.to_owned(),
        module: "server".to_owned(),
        calls,
        total,
        own,
        min: Some(own / calls.max(1)),
        avg: Some(total / calls.max(1)),
        max: (name != "main").then_some(total),
        place: (line > 0).then(|| Place {
            file: "/src/server.cpp".to_owned(),
            line,
        }),
    }
}

pub fn functions() -> Vec<Function> {
    vec![
        function("serve(connection&)", 300, 90 * MS, 60 * MS, 12),
        function(
            "parse(std::string_view)",
            1_234_567_890,
            30 * MS,
            30 * MS,
            30,
        ),
        function("main", 1, 100 * MS, 5 * MS, 50),
        function(
            "a_function_with_a_name_that_is_much_longer_than_any_terminal_is_wide_and_goes_on(int)",
            7,
            4 * MS,
            4 * MS,
            0,
        ),
    ]
}

pub fn graph() -> Graph {
    let names = [
        "thread server",
        "main",
        "serve(connection&)",
        "parse(std::string_view)",
        "…",
    ];
    let row = |depth, name, calls, total, own, others| GraphRow {
        depth,
        name,
        calls,
        total: total * MS,
        own: own * MS,
        others,
    };
    Graph {
        names: names.map(str::to_owned).to_vec(),
        rows: vec![
            row(0, 0, 1, 100, 0, 0),
            row(1, 1, 1, 100, 5, 0),
            row(2, 2, 300, 90, 60, 0),
            row(3, 3, 1_234_567_890, 29, 29, 0),
            row(3, 4, 900, 1, 0, 41),
            row(2, 3, 3, 1, 1, 0),
        ],
    }
}

fn strand(depth: u32, kind: StrandKind, number: u64, name: u32, waits: u32) -> StrandRow {
    StrandRow {
        depth,
        kind,
        name,
        key: StrandKey { process: 0, number },
        count: 1,
        died: u64::from(waits == LIVED),
        parent: (depth > 0).then_some(1),
        born: number * MS,
        // Those that died did so then.
        last: if number < 5 {
            (100 - number) * MS
        } else {
            90 * MS
        },
        running: 10 * MS,
        children: 0,
        suspended: 70 * MS,
        runs: 12,
        calls: 34,
        waits,
    }
}

pub fn strands() -> Strands {
    let texts = [
        "server",
        "job()",
        "fetch(int)",
        "left at server.cpp:44 on Timer",
        "waits: mutex cache, at server.cpp:80",
        "2 left at job()",
    ];
    let mut rows = vec![
        strand(0, StrandKind::Thread, 1, 0, LIVED),
        strand(1, StrandKind::Thread, 2, 0, 4),
        StrandRow {
            count: 5,
            died: 3,
            waits: 5,
            ..strand(1, StrandKind::Fiber, 3, 1, LIVED)
        },
    ];
    rows.extend((3..8).map(|number| strand(2, StrandKind::Fiber, number, 1, LIVED)));
    rows.push(strand(1, StrandKind::Coroutine, 8, 2, 3));
    Strands {
        texts: texts.map(str::to_owned).to_vec(),
        rows,
        unlisted: 0,
    }
}

pub fn timeline() -> Data {
    let kinds = [
        (StrandKind::Thread, "server"),
        (StrandKind::Thread, "worker"),
        (StrandKind::Fiber, "job()"),
        (StrandKind::Fiber, "job()"),
        (StrandKind::Coroutine, "fetch(int)"),
    ];
    let strands = kinds.iter().zip(1..).map(|(&(kind, name), number)| Strand {
        process: 0,
        number,
        kind,
        tid: (kind == StrandKind::Thread).then_some(4710 + number as u32),
        thread: 0,
        name: name.to_owned(),
        parent: (number > 1).then_some(1),
        resumer: None,
        born: if number > 2 { number * 5 * MS } else { 0 },
        died: (number < 5).then_some((100 - number) * MS),
        running: 20 * MS,
        suspended: 50 * MS,
        activations: 3,
        calls: 9,
    });
    let head = Head::default();
    let processes = vec![Process {
        id: "4711".to_owned(),
        name: "server".to_owned(),
    }];
    let limits = Limits {
        calls: 6,
        ..Limits::default()
    };
    let mut builder = Builder::new(head, processes, strands.collect(), &limits);
    let mut named = |name: &str| {
        builder.function(heddle_view::Function {
            name: name.to_owned(),
            module: "server".to_owned(),
        })
    };
    let (main, serve) = (named("main"), named("serve(connection&)"));
    let parse = named("parse(std::string_view)");
    let site = builder.text("server.cpp:51");
    let mut call = |strand, depth, function, enter: u64, exit: u64| {
        builder.call(Call {
            strand,
            thread: 0,
            function,
            site,
            enter,
            exit,
            own: (exit - enter) / 2,
            depth,
            open: false,
            returned: true,
        });
    };
    call(0, 0, main, 0, 99 * MS);
    call(0, 1, serve, 2 * MS, 40 * MS);
    call(0, 1, serve, 45 * MS, 90 * MS);
    call(1, 0, serve, 10 * MS, 30 * MS);
    call(1, 0, serve, 60 * MS, 80 * MS);
    call(4, 0, serve, 26 * MS, 36 * MS);
    for short in 0..400 {
        let enter = 3 * MS + short * 90_000;
        call(0, 2, parse, enter, enter + 1000 + 200 * (short % 200));
    }
    let (reason, place) = (builder.text("mutex cache"), builder.text("server.cpp:80"));
    let pause = Pause {
        strand: 1,
        from: 30 * MS,
        to: 60 * MS,
        open: false,
        why: Why::Lock,
        reason,
        place,
        function: Some(serve),
        by: None,
        destroyed: false,
        holder: Some(0),
        thread: Some(1),
    };
    builder.pause(pause, 0);
    builder.pause(
        Pause {
            strand: 4,
            from: 40 * MS,
            to: u64::MAX,
            open: true,
            why: Why::Suspended,
            holder: None,
            by: Some(0),
            thread: Some(0),
            ..pause
        },
        0,
    );
    builder.run(Run {
        strand: 2,
        thread: 0,
        from: 16 * MS,
        to: 20 * MS,
        by: Some(0),
    });
    builder.finish()
}

/// All of it.
pub fn model() -> Model {
    let mut model = Model {
        processes: vec!["4711".to_owned()],
        functions: Some(functions()),
        graph: Some(graph()),
        strands: Some(strands()),
        timeline: Some(timeline()),
        ..Model::default()
    };
    model.head.title = "heddle.trace".to_owned();
    model.head.command = "./server --port 8080".to_owned();
    model.head.notes = vec![
        "server (4711) was killed: what had not ended is drawn up to its last event, and marked."
            .to_owned(),
    ];
    let line = |line| format!("  line {line} of the source;");
    let lines = (1..=100).map(line).collect();
    model.sources.insert(
        "/src/server.cpp".to_owned(),
        Some(std::sync::Arc::new(lines)),
    );
    model
}
