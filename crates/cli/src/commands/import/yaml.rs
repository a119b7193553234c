//! The times of a GitHub workflow, picked out of its YAML.
//!
//! Read as a stream of events, never as a tree: three keys are needed, everything else is skipped,
//! and nothing that nests, repeats or refers to itself can grow.

use almanack_core::{
    import::{
        Problem, Reason,
        workflow::{Entry, Source},
    },
    place::Place,
    schedule::Span,
};
use saphyr_parser::{Event, Parser, Span as Marked};

/// Finds `on.schedule` and whether the workflow can be dispatched.
pub(super) fn read(text: &str) -> (Source, Vec<Problem>) {
    let body = text.trim_start_matches('\u{feff}');
    let mut reader = Reader {
        text,
        body,
        open: Vec::new(),
        entry: None,
        source: Source::default(),
        problems: Vec::new(),
    };
    let events: Result<Vec<_>, _> = Parser::new_from_str(body).collect();
    match events {
        Ok(events) => reader.document(events),
        Err(error) => {
            let (at, why) = (error.marker().index(), error.info().to_owned());
            reader.refuse(reader.place(at, at), Reason::Yaml { why });
        }
    }
    (reader.source, reader.problems)
}

struct Reader<'a> {
    text: &'a str,
    /// The text without its byte-order mark, as the parser counts it.
    body: &'a str,
    /// The lists and maps around the next event.
    open: Vec<Open>,
    entry: Option<OpenEntry>,
    source: Source,
    problems: Vec<Problem>,
}

enum Open {
    List,
    /// A map whose key comes next.
    Key,
    /// A map whose value of this key comes next.
    Value(String),
}

/// An entry of `schedule` that is being read.
struct OpenEntry {
    place: Place,
    cron: Option<(String, Place)>,
    tz: Option<(String, Place)>,
}

/// What is in the place of a value.
enum Value {
    Scalar(String),
    List,
    Map,
    Other,
}

/// The place of `cron`: below `on`, `schedule`, and an entry. Nothing deeper matters.
const DEPTH_MAX: usize = 4;
const LIST_WANTED: &str = "`schedule` is a list: each entry starts with `- cron:`";
const CRON_WANTED: &str = "an entry of `schedule` has a `cron`";

impl Reader<'_> {
    fn document(&mut self, events: Vec<(Event<'_>, Marked)>) {
        let first = events.into_iter();
        for (event, marked) in first.take_while(|(event, _)| *event != Event::DocumentEnd) {
            match event {
                Event::Scalar(text, ..) => {
                    self.value(Value::Scalar(text.to_string()), marked);
                    self.pass(text.to_string());
                }
                Event::Alias(_) => {
                    self.value(Value::Other, marked);
                    self.pass(String::new());
                }
                Event::SequenceStart(..) => {
                    self.value(Value::List, marked);
                    self.open.push(Open::List);
                }
                Event::MappingStart(..) => {
                    self.value(Value::Map, marked);
                    self.open.push(Open::Key);
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    self.open.pop();
                    if self.open.len() < DEPTH_MAX {
                        self.close_entry();
                    }
                    self.pass(String::new());
                }
                _ => {}
            }
        }
        if self.source.entries.is_empty() && self.problems.is_empty() {
            let wanted = "an entry of `on.schedule`";
            let place = Place::of(self.text, Span::default());
            self.refuse(place, Reason::NoTime { wanted });
        }
    }

    /// A key or a value has ended; a key that is no scalar is passed over.
    fn pass(&mut self, key: String) {
        match self.open.last_mut() {
            Some(open @ Open::Key) => *open = Open::Value(key),
            Some(open @ Open::Value(_)) => *open = Open::Key,
            Some(Open::List) | None => {}
        }
    }

    /// Takes what begins here, if it is one of the things that are needed.
    fn value(&mut self, value: Value, marked: Marked) {
        if self.open.len() > DEPTH_MAX || matches!(self.open.last(), Some(Open::Key)) {
            return;
        }
        let (start, end) = (marked.start.index(), marked.end.index());
        // A map has no own start: its first line is its place.
        let place = self.place(start, if end > start { end } else { usize::MAX });
        let path: Vec<Option<&str>> = self.open.iter().map(Open::key).collect();
        match (path.as_slice(), value) {
            // `on`: a name, a list of names, or a map.
            ([Some("on")] | [Some("on"), None], Value::Scalar(trigger)) => {
                self.source.dispatchable |= trigger == "workflow_dispatch";
            }
            ([Some("on"), Some("workflow_dispatch")], _) => self.source.dispatchable = true,
            ([Some("on"), Some("schedule")], Value::List) => {}
            ([Some("on"), Some("schedule")], _) => {
                self.refuse(place, Reason::Shape { what: LIST_WANTED });
            }
            ([Some("on"), Some("schedule"), None], Value::Map) => {
                let (cron, tz) = (None, None);
                self.entry = Some(OpenEntry { place, cron, tz });
            }
            ([Some("on"), Some("schedule"), None], _) => {
                self.refuse(place, Reason::Shape { what: CRON_WANTED });
            }
            ([_, _, None, Some(key)], Value::Scalar(text)) => match (&mut self.entry, *key) {
                (Some(entry), "cron") => entry.cron = Some((text, place)),
                (Some(entry), "timezone") => entry.tz = Some((text, place)),
                _ => {}
            },
            _ => {}
        }
    }

    /// `- cron: "0 8 * * *"`, perhaps with `timezone`, has ended.
    fn close_entry(&mut self) {
        let Some(OpenEntry { place, cron, tz }) = self.entry.take() else {
            return;
        };
        match cron {
            Some((expression, place)) => self.source.entries.push(Entry {
                expression,
                place,
                tz,
            }),
            None => self.refuse(place, Reason::Shape { what: CRON_WANTED }),
        }
    }

    fn refuse(&mut self, place: Place, reason: Reason) {
        self.problems.push(Problem { place, reason });
    }

    /// The place of some characters of the body.
    fn place(&self, start: usize, end: usize) -> Place {
        let mark = self.text.len() - self.body.len();
        let byte = |character: usize| {
            let found = self.body.char_indices().nth(character);
            mark + found.map_or(self.body.len(), |(byte, _)| byte)
        };
        Place::of(self.text, Span::new(byte(start), byte(end)))
    }
}

impl Open {
    /// The key of what is inside; none in a list.
    fn key(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Key => Some(""),
            Self::Value(key) => Some(key),
        }
    }
}
