//! Raw data inside an HTML `<script>` element.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Text, compressed by gzip and written in base64: letters, digits, `+`, `/` and `=`, which cannot
/// end or change the element. Every line of `results.jsonl` repeats machine and command, so that
/// little remains: a twentieth.
///
/// # Errors
/// None: writing to memory doesn't fail.
pub(crate) fn for_script(text: &str) -> std::io::Result<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes())?;
    Ok(STANDARD.encode(packed.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn every_byte_comes_back_and_none_can_end_the_element() {
        let line = "{\"model\": \"</script><!-- <script> & \\u0000 é\"}\n";
        for text in ["", line, &line.repeat(5000)] {
            let packed = for_script(text).unwrap();
            let harmless = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
            assert!(packed.chars().all(harmless));
            let mut back = String::new();
            let bytes = STANDARD.decode(&packed).unwrap();
            let mut reader = flate2::read::GzDecoder::new(&bytes[..]);
            reader.read_to_string(&mut back).unwrap();
            assert_eq!(back, text);
        }
    }
}
