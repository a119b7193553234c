//! The walk itself: depth, end, requests of the publisher, extras of entries.

use std::collections::BTreeMap;

use almanack_core::source::{
    check::{Failure, FailureClass},
    hints::Hints,
};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use url::Url;

use super::{
    Tag,
    extra::{self, Extra},
    line_at, malformed,
    place::{Place, PollRequests},
    vocabulary::Vocabularies,
};
use crate::feed::html::DEPTH_MAX;

/// Most attributes of an element, counted by their `=`.
const ATTRIBUTES_MAX: usize = 1000;
/// Most entries whose files and categories are kept: far more than are read of a document, and few
/// enough that none can fill the memory with them.
const EXTRAS_MAX: usize = 20_000;

/// What the walk found.
#[derive(Debug)]
pub(crate) struct Outline {
    /// How many entries there are.
    pub(crate) entries: usize,
    /// What they show besides, by their positions; nothing for most.
    pub(crate) extras: BTreeMap<usize, Extra>,
    /// When to come again.
    pub(crate) hints: Hints,
}

/// Walks the document to its end. Addresses in it are seen from `base`.
pub(crate) fn outline(text: &str, base: &Url) -> Result<Outline, Failure> {
    let mut reader = Reader::from_str(text);
    let mut walk = Walk::new(base);
    while !walk.is_over {
        match reader.read_event() {
            Ok(Event::Eof) => return Err(walk.broken_off()),
            Ok(event) => walk.take(&event)?,
            Err(error) if is_end(&error, text.len() as u64 - reader.error_position()) => {
                return Err(walk.broken_off());
            }
            Err(error) => return Err(malformed(&error, line_at(text, reader.error_position()))),
        }
    }
    Ok(Outline {
        entries: walk.entries,
        extras: walk.extras,
        hints: walk.requests.hints(),
    })
}

/// Whether a parser was still waiting for something when the text ended, so many bytes behind the
/// error.
fn is_end(error: &quick_xml::Error, behind: u64) -> bool {
    use quick_xml::errors::SyntaxError::InvalidBangMarkup;
    // A prefix of `<![CDATA[` is not markup, unless it is the end of the text.
    let is_cut_short = behind < "<![CDATA[".len() as u64;
    matches!(error, quick_xml::Error::Syntax(syntax) if *syntax != InvalidBangMarkup || is_cut_short)
}

/// Where the walk is.
struct Walk {
    path: Vec<Place>,
    entries: usize,
    extras: BTreeMap<usize, Extra>,
    requests: PollRequests,
    vocabularies: Vocabularies,
    /// What addresses are relative to, and how deep it was said.
    bases: Vec<(usize, Url)>,
    words: String,
    is_over: bool,
}

impl Walk {
    fn new(base: &Url) -> Self {
        Self {
            path: Vec::new(),
            entries: 0,
            extras: BTreeMap::new(),
            requests: PollRequests::default(),
            vocabularies: Vocabularies::default(),
            bases: vec![(0, base.clone())],
            words: String::new(),
            is_over: false,
        }
    }

    fn take(&mut self, event: &Event<'_>) -> Result<(), Failure> {
        match event {
            Event::Start(start) => self.enter(start)?,
            Event::Empty(start) => {
                self.enter(start)?;
                self.leave();
            }
            Event::End(_) => self.leave(),
            Event::Text(words) => self.hear(words),
            Event::CData(words) => self.hear(words),
            Event::GeneralRef(name) if self.listens_to() > 0 => {
                self.hear(&extra::unescaped(&format!("&{};", &**name)));
            }
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, start: &BytesStart<'_>) -> Result<(), Failure> {
        // The feed parser compares each attribute with all others.
        if start.attributes_raw().matches('=').count() > ATTRIBUTES_MAX {
            let detail = format!("an element has more than {ATTRIBUTES_MAX} attributes");
            return Err(Failure::new(FailureClass::Malformed, detail));
        }
        if self.path.is_empty() {
            self.vocabularies = Vocabularies::declared_by(start);
        }
        let vocabulary = self.vocabularies.of(start);
        let parent = self.path.last().copied();
        let place = match Place::inside(parent, vocabulary, start.local_name().as_ref()) {
            Place::Link if extra::is_enclosure(start) => Place::File,
            place => place,
        };
        self.entries += usize::from(place == Place::Entry);
        self.path.push(place);
        if self.path.len() > DEPTH_MAX {
            let detail = format!("the document is nested more than {DEPTH_MAX} deep");
            return Err(Failure::new(FailureClass::Malformed, detail));
        }
        self.enter_base(start);
        if place.words_max() > 0 {
            self.words.clear();
        }
        if let Some((_, base)) = self.bases.last()
            && let Some(extra) = extra_at(&mut self.extras, place, self.entries)
        {
            extra.enter(place, start, base);
        }
        Ok(())
    }

    fn enter_base(&mut self, start: &BytesStart<'_>) {
        if !start.attributes_raw().contains("xml:base") {
            return;
        }
        let base = Tag::of(start, 0);
        let base = base.attribute("xml:base").map(extra::unescaped);
        let outer = self.bases.last().map(|(_, base)| base);
        if let (Some(base), Some(outer)) = (base, outer)
            && let Ok(base) = outer.join(base.trim())
        {
            self.bases.push((self.path.len(), base));
        }
    }

    /// How much text is wanted here.
    fn listens_to(&self) -> usize {
        let place = self.path.last();
        place.map_or(0, |place| place.words_max())
    }

    fn hear(&mut self, words: &str) {
        let room = self.listens_to().saturating_sub(self.words.len());
        self.words
            .push_str(&words[..words.floor_char_boundary(room)]);
    }

    fn leave(&mut self) {
        if let Some(place) = self.path.pop()
            && place.words_max() > 0
        {
            let words = self.words.trim();
            self.requests.hear(place, words);
            if let Some(extra) = extra_at(&mut self.extras, place, self.entries) {
                extra.hear(place, words);
            }
            self.words.clear();
        }
        let depth = self.path.len();
        self.bases.pop_if(|(deep, _)| *deep > depth);
        self.is_over = self.path.is_empty();
    }

    fn broken_off(&self) -> Failure {
        let detail = match self.entries {
            0 => "the document breaks off before its first entry".to_owned(),
            1 => "the document breaks off in its first entry".to_owned(),
            entries => format!("the document breaks off in or after entry {entries}"),
        };
        Failure::new(FailureClass::Malformed, detail)
    }
}

/// Where to keep what an element shows of the entry that the walk is in, if it shows anything.
fn extra_at(
    extras: &mut BTreeMap<usize, Extra>,
    place: Place,
    entries: usize,
) -> Option<&mut Extra> {
    let at = entries.checked_sub(1).filter(|_| place.is_extra())?;
    let has_room = extras.len() < EXTRAS_MAX || extras.contains_key(&at);
    has_room.then(|| extras.entry(at).or_default())
}
