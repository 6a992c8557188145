//! Values as text: `n = 5, name = "abc"`.

use super::long_double;
use super::recorded::Recorded;
use heddle_symbols::steers;
use heddle_trace_file::{Missing, Of, Shapes, Value};
use std::fmt::Write;

/// The arguments of a call, `n = 5, name = "abc"`; `function` names the function at an address.
/// Empty where the trace does not say what the values are.
pub fn argument_list(
    recorded: &Recorded,
    shapes: &Shapes,
    function: &mut dyn FnMut(u64) -> Option<String>,
) -> String {
    let mut text = String::new();
    for (name, value) in read(recorded, shapes) {
        if !text.is_empty() {
            text += ", ";
        }
        if !name.is_empty() {
            text += &printable(&name);
            text += " = ";
        }
        write(&mut text, &value, function);
    }
    text
}

/// The result of a call, `8`; `None` where the trace does not say what it is.
pub fn result_text(
    recorded: &Recorded,
    shapes: &Shapes,
    function: &mut dyn FnMut(u64) -> Option<String>,
) -> Option<String> {
    let (_, value) = read(recorded, shapes).into_iter().next()?;
    let mut text = String::new();
    write(&mut text, &value, function);
    Some(text)
}

/// Each value as text, with its name: a result's is `result`, and a parameter's that has none is
/// its number.
pub fn named_values(recorded: &Recorded, shapes: &Shapes) -> Vec<(String, String)> {
    let of = recorded.values().of;
    let values = read(recorded, shapes).into_iter().enumerate();
    let values = values.map(|(index, (name, value))| {
        let mut text = String::new();
        write(&mut text, &value, &mut |_| None);
        let name = match (name.is_empty(), of) {
            (false, _) => printable(&name),
            (true, Of::Result) => "result".to_owned(),
            (true, Of::Arguments) => format!("{}", index + 1),
        };
        (name, text)
    });
    values.collect()
}

fn read(recorded: &Recorded, shapes: &Shapes) -> Vec<(String, Value)> {
    let values = recorded.values();
    let shape = shapes.get(values.shape);
    shape
        .and_then(|shape| values.read(shape))
        .unwrap_or_default()
}

fn printable(name: &str) -> String {
    crate::names::printable(name)
}

fn write(text: &mut String, value: &Value, function: &mut dyn FnMut(u64) -> Option<String>) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Signed(number) => write!(text, "{number}"),
        Value::Unsigned(number) => write!(text, "{number}"),
        Value::Bool(value) => write!(text, "{value}"),
        Value::Character(known) => {
            character(text, *known);
            Ok(())
        }
        Value::Unit(number) => write!(text, "'\\x{number:02x}'"),
        Value::Single(number) if is_plain((*number).into()) => write!(text, "{number}"),
        Value::Single(number) => write!(text, "{number:e}"),
        Value::Double(number) if is_plain(*number) => write!(text, "{number}"),
        Value::Double(number) => write!(text, "{number:e}"),
        Value::LongDouble {
            mantissa,
            sign_and_exponent,
        } => {
            text.push_str(&long_double::text(*mantissa, *sign_and_exponent));
            Ok(())
        }
        Value::Pointer(0) | Value::Function(0) | Value::Unreadable(Some(0)) => write!(text, "null"),
        Value::Pointer(address) => write!(text, "{address:#x}"),
        Value::Function(address) => match function(*address) {
            Some(name) => write!(text, "{name}"),
            None => write!(text, "{address:#x}"),
        },
        Value::Enumerator(name) => write!(text, "{}", printable(name)),
        Value::Text { bytes, more } => {
            text.push('"');
            quoted(text, bytes, '"');
            text.push_str(if *more { "\"…" } else { "\"" });
            Ok(())
        }
        Value::Record(members) => {
            text.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                if !name.is_empty() {
                    text.push_str(&printable(name));
                    text.push_str(" = ");
                }
                write(text, value, function);
            }
            text.push('}');
            Ok(())
        }
        Value::Array { elements, more } => {
            text.push('[');
            for (index, value) in elements.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                write(text, value, function);
            }
            text.push_str(match (more, elements.is_empty()) {
                (false, _) => "]",
                (true, true) => "…]",
                (true, false) => ", …]",
            });
            Ok(())
        }
        Value::Unreadable(Some(address)) => write!(text, "(unreadable at {address:#x})"),
        Value::Unreadable(None) => write!(text, "(unreadable)"),
        Value::Missing(Missing::OptimisedOut) => write!(text, "(optimised out)"),
        Value::Missing(Missing::NotKnown) => write!(text, "(not known)"),
        Value::Missing(Missing::LeftOut) => write!(text, "…"),
        Value::Opaque(name) => write!(text, "({})", printable(name)),
    };
}

/// Whether a number of floating point has few digits before and behind its point.
fn is_plain(number: f64) -> bool {
    number == 0.0 || !number.is_finite() || (1e-5..1e16).contains(&number.abs())
}

fn character(text: &mut String, character: char) {
    if steers(character) {
        *text += &u32::from(character).to_string();
        return;
    }
    let mut bytes = [0; 4];
    text.push('\'');
    quoted(text, character.encode_utf8(&mut bytes).as_bytes(), '\'');
    text.push('\'');
}

/// Text between these quotes: what does not print is written as in C.
fn quoted(text: &mut String, bytes: &[u8], quote: char) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                other if other == quote => text.extend(['\\', quote]),
                other if other.is_control() => {
                    let _ = write!(text, "\\x{:02x}", u32::from(other));
                }
                other if steers(other) => {
                    let _ = write!(text, "\\u{:04x}", u32::from(other));
                }
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value) -> String {
        let mut text = String::new();
        write(&mut text, &value, &mut |address| {
            (address == 7).then(|| "f(int)".to_owned())
        });
        text
    }

    #[test]
    fn values_print_as_in_the_language() {
        let bytes = |bytes: &[u8], more| Value::Text {
            bytes: bytes.to_vec(),
            more,
        };
        assert_eq!(text(Value::Signed(-5)), "-5");
        assert_eq!(text(Value::Character('a')), "'a'");
        assert_eq!(text(Value::Character('ÿ')), "'ÿ'");
        assert_eq!(text(Value::Character('\'')), r"'\''");
        assert_eq!(text(Value::Character('"')), "'\"'");
        assert_eq!(text(Value::Character('\\')), r"'\\'");
        assert_eq!(text(Value::Character('\n')), "10");
        assert_eq!(text(Value::Character('\0')), "0");
        assert_eq!(text(Value::Unit(0xff)), r"'\xff'");
        assert_eq!(text(Value::Unit(0xd800)), r"'\xd800'");
        assert_eq!(text(bytes(b"it's", false)), "\"it's\"");
        assert_eq!(text(Value::Single(1.5)), "1.5");
        assert_eq!(text(Value::Double(-2.5e-40)), "-2.5e-40");
        assert_eq!(text(Value::Double(1e20)), "1e20");
        assert_eq!(text(Value::Double(f64::NAN)), "NaN");
        assert_eq!(text(Value::Pointer(0)), "null");
        assert_eq!(text(Value::Function(7)), "f(int)");
        assert_eq!(text(Value::Function(8)), "0x8");
        assert_eq!(text(bytes(b"a\"b\n\xff\x1b", true)), r#""a\"b\n\xff\x1b"…"#);
        // What follows it would be shown from right to left.
        let turned = "a\u{202e}b".as_bytes();
        assert_eq!(text(bytes(turned, false)), r#""a\u202eb""#);
        assert_eq!(text(Value::Character('\u{2066}')), "8294");
        assert_eq!(text(Value::Unreadable(Some(16))), "(unreadable at 0x10)");
        let members = vec![
            ("x".to_owned(), Value::Signed(1)),
            ("y".to_owned(), Value::Bool(true)),
        ];
        assert_eq!(text(Value::Record(members)), "{x = 1, y = true}");
        let elements = vec![Value::Signed(1), Value::Signed(2)];
        assert_eq!(
            text(Value::Array {
                elements,
                more: true
            }),
            "[1, 2, …]"
        );
        assert_eq!(
            text(Value::Missing(Missing::OptimisedOut)),
            "(optimised out)"
        );
    }
}
