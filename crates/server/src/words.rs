//! Parser messages in JSON terms.
//!
//! serde names types as Rust does (`struct PutBody`, `i64`). Clients know objects, arrays and
//! numbers. Only the parser's own part of a message is changed: what it quotes from the request
//! precedes the last `, expected `.

const EXPECTED: &str = ", expected ";

/// A JSON parser's message.
pub fn of_json(message: &str) -> String {
    let Some((found, wanted)) = message.rsplit_once(EXPECTED) else {
        return message.to_owned();
    };
    let (wanted, place) = match wanted.split_once(" at line ") {
        Some((wanted, place)) => (wanted, format!(" at line {place}")),
        None => (wanted, String::new()),
    };
    let wanted = match wanted {
        "i64" if found.contains("invalid value: ") => "a whole number up to 9223372036854775807",
        "i64" => "a whole number",
        "u64" | "u32" | "usize" => "a whole number, 0 or more",
        "a sequence" => "a JSON array",
        "a map" => "a JSON object",
        structure if structure.starts_with("struct ") => "a JSON object",
        other => other,
    };
    format!("{}{EXPECTED}{wanted}{place}", in_json(found))
}

/// The found value, by its JSON name.
fn in_json(found: &str) -> String {
    let names = [
        (": integer ", ": number "),
        (": floating point ", ": number "),
        (": sequence", ": array"),
        (": map", ": object"),
    ];
    let kinds = ["invalid type", "invalid value"];
    for (kind, (rust, json)) in kinds.iter().flat_map(|kind| names.map(|name| (kind, name))) {
        let (rust, json) = (format!("{kind}{rust}"), format!("{kind}{json}"));
        if found.contains(&rust) {
            return found.replacen(&rust, &json, 1);
        }
    }
    found.to_owned()
}

/// A query parser's message.
pub(crate) fn of_query(message: &str) -> String {
    let text = message
        .strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(message);
    // A path may precede it, with the same name.
    if let Some((_, rest)) = text.split_once("unknown field ") {
        return format!("unknown parameter {rest}");
    }
    if let Some((_, rest)) = text.split_once("duplicate field ") {
        return format!("parameter given twice: {rest}");
    }
    let numbers = [
        ("invalid digit found in string", "must be a whole number"),
        (
            "cannot parse integer from empty string",
            "must be a whole number",
        ),
        (
            "number too large to fit in target type",
            "is too large a number",
        ),
        (
            "number too small to fit in target type",
            "is too small a number",
        ),
    ];
    for (rust, plain) in numbers {
        if let Some(parameter) = text.strip_suffix(rust) {
            return format!("{} {plain}", parameter.trim_end_matches([':', ' ']));
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_and_numbers_are_called_what_json_calls_them() {
        for (rust, plain) in [
            (
                "invalid type: string \"x\", expected struct Callback at line 1 column 9",
                "invalid type: string \"x\", expected a JSON object at line 1 column 9",
            ),
            (
                "data: invalid length 0, expected struct Envelope with 6 elements",
                "data: invalid length 0, expected a JSON object",
            ),
            (
                "invalid type: floating point `1.5`, expected i64 at line 1 column 3",
                "invalid type: number `1.5`, expected a whole number at line 1 column 3",
            ),
            (
                "invalid value: integer `9223372036854775808`, expected i64",
                "invalid value: number `9223372036854775808`, expected a whole number up to \
                 9223372036854775807",
            ),
            (
                "invalid type: map, expected a sequence at line 1 column 0",
                "invalid type: object, expected a JSON array at line 1 column 0",
            ),
            ("missing field `kind`", "missing field `kind`"),
        ] {
            assert_eq!(of_json(rust), plain);
        }
    }

    #[test]
    fn what_the_caller_wrote_is_left_alone() {
        let quoted = "unknown field `, expected i64`, expected `url` at line 1 column 3";
        assert_eq!(of_json(quoted), quoted);
    }
}
