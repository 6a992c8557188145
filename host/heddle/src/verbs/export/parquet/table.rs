//! The tables of a data set, and their columns: docs/export.md.

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::Type;
use std::sync::Arc;

/// A table.
pub struct Table {
    /// Its folder's name.
    pub name: &'static str,
    pub columns: &'static [Field],
}

/// A column.
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether a row may have no value.
    pub optional: bool,
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Text,
    Flag,
}

impl Table {
    /// The table's schema in Parquet's terms.
    pub fn schema(&self) -> Result<Arc<Type>> {
        let fields = self.columns.iter().map(|field| {
            let (physical, logical) = match field.kind {
                Kind::Number => (Physical::INT64, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                Kind::Flag => (Physical::BOOLEAN, None),
            };
            let repetition = match field.optional {
                true => Repetition::OPTIONAL,
                false => Repetition::REQUIRED,
            };
            let column = Type::primitive_type_builder(field.name, physical)
                .with_logical_type(logical)
                .with_repetition(repetition);
            Ok(Arc::new(column.build()?))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder(self.name).with_fields(fields);
        Ok(Arc::new(schema.build()?))
    }
}

const fn number(name: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Number,
        optional: false,
    }
}

const fn text(name: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Text,
        optional: false,
    }
}

const fn flag(name: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Flag,
        optional: false,
    }
}

const fn optional(field: Field) -> Field {
    Field {
        optional: true,
        ..field
    }
}

pub static PROCESSES: Table = Table {
    name: "processes",
    columns: &[
        number("pid"),
        number("image"),
        number("parent_pid"),
        number("since_1970_ns"),
        text("program"),
        text("command"),
    ],
};

pub static STRANDS: Table = Table {
    name: "strands",
    columns: &[
        number("pid"),
        number("image"),
        number("strand"),
        text("kind"),
        text("name"),
        flag("sure"),
        optional(number("parent")),
        optional(number("resumer")),
        optional(number("tid")),
        number("threads"),
        number("born_ns"),
        optional(number("died_ns")),
        number("activations"),
        number("elapsed_ns"),
        number("children_ns"),
        number("suspended_ns"),
        number("calls"),
    ],
};

pub static SPANS: Table = Table {
    name: "spans",
    columns: &[
        number("pid"),
        number("image"),
        number("strand"),
        number("tid"),
        text("function"),
        text("module"),
        text("caller"),
        optional(text("line")),
        number("enter_ns"),
        number("exit_ns"),
        number("self_ns"),
        number("depth"),
        text("end"),
        flag("inlined"),
    ],
};

pub static FUNCTIONS: Table = Table {
    name: "functions",
    columns: &[
        number("pid"),
        number("image"),
        text("function"),
        text("symbol"),
        text("module"),
        number("calls"),
        number("self_ns"),
    ],
};

pub static WAITS: Table = Table {
    name: "waits",
    columns: &[
        number("pid"),
        number("image"),
        number("strand"),
        number("tid"),
        text("why"),
        optional(text("for")),
        number("from_ns"),
        optional(number("to_ns")),
        optional(number("by")),
    ],
};

pub static ARGUMENTS: Table = Table {
    name: "arguments",
    columns: &[
        number("pid"),
        number("image"),
        number("strand"),
        text("function"),
        number("enter_ns"),
        number("depth"),
        text("name"),
        text("value"),
    ],
};

pub static EVENTS: Table = Table {
    name: "events",
    columns: &[
        number("pid"),
        number("image"),
        number("strand"),
        number("tid"),
        number("time_ns"),
        text("kind"),
        text("text"),
    ],
};
