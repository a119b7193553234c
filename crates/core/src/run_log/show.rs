//! What a program printed, made harmless for a screen.
//!
//! A terminal obeys what is printed to it: it can be made to hide lines, to rename its window, to
//! type. And text can be made to read differently from what it is.

/// The text without what terminals obey, and with dots for what nobody sees. Lines stay lines; a
/// progress bar that returns to the beginning of its line gets a line for each state.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => shown.push('\n'),
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            c if is_hidden(c) => shown.push('·'),
            c => shown.push(c),
        }
    }
    shown
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Passes over what follows an escape character.
fn skip_sequence(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        // A title, a link, a text for the clipboard: until its end, or until the line's.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = rest.next_if(|c| *c != '\n') {
                if c == '\u{7}' || (c == '\u{1b}' && rest.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some('\u{20}'..='\u{2f}') => {
            while rest.next_if(|c| matches!(c, '\u{20}'..='\u{2f}')).is_some() {}
            rest.next_if(char::is_ascii_graphic);
        }
        Some('\u{30}'..='\u{7e}') => {
            rest.next();
        }
        _ => {}
    }
}

/// Parameters and one letter: a colour, a movement.
fn skip_control_sequence(rest: &mut Rest<'_>) {
    while rest.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    rest.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

/// Controls, and what changes the direction of the text around it.
fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_20_what_terminals_obey_is_not_shown() {
        for (printed, shown) in [
            ("plain\ttext\n日報\n", "plain\ttext\n日報\n"),
            ("\u{1b}[31;1mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Hgone", "gone"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            (
                "\u{1b}]8;;https://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\",
                "link",
            ),
            ("\u{1b}]52;c;aGk=\nnext", "\nnext"),
            ("\u{1b}(B\u{1b}c\u{1b}7x", "x"),
            ("10%\r50%\r\ndone", "10%\n50%\ndone"),
            ("a\u{0}b\u{8}c\u{7f}\u{85}", "a·b·c··"),
            ("user\u{202e}gpj.exe", "user·gpj.exe"),
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ] {
            assert_eq!(harmless(printed), shown, "{printed:?}");
        }
    }
}
