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
    let mut reader = Reader {
        text,
        events: Vec::new(),
        at: 0,
        source: Source::default(),
        problems: Vec::new(),
    };
    if reader.load() {
        reader.document();
    }
    (reader.source, reader.problems)
}

struct Reader<'a> {
    text: &'a str,
    events: Vec<(Event<'a>, Marked)>,
    at: usize,
    source: Source,
    problems: Vec<Problem>,
}

/// What is in the place of a value.
enum Value {
    Scalar(String, Place),
    List,
    Map,
    Other(Place),
}

impl Reader<'_> {
    /// Reads all events; `false` if the text is no YAML.
    fn load(&mut self) -> bool {
        let body = self.text.trim_start_matches('\u{feff}');
        for event in Parser::new_from_str(body) {
            match event {
                Ok(event) => self.events.push(event),
                Err(error) => {
                    let start = self.byte(error.marker().index());
                    let why = error.info().to_owned();
                    self.refuse(
                        Place::of(self.text, Span::new(start, start)),
                        Reason::Yaml { why },
                    );
                    return false;
                }
            }
        }
        let is_frame = |event: &Event<'_>| {
            matches!(
                event,
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing
            )
        };
        while self
            .events
            .get(self.at)
            .is_some_and(|(event, _)| is_frame(event))
        {
            self.at += 1;
        }
        true
    }

    fn document(&mut self) {
        let mut found = false;
        if let Value::Map = self.enter() {
            while let Some(key) = self.key() {
                if key == "on" {
                    found = true;
                    self.triggers();
                } else {
                    self.skip();
                }
            }
        }
        if !found || (self.source.entries.is_empty() && self.problems.is_empty()) {
            let wanted = "an entry of `on.schedule`";
            let place = Place::of(self.text, Span::default());
            self.refuse(place, Reason::NoTime { wanted });
        }
    }

    /// `on`: a name, a list of names, or a map.
    fn triggers(&mut self) {
        match self.enter() {
            Value::Scalar(name, _) => self.note(&name),
            Value::List => {
                while !self.ends() {
                    match self.enter() {
                        Value::Scalar(name, _) => self.note(&name),
                        Value::List | Value::Map => self.leave(),
                        Value::Other(_) => {}
                    }
                }
            }
            Value::Map => {
                while let Some(key) = self.key() {
                    self.note(&key);
                    if key == "schedule" {
                        self.schedule();
                    } else {
                        self.skip();
                    }
                }
            }
            Value::Other(_) => {}
        }
    }

    fn note(&mut self, trigger: &str) {
        self.source.dispatchable |= trigger == "workflow_dispatch";
    }

    fn schedule(&mut self) {
        match self.enter() {
            Value::List => {
                while !self.ends() {
                    self.entry();
                }
            }
            Value::Map => {
                self.leave();
                self.misshapen(
                    None,
                    "`schedule` is a list: each entry starts with `- cron:`",
                );
            }
            Value::Scalar(_, place) | Value::Other(place) => {
                let what = "`schedule` is a list: each entry starts with `- cron:`";
                self.misshapen(Some(place), what);
            }
        }
    }

    /// `- cron: "0 8 * * *"`, perhaps with `timezone`.
    fn entry(&mut self) {
        let begins = self.place_here();
        match self.enter() {
            Value::Map => {}
            Value::List => {
                self.leave();
                return self.misshapen(Some(begins), "an entry of `schedule` has a `cron`");
            }
            Value::Scalar(_, place) | Value::Other(place) => {
                return self.misshapen(Some(place), "an entry of `schedule` has a `cron`");
            }
        }
        let (mut cron, mut tz) = (None, None);
        while let Some(key) = self.key() {
            match self.enter() {
                Value::Scalar(value, place) if key == "cron" => cron = Some((value, place)),
                Value::Scalar(value, place) if key == "timezone" => tz = Some((value, place)),
                Value::List | Value::Map => self.leave(),
                Value::Scalar(..) | Value::Other(_) => {}
            }
        }
        match cron {
            Some((expression, place)) => self.source.entries.push(Entry {
                expression,
                place,
                tz,
            }),
            None => self.misshapen(Some(begins), "an entry of `schedule` has a `cron`"),
        }
    }

    fn misshapen(&mut self, place: Option<Place>, what: &'static str) {
        let place = place.unwrap_or_else(|| self.place_here());
        self.refuse(place, Reason::Shape { what });
    }

    fn refuse(&mut self, place: Place, reason: Reason) {
        self.problems.push(Problem { place, reason });
    }

    /// Takes a scalar, or steps into a list or a map.
    fn enter(&mut self) -> Value {
        let place = self.place_here();
        let value = match self.events.get(self.at) {
            Some((Event::Scalar(text, ..), _)) => Value::Scalar(text.to_string(), place),
            Some((Event::SequenceStart(..), _)) => Value::List,
            Some((Event::MappingStart(..), _)) => Value::Map,
            _ => Value::Other(place),
        };
        self.at += 1;
        value
    }

    /// The next key of a map; steps out of it at its end. Keys that are no scalars are passed over.
    fn key(&mut self) -> Option<String> {
        while !self.ends() {
            match self.enter() {
                Value::Scalar(key, _) => return Some(key),
                Value::List | Value::Map => self.leave(),
                Value::Other(_) => {}
            }
            self.skip();
        }
        None
    }

    /// Steps out of a list or a map if it ends here, or if the text ends.
    fn ends(&mut self) -> bool {
        let ends = match self.events.get(self.at) {
            Some((event, _)) => matches!(event, Event::SequenceEnd | Event::MappingEnd),
            None => true,
        };
        self.at += usize::from(ends);
        ends
    }

    /// Passes over one value.
    fn skip(&mut self) {
        if let Value::List | Value::Map = self.enter() {
            self.leave();
        }
    }

    /// Passes over the rest of the list or map that was stepped into.
    fn leave(&mut self) {
        let mut depth = 1_usize;
        while let Some((event, _)) = self.events.get(self.at) {
            self.at += 1;
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn place_here(&self) -> Place {
        let marked = self.events.get(self.at).or(self.events.last());
        let span = marked.map_or(Span::default(), |(_, marked)| {
            let (start, end) = (marked.start.index(), marked.end.index());
            // A map has no own start: its first line is its place.
            let end = if end > start { end } else { usize::MAX };
            Span::new(self.byte(start), self.byte(end))
        });
        Place::of(self.text, span)
    }

    /// The byte offset of a character of the text without its byte-order mark.
    fn byte(&self, character: usize) -> usize {
        let body = self.text.trim_start_matches('\u{feff}');
        let mark = self.text.len() - body.len();
        let found = body.char_indices().nth(character);
        mark + found.map_or(body.len(), |(byte, _)| byte)
    }
}
