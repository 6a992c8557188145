//! What happens on a track.

use crate::wire::Message;

/// How an event is called.
#[derive(Clone, Copy, Debug)]
pub enum Name<'a> {
    /// By a name that was interned under this number.
    Interned(u64),
    /// By this text.
    Text(&'a str),
}

/// The beginning of a slice, or an instant.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Number of its category.
    pub category: Option<u64>,
    /// Number of its place in the source.
    pub location: Option<u64>,
    /// Numbers of the flows that go through it, or begin here.
    pub flows: &'a [u64],
    /// Numbers of the flows that end here.
    pub arriving: &'a [u64],
    /// What else is to be said.
    pub annotations: &'a [Annotation],
    /// More, with their names, as text.
    pub texts: &'a [(String, String)],
}

/// Appends text that is said about an event.
pub(crate) fn write_texts(event: &mut Message<'_>, texts: &[(String, String)]) {
    for (name, text) in texts {
        event.message(4, |message| {
            message.text(10, name).text(6, text);
        });
    }
}

/// A word about an event.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    /// Number of its interned name.
    pub name: u64,
    /// What it says.
    pub value: Value,
}

/// What an annotation says.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A number.
    Number(u64),
    /// An address.
    Pointer(u64),
}

impl<'a> Begin<'a> {
    /// A slice or an instant with this name and nothing else.
    pub fn named(name: Name<'a>) -> Self {
        Begin {
            name,
            category: None,
            location: None,
            flows: &[],
            arriving: &[],
            annotations: &[],
            texts: &[],
        }
    }

    /// A function's call: name and source location are interned under the same number.
    #[inline]
    pub fn call(function: u64, category: Option<u64>) -> Self {
        Begin {
            category,
            location: Some(function),
            ..Begin::named(Name::Interned(function))
        }
    }

    /// Whether [`Begin::numbers`] are all that there is to say.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.name, Name::Interned(_))
            && self.flows.is_empty()
            && self.arriving.is_empty()
            && self.annotations.is_empty()
            && self.texts.is_empty()
    }

    /// The fields of `TrackEvent` that are numbers of what is interned, each with its field's.
    #[inline]
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (u64, u64)> {
        let name = match self.name {
            Name::Interned(number) => Some((10, number)),
            Name::Text(_) => None,
        };
        let category = self.category.map(|category| (3, category));
        let location = self.location.map(|location| (34, location));
        [name, category, location].into_iter().flatten()
    }

    /// Appends the fields of `TrackEvent`.
    pub(crate) fn write(&self, event: &mut Message<'_>) {
        if let Name::Text(text) = self.name {
            event.text(23, text);
        }
        for (field, number) in self.numbers() {
            event.number(field, number);
        }
        for &flow in self.flows {
            event.fixed(47, flow);
        }
        for &flow in self.arriving {
            event.fixed(48, flow);
        }
        for annotation in self.annotations {
            event.message(4, |message| {
                message.number(1, annotation.name);
                match annotation.value {
                    Value::Number(number) => message.number(3, number),
                    Value::Pointer(address) => message.number(7, address),
                };
            });
        }
        write_texts(event, self.texts);
    }
}
