//! Commands as crontabs write them, as programs and arguments.
//!
//! Cron hands every command to a shell. Here a command is an argument vector and nothing is
//! interpreted, so a command that needs a shell names it: what it does is then visible.

use super::{Fault, Reason};
use crate::schedule::Span;

/// What runs a command there.
pub(super) const SHELL: &str = "/bin/sh";

/// Characters that mean something to a shell wherever they stand.
const MARKS: &str = "|&;<>()$`\\\"'*?[]{}!\n";
/// Words that only a shell knows.
const BUILTINS: [&str; 16] = [
    ".", ":", "case", "cd", "eval", "exec", "exit", "export", "for", "if", "set", "source", "trap",
    "ulimit", "umask", "while",
];

/// The command without cron's own marks: `\%` is a `%`, and a bare `%` ends it.
pub(super) fn unescape(command: &str) -> Result<String, Fault> {
    let mut plain = String::new();
    let mut characters = command.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' if characters.next_if(|next| next.1 == '%').is_some() => plain.push('%'),
            '%' => return Err(Fault::new(Span::new(at, command.len()), Reason::Input)),
            c => plain.push(c),
        }
    }
    Ok(plain)
}

/// Whether only a shell can interpret it.
pub(super) fn needs_shell(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let marked = |c: char| MARKS.contains(c);
    let begins = |word: &str| word.starts_with(['~', '#']);
    command.contains(marked)
        || begins(first)
        || words.any(begins)
        || first.contains('=')
        || BUILTINS.contains(&first)
}

pub(super) fn argv(command: &str, shell: Option<&str>) -> Vec<String> {
    let words: Vec<&str> = match shell {
        Some(shell) => vec![shell, "-c", command],
        None => command.split_ascii_whitespace().collect(),
    };
    words.into_iter().map(str::to_owned).collect()
}
