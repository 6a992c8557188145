//! Indexes of `heddle tui`: of nothing, and of a little of everything.

use super::Corpus;
use heddle_fuzz::index_origin;
use heddle_tui::{
    Function, Graph, GraphRow, LIVED, Model, Place, StrandKey, StrandRow, Strands, index,
};
use heddle_view::{
    Builder, Call, Event, Head, Limits, Pause, Process, Run, Strand, StrandKind, Why,
};

/// Each whole, and its content alone, to which the target puts a head that is right.
pub fn write(corpus: &Corpus) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("index");
    for (name, model) in [("empty", Model::default()), ("small", small())] {
        index::write(&path, &index_origin(), &model).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        corpus.add(name, &bytes);
        corpus.add(&format!("{name}-content"), &bytes[32..]);
    }
}

fn small() -> Model {
    let function = |name: &str, own| Function {
        name: name.to_owned(),
        module: "app".to_owned(),
        calls: 3,
        total: 2 * own,
        own,
        min: Some(1),
        avg: Some(own / 3),
        max: None,
        place: Some(Place {
            file: "/tmp/app.c".to_owned(),
            line: 7,
        }),
    };
    let row = |depth, name| GraphRow {
        depth,
        name,
        calls: 1,
        total: 900 - u64::from(depth),
        own: 10,
        others: 0,
    };
    let strand = |depth, kind, number, waits| StrandRow {
        depth,
        kind,
        name: 0,
        key: StrandKey { process: 0, number },
        count: 1,
        died: 0,
        parent: (number > 1).then_some(1),
        born: 5,
        last: 900,
        running: 400,
        children: 3,
        suspended: 100,
        runs: 2,
        calls: 4,
        waits,
    };
    Model {
        head: Head {
            title: "heddle.trace".to_owned(),
            command: "./app 1".to_owned(),
            host: "host".to_owned(),
            since_1970: 1,
            notes: vec!["app (1) was killed.".to_owned()],
        },
        processes: vec!["1".to_owned()],
        functions: Some(vec![function("main", 400), function("work(int)", 90)]),
        graph: Some(Graph {
            names: vec!["thread app".to_owned(), "main".to_owned()],
            rows: vec![row(0, 0), row(1, 1), row(2, 1)],
        }),
        strands: Some(Strands {
            texts: vec!["app".to_owned(), "waits: mutex m".to_owned()],
            rows: vec![
                strand(0, StrandKind::Thread, 1, LIVED),
                strand(1, StrandKind::Fiber, 2, 1),
            ],
            unlisted: 4,
        }),
        timeline: Some(timeline()),
        ..Model::default()
    }
}

fn timeline() -> heddle_view::Data {
    let strand = |number, kind| Strand {
        process: 0,
        number,
        kind,
        tid: (number == 1).then_some(1),
        thread: 0,
        name: "app".to_owned(),
        parent: (number > 1).then_some(1),
        resumer: None,
        born: 0,
        died: None,
        running: 400,
        suspended: 100,
        activations: 2,
        calls: 4,
    };
    let strands = vec![strand(1, StrandKind::Thread), strand(2, StrandKind::Fiber)];
    let process = Process {
        id: "1".to_owned(),
        name: "app".to_owned(),
    };
    let limits = Limits {
        calls: 3,
        ..Limits::default()
    };
    let mut builder = Builder::new(Head::default(), vec![process], strands, &limits);
    let function = builder.function(heddle_view::Function {
        name: "main".to_owned(),
        module: "app".to_owned(),
    });
    let text = builder.text("app.c:7");
    for depth in 0..6 {
        builder.call(Call {
            strand: depth % 2,
            thread: 0,
            function,
            site: text,
            enter: 10 * u64::from(depth),
            exit: 900 - 100 * u64::from(depth),
            own: 10,
            depth,
            open: depth == 0,
            returned: depth != 0,
        });
    }
    builder.pause(
        Pause {
            strand: 0,
            from: 20,
            to: 700,
            open: false,
            why: Why::Lock,
            reason: text,
            place: text,
            function: Some(function),
            destroyed: false,
            by: Some(1),
            holder: Some(1),
            thread: Some(0),
        },
        0,
    );
    builder.run(Run {
        strand: 1,
        thread: 0,
        from: 30,
        to: 60,
        by: Some(0),
    });
    builder.event(Event {
        strand: 0,
        time: 50,
        text,
    });
    builder.finish()
}
