//! A task's payload, formatted.
//!
//! The text itself is formatted: parsed into numbers and back, a large one would change, and a page
//! must not show what was never sent. Stored payloads may be larger and deeper than the current
//! limits, so both the indentation and the total are bounded: a page costs no more than its
//! payload, and never more than [`SHOWN_BYTES_MAX`].

use crate::ui::prelude::*;

/// Lines shown unfolded.
const LINES_OPEN: usize = 24;

/// Indented levels; deeper ones use the last indentation.
const INDENT_MAX: usize = 32;
/// Most bytes formatted of a payload.
const SHOWN_BYTES_MAX: usize = 256 * 1024;

pub(crate) fn show(lang: Lang, text: &str) -> Markup {
    let (bytes, laid_out) = (text.len(), lay_out(text));
    let is_cut = laid_out.len() >= SHOWN_BYTES_MAX;
    let lines = laid_out.lines().count();
    let pre = html! { pre tabindex="0" { code { (laid_out) } } };
    html! {
        @if lines <= LINES_OPEN { (pre) }
        @else {
            details {
                summary { (say!(lang, "{lines} lines, {bytes} bytes", "{lines} 行，{bytes} 字节")) }
                (pre)
            }
        }
        @if is_cut {
            p class="hint" { (lang.pick("Showing only the beginning; use the API to read all of it.", "仅显示开头部分；完整内容请通过 API 获取。")) }
        }
    }
}

/// Valid JSON with a line per member, up to the limit. Only blanks outside of strings change.
fn lay_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len().min(SHOWN_BYTES_MAX) * 2);
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut rest = json.chars().peekable();
    while let Some(c) = rest.next() {
        if out.len() >= SHOWN_BYTES_MAX {
            break;
        }
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            ' ' | '\n' | '\r' | '\t' => {}
            '{' | '[' => {
                out.push(c);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = rest.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_text = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(INDENT_MAX)));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_payload_is_laid_out_as_usual() {
        for text in [
            "null",
            "\"a \\\" {b}, [c]: d\\\\\"",
            r#"{"a":[1,2,{"b":null}],"c":{},"d":[],"e":"x"}"#,
            "[ ]",
            r#" { "a" : [ true , false ] } "#,
            r#"["\\",",","}"]"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            let usual = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(lay_out(text), usual, "{text}");
        }
    }

    /// A payload from before there was a limit: formatted without one, 30 KB took 450 MB.
    #[test]
    fn sf_02_deep_and_long_payloads_cost_no_more_than_their_bound() {
        let deep = format!("{}{}", "[".repeat(15_000), "]".repeat(15_000));
        let wide = format!(
            "{}{}1{}",
            "[".repeat(60),
            "1,".repeat(400_000),
            "]".repeat(60)
        );
        for text in [deep, wide] {
            let page = show(Lang::English, &text).into_string();
            assert!(page.len() < 2 * SHOWN_BYTES_MAX, "{} bytes", page.len());
            assert!(page.contains("Showing only the beginning"));
        }
        let levels = lay_out(&format!("{}{}", "[".repeat(500), "]".repeat(500)));
        let indents = levels
            .lines()
            .map(|line| line.len() - line.trim_start().len());
        assert_eq!(
            indents.max(),
            Some(2 * INDENT_MAX),
            "deeper levels are shown there, too"
        );
        let fits = show(Lang::English, &format!("[{}1]", "1,".repeat(1000))).into_string();
        assert!(!fits.contains("Showing only the beginning"));
    }

    #[test]
    fn numbers_stay_as_they_were_sent() {
        let text = r#"{"n":123456789012345678901234567890.10}"#;
        assert!(lay_out(text).contains("123456789012345678901234567890.10"));
    }

    #[test]
    fn what_is_long_is_folded() {
        let long = format!("[{}1]", "1,".repeat(40));
        assert!(
            show(Lang::English, &long)
                .into_string()
                .contains("<details>")
        );
        assert!(
            !show(Lang::English, "[1]")
                .into_string()
                .contains("<details>")
        );
    }
}
