//! Raw data inside an HTML `<script>` element.

/// JSON Lines that may stand inside a `<script>` element.
///
/// `<` occurs in JSON only inside strings, where `\u003c` means the same; without it, neither `</script>` nor `<!--` can end or change the element.
pub(crate) fn for_script(json_lines: &str) -> String {
    json_lines.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::for_script;

    #[test]
    fn no_string_can_end_the_element_and_the_json_means_the_same() {
        let line = serde_json::json!({"model": "</script><!-- <script> & \" \\ é"}).to_string();
        let escaped = for_script(&line);
        assert!(!escaped.contains('<'));
        let back: serde_json::Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(
            back,
            serde_json::from_str::<serde_json::Value>(&line).unwrap()
        );
    }
}
