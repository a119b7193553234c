//! A place in a text that moves forward.

/// Longest character reference that is looked at, in bytes: `&#x10ffff;`.
const REFERENCE_BYTES_MAX: usize = 10;

/// Where a reader stands.
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte offset.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn step(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Takes as long as something is true.
    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Takes a character reference that begins here, with or without its semicolon; stays where
    /// there is none.
    pub(super) fn take_reference(&mut self) -> Option<char> {
        let rest = self.rest().strip_prefix('&')?;
        let (read, length) = match rest.strip_prefix('#') {
            Some(number) => {
                let (read, length) = numeric(number)?;
                (read, length + 1)
            }
            None => named(rest)?,
        };
        let closed = rest.get(length..).is_some_and(|rest| rest.starts_with(';'));
        self.at += 1 + length + usize::from(closed);
        Some(read)
    }
}

fn named(text: &str) -> Option<(char, usize)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    let name = text.get(..end.unwrap_or(text.len()))?;
    let read = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        _ => return None,
    };
    Some((read, name.len()))
}

/// What follows `&#`.
fn numeric(text: &str) -> Option<(char, usize)> {
    let (digits, radix, prefix) = match text.strip_prefix('x') {
        Some(digits) => (digits, 16, 1),
        None => (text, 10, 0),
    };
    let end = digits.find(|c: char| !c.is_digit(radix));
    let digits = digits.get(..end.unwrap_or(digits.len()))?;
    if digits.len() > REFERENCE_BYTES_MAX {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    let read = char::from_u32(code).filter(|c| *c != '\0')?;
    Some((read, digits.len() + prefix))
}
