//! Keep and block: which entries of a source are kept.
//!
//! A rule is one line that people write, about what an entry says of itself:
//!
//! ```text
//! block title contains sponsored
//! block link starts with "https://shop." and author is "Ad Team"
//! keep  category is science
//! keep  title matches "rust 1\.\d+"
//! ```
//!
//! A `block` rule that matches drops the entry. If there are `keep` rules, one of them must match.
//! All tests of a rule must hold (`and`). Comparison ignores case, and what an entry does not have
//! matches nothing. What is dropped is not stored and reported to nobody; its key is remembered
//! like any other, so that it is judged once.
//!
//! INVARIANT: a rule costs time in proportion to the entry's text, whatever it says: expressions
//! have no backtracking and a bounded size.

use regex::{Regex, RegexBuilder};

use super::entry::FoundEntry;
use crate::{
    both,
    edition::plain::plain_text,
    lang::{Lang, Say, Sentence, Words},
    say,
    schedule::Span,
};

/// Most rules of one source, or of the node.
pub const RULES_MAX: usize = 50;
/// Longest rule, in bytes.
pub const RULE_BYTES_MAX: usize = 500;
/// How much of an entry's text is compared, in characters.
const TEXT_CHARS_MAX: usize = 20_000;
/// Most memory of one compiled expression, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;
const EXAMPLE: Words = (
    "write it like `block title contains \"sponsored\"`",
    "写法如 `block title contains \"sponsored\"`",
);

/// Rules that judge entries.
#[derive(Debug, Clone, Default)]
pub struct Filters(Vec<Rule>);

/// Why a rule cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct BadRule {
    /// Which rule, from 1.
    pub number: usize,
    /// The rule as written.
    pub rule: String,
    /// The mistake in it.
    pub span: Span,
    pub what: Sentence,
    /// What to do.
    pub hint: Words,
}

impl Say for BadRule {
    fn say(&self, lang: Lang) -> String {
        let (number, column) = (self.number, self.column());
        let (what, hint) = (self.what.say(lang), self.hint.say(lang));
        say!(lang;
            "rule {number}, column {column}: {what}; {hint}",
            "规则 {number} 第 {column} 列：{what}；{hint}")
    }
}

impl BadRule {
    /// The first character of the mistake, from 1.
    pub fn column(&self) -> usize {
        self.rule[..self.span.start].chars().count() + 1
    }
}

#[derive(Debug, Clone)]
struct Rule {
    text: String,
    verb: Verb,
    tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Keep,
    Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    Author,
    Category,
    Link,
    Text,
}

#[derive(Debug, Clone)]
struct Test {
    field: Field,
    comparison: Comparison,
}

/// Texts are in lower case.
#[derive(Debug, Clone)]
enum Comparison {
    Contains(String),
    Is(String),
    StartsWith(String),
    Matches(Regex),
}

impl Filters {
    /// Reads rules, one per line; empty lines are none.
    pub fn parse<T: AsRef<str>>(lines: &[T]) -> Result<Self, BadRule> {
        let lines = lines.iter().map(AsRef::as_ref).enumerate();
        let written = lines.filter(|(_, line)| !line.trim().is_empty());
        let rules = written.map(|(index, line)| {
            Line::new(line).rule(index).map_err(|fault| BadRule {
                number: index + 1,
                rule: line.to_owned(),
                span: fault.span,
                what: fault.what,
                hint: fault.hint,
            })
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    /// The rule that drops an entry, as written; `None` for an entry that is kept.
    pub fn dropped_by(&self, found: &FoundEntry) -> Option<&str> {
        let of = |verb| self.0.iter().filter(move |rule| rule.verb == verb);
        let blocking = of(Verb::Block).find(|rule| rule.matches(found));
        if let Some(rule) = blocking {
            return Some(&rule.text);
        }
        let wanted = of(Verb::Keep).next()?;
        let is_kept = of(Verb::Keep).any(|rule| rule.matches(found));
        (!is_kept).then_some(&wanted.text)
    }

    /// Whether every entry is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Rule {
    fn matches(&self, found: &FoundEntry) -> bool {
        self.tests.iter().all(|test| test.holds(found))
    }
}

impl Test {
    fn holds(&self, found: &FoundEntry) -> bool {
        let holds = |text: &str| self.comparison.holds(text);
        match self.field {
            Field::Title => holds(&found.title),
            Field::Author => found.author.as_deref().is_some_and(holds),
            Field::Link => found.link.as_deref().is_some_and(holds),
            Field::Category => found.categories.iter().any(|category| holds(category)),
            Field::Text => [&found.summary, &found.content]
                .into_iter()
                .flatten()
                .any(|markup| holds(&plain_text(markup, TEXT_CHARS_MAX))),
        }
    }
}

impl Comparison {
    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.to_lowercase().contains(part),
            Self::Is(all) => text.trim().to_lowercase() == *all,
            Self::StartsWith(start) => text.trim().to_lowercase().starts_with(start),
            Self::Matches(pattern) => pattern.is_match(text),
        }
    }
}

/// What is wrong with a line, and where.
struct Fault {
    span: Span,
    what: Sentence,
    hint: Words,
}

/// A line on its way to a rule.
struct Line<'a> {
    text: &'a str,
    /// How far it is read, in bytes.
    at: usize,
}

/// A word or a quoted text, and where it stands.
struct Piece<'a> {
    text: &'a str,
    span: Span,
    is_quoted: bool,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rule(mut self, index: usize) -> Result<Rule, Fault> {
        self.check_size(index)?;
        let verb = self.verb()?;
        let mut tests = vec![self.test()?];
        while let Some(word) = self.next()? {
            if word.is_quoted || word.text != "and" {
                let hint = (
                    "join tests with `and`; put texts with blanks in quotes",
                    "用 `and` 连接条件；含空格的文本请加引号",
                );
                let what = ("is not expected here", "不应出现在这里");
                return Err(fault(&word, what, hint));
            }
            tests.push(self.test()?);
        }
        Ok(Rule {
            text: self.text.trim().to_owned(),
            verb,
            tests,
        })
    }

    fn check_size(&self, index: usize) -> Result<(), Fault> {
        let whole = Span::new(0, self.text.len());
        let refused = |what: Sentence, hint| Fault {
            span: whole,
            what,
            hint,
        };
        if index >= RULES_MAX {
            let what = both!(
                "there are more than {RULES_MAX} rules",
                "规则超过 {RULES_MAX} 条"
            );
            let hint = (
                "join some of them: `matches \"one|other\"`",
                "请合并一些规则：`matches \"one|other\"`",
            );
            return Err(refused(what, hint));
        }
        if self.text.len() > RULE_BYTES_MAX {
            let what = both!(
                "it has more than {RULE_BYTES_MAX} bytes",
                "超过 {RULE_BYTES_MAX} 字节"
            );
            return Err(refused(
                what,
                ("split it into several rules", "请拆成多条规则"),
            ));
        }
        if self.text.contains(char::is_control) {
            let what = both!("it has control characters", "含有控制字符");
            return Err(refused(what, ("write one rule per line", "每行写一条规则")));
        }
        Ok(())
    }

    fn verb(&mut self) -> Result<Verb, Fault> {
        let begin = (
            "a rule begins with `keep` or `block`",
            "规则以 `keep` 或 `block` 开头",
        );
        let word = self.word(begin)?;
        match word.text {
            "keep" => Ok(Verb::Keep),
            "block" => Ok(Verb::Block),
            _ => {
                let what = (
                    "is neither `keep` nor `block`",
                    "既不是 `keep` 也不是 `block`",
                );
                Err(fault(&word, what, EXAMPLE))
            }
        }
    }

    fn test(&mut self) -> Result<Test, Fault> {
        let fields = (
            "use title, author, category, link or text",
            "可用 title、author、category、link 或 text",
        );
        let word = self.word(("a field is missing", "缺少字段"))?;
        let field = match word.text {
            "title" => Field::Title,
            "author" => Field::Author,
            "category" => Field::Category,
            "link" => Field::Link,
            "text" => Field::Text,
            _ => return Err(fault(&word, ("is not a field", "不是字段"), fields)),
        };
        let comparison = self.comparison()?;
        Ok(Test { field, comparison })
    }

    fn comparison(&mut self) -> Result<Comparison, Fault> {
        let hint = (
            "use contains, is, starts with or matches",
            "可用 contains、is、starts with 或 matches",
        );
        let word = self.word(("a comparison is missing", "缺少比较方式"))?;
        let make: fn(String) -> Comparison = match word.text {
            "contains" => Comparison::Contains,
            "is" => Comparison::Is,
            "starts" => {
                let followed = ("`starts` is followed by `with`", "`starts` 之后是 `with`");
                let with = self.word(followed)?;
                if with.text != "with" {
                    return Err(fault(&with, ("must be `with`", "应为 `with`"), hint));
                }
                Comparison::StartsWith
            }
            "matches" => return self.pattern(),
            _ => {
                let what = ("is not a comparison", "不是比较方式");
                return Err(fault(&word, what, hint));
            }
        };
        Ok(make(self.value()?.text.trim().to_lowercase()))
    }

    fn pattern(&mut self) -> Result<Comparison, Fault> {
        let piece = self.value()?;
        let built = RegexBuilder::new(piece.text)
            .case_insensitive(true)
            .size_limit(REGEX_BYTES_MAX)
            .dfa_size_limit(REGEX_BYTES_MAX)
            .nest_limit(50)
            .build();
        built.map(Comparison::Matches).map_err(|_| {
            let hint = (
                "write a regular expression without look-around and back references",
                "请写不含环视和反向引用的正则表达式",
            );
            let what = ("is not an expression that can be used", "不是可用的表达式");
            fault(&piece, what, hint)
        })
    }

    /// What is compared with.
    fn value(&mut self) -> Result<Piece<'a>, Fault> {
        let end = self.end(("a text to compare with is missing", "缺少要比较的文本"));
        let piece = self.next()?.ok_or(end)?;
        if piece.text.trim().is_empty() {
            let hint = ("every entry would match", "所有条目都会匹配");
            return Err(fault(&piece, ("is empty", "为空"), hint));
        }
        Ok(piece)
    }

    /// A word of the language.
    fn word(&mut self, missing: Words) -> Result<Piece<'a>, Fault> {
        let end = self.end(missing);
        self.next()?.ok_or(end)
    }

    fn end(&self, missing: Words) -> Fault {
        let end = self.text.trim_end().len();
        Fault {
            span: Span::new(end, end),
            what: missing.both(),
            hint: EXAMPLE,
        }
    }

    fn next(&mut self) -> Result<Option<Piece<'a>>, Fault> {
        let rest = &self.text[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            return Ok(None);
        };
        if !matches!(first, '"' | '\'') {
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            return Ok(Some(self.piece(start, length, false)));
        }
        // A text with both sorts of quotes needs two tests; a rule without escapes reads better.
        let Some(length) = rest[1..].find(first) else {
            let span = Span::new(start, self.text.trim_end().len());
            let what = both!("this quote is not closed", "引号没有闭合");
            let hint = (
                "end the text with the same quote; put one sort of quotes into the other",
                "请用同一种引号结束文本；文本中的引号请用另一种",
            );
            return Err(Fault { span, what, hint });
        };
        let piece = self.piece(start + 1, length, true);
        self.at += 1;
        Ok(Some(piece))
    }

    fn piece(&mut self, start: usize, length: usize, is_quoted: bool) -> Piece<'a> {
        self.at = start + length;
        Piece {
            text: &self.text[start..self.at],
            span: Span::new(start, self.at),
            is_quoted,
        }
    }
}

fn fault(piece: &Piece<'_>, what: Words, hint: Words) -> Fault {
    let text = piece.text;
    Fault {
        span: piece.span,
        what: both!("`{text}` ", "`{text}` ").joined(&what.both()),
        hint,
    }
}

#[cfg(test)]
mod tests;
