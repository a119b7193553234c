//! What a site's `robots.txt` says to us (RFC 9309).
//!
//! A site writes groups of rules, each for some agents. The groups that name us count; without one,
//! those for everybody (`*`). Of all rules that match an address the longest decides, and of two
//! equally long ones the one that allows. Nothing here is compiled or searched with backtracking:
//! the file was written by others, so what is kept of it is bounded and every match is linear in
//! both texts.

use std::fmt::Write as _;

/// The name that our groups have.
pub const AGENT: &str = "almanack";
/// As much of the file is read; the RFC asks for 500 KiB at least.
pub const BYTES_MAX: usize = 512 * 1024;
/// Rules kept for us.
const RULES_MAX: usize = 1_000;
/// Longest rule; a longer one is ignored.
const PATTERN_BYTES_MAX: usize = 1_000;
/// Longest `Crawl-delay` that is believed: a day, like every other request of a publisher.
const DELAY_MAX_S: f64 = 86_400.0;

/// The rules of a site for us.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Seconds between two requests (`Crawl-delay`).
    pub delay_s: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allows: bool,
    pattern: String,
}

impl Rules {
    /// Reads the file.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(BYTES_MAX)];
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        let mut reading = Reading::default();
        for line in text.split(['\n', '\r']) {
            reading.line(line);
        }
        if reading.is_named {
            reading.ours
        } else {
            reading.everybody
        }
    }

    /// The rule that forbids an address, given by its path and query; `None` if it is allowed.
    pub fn forbids(&self, path: &str) -> Option<&str> {
        if path == "/robots.txt" {
            return None;
        }
        let path = normal(path, b"*$");
        let matching = self.rules.iter().filter(|rule| rule.matches(&path));
        let decides = matching.max_by_key(|rule| (rule.pattern.len(), rule.allows))?;
        (!decides.allows).then_some(decides.pattern.as_str())
    }

    /// What keeping it costs, in bytes.
    pub fn cost(&self) -> usize {
        let each = |rule: &Rule| rule.pattern.len() + size_of::<Rule>();
        self.rules.iter().map(each).sum()
    }

    fn add(&mut self, allows: bool, pattern: &str) {
        // An empty rule is none: `Disallow:` allows everything.
        let fits = !pattern.is_empty() && pattern.len() <= PATTERN_BYTES_MAX;
        if fits && self.rules.len() < RULES_MAX {
            // Anywhere but at its end, a dollar sign is one.
            let pattern = match pattern.strip_suffix('$') {
                Some(start) => format!("{}$", normal(start, b"$")),
                None => normal(pattern, b"$"),
            };
            self.rules.push(Rule { allows, pattern });
        }
    }
}

impl Rule {
    fn matches(&self, path: &str) -> bool {
        let (pattern, to_the_end) = match self.pattern.strip_suffix('$') {
            Some(pattern) => (pattern, true),
            None => (self.pattern.as_str(), false),
        };
        let mut parts = pattern.split('*');
        let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else {
            return false;
        };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return !to_the_end || rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if to_the_end && parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

/// The file, line by line.
#[derive(Default)]
struct Reading {
    ours: Rules,
    everybody: Rules,
    /// Whether a group names us.
    is_named: bool,
    group: Group,
}

/// Whom the group at hand is for.
#[derive(Default)]
struct Group {
    for_us: bool,
    for_everybody: bool,
    /// Whether it has rules, so that the next agent begins another one.
    has_rules: bool,
}

impl Reading {
    fn line(&mut self, line: &str) {
        let line = line.split('#').next().unwrap_or_default();
        let Some((key, value)) = line.split_once(':') else {
            return;
        };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "user-agent" => self.agent(value),
            "allow" => self.rule(|rules| rules.add(true, value)),
            "disallow" => self.rule(|rules| rules.add(false, value)),
            "crawl-delay" => {
                if let Some(delay) = seconds(value) {
                    self.rule(|rules| rules.delay_s = rules.delay_s.max(Some(delay)));
                }
            }
            _ => {}
        }
    }

    fn agent(&mut self, value: &str) {
        if self.group.has_rules {
            self.group = Group::default();
        }
        let is_of_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
        let name = value.split(|c| !is_of_name(c)).next().unwrap_or_default();
        self.group.for_us |= name.eq_ignore_ascii_case(AGENT);
        self.group.for_everybody |= value.starts_with('*');
        self.is_named |= self.group.for_us;
    }

    fn rule(&mut self, add: impl Fn(&mut Rules)) {
        self.group.has_rules = true;
        if self.group.for_us {
            add(&mut self.ours);
        }
        if self.group.for_everybody {
            add(&mut self.everybody);
        }
    }
}

/// Whole seconds, rounded up.
fn seconds(text: &str) -> Option<u32> {
    let seconds: f64 = text.parse().ok()?;
    let is_wait = seconds.is_finite() && seconds > 0.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a day"
    )]
    is_wait.then(|| seconds.min(DELAY_MAX_S).ceil() as u32)
}

/// One spelling of a path: what need not be escaped is not, the rest is, in capitals. `special` is
/// escaped as well.
fn normal(text: &str, special: &[u8]) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let [first, rest @ ..] = bytes {
        let escaped = escaped(bytes);
        let byte = escaped.unwrap_or(*first);
        let is_free = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let stays = escaped.is_none() && byte.is_ascii_graphic() && !special.contains(&byte);
        if is_free || stays {
            spelled.push(char::from(byte));
        } else {
            let _ = write!(spelled, "%{byte:02X}");
        }
        bytes = if escaped.is_some() { &bytes[3..] } else { rest };
    }
    spelled
}

/// The byte that an escape at the start of `bytes` means.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex
        .then(|| u8::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests;
