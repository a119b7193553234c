//! Reading an iCalendar text (RFC 5545): the all-day events of it, each with its days.
//!
//! Of an event count `DTSTART`, `DTEND` or `DURATION`, `RRULE`, `RDATE`, `EXDATE`,
//! `RECURRENCE-ID`, `STATUS:CANCELLED` and `SUMMARY`. Events with a time of day are no days and are
//! passed over, and so is everything that is no event. What is unknown inside an all-day event's
//! rule refuses the whole text: a holiday must not be missed in silence.

use std::{collections::BTreeSet, fmt};

use jiff::{ToSpan, civil::Date};

use super::{ICAL_BYTES_MAX, NAME_BYTES_MAX, recurrence::Recurrence};
/// The longest that one event lasts, in days.
const EVENT_DAYS_MAX: i32 = 366;

/// Where and why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// From 1; 0 for the text as a whole.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.why),
            line => write!(f, "line {line}: {}", self.why),
        }
    }
}

/// A day and what it is called.
type Day = (Date, Option<String>);

/// The days of all all-day events, in no order; several events may share a day.
pub(super) fn days(text: &str) -> Result<Vec<Day>, Fault> {
    let whole = |why: String| Fault { line: 0, why };
    if text.len() > ICAL_BYTES_MAX {
        return Err(whole(format!("more than {ICAL_BYTES_MAX} bytes")));
    }
    let events = events(text)?;
    let all_day: Vec<&Event> = events.iter().filter(|it| it.start.is_some()).collect();
    if all_day.is_empty() {
        return Err(whole("there is no all-day event".to_owned()));
    }
    let mut days = Vec::new();
    for event in &all_day {
        let replaced = all_day.iter().filter(|it| it.uid == event.uid);
        let replaced: BTreeSet<Date> = match event.replaces {
            None => replaced.filter_map(|it| it.replaces).collect(),
            Some(_) => BTreeSet::new(),
        };
        if !event.cancelled {
            event.unroll(&replaced, &mut days)?;
        }
        if days.len() > super::DAYS_MAX {
            return Err(whole(format!("more than {} days", super::DAYS_MAX)));
        }
    }
    Ok(days)
}

#[derive(Debug, Default)]
struct Event {
    /// Where it begins in the text.
    line: usize,
    uid: Option<String>,
    start: Option<Date>,
    /// The day after the last.
    end: Option<Date>,
    lasts: Option<i32>,
    rule: Option<Recurrence>,
    also: Vec<Date>,
    except: BTreeSet<Date>,
    replaces: Option<Date>,
    name: Option<String>,
    cancelled: bool,
}

impl Event {
    fn unroll(&self, replaced: &BTreeSet<Date>, days: &mut Vec<Day>) -> Result<(), Fault> {
        let Some(start) = self.start else {
            return Ok(());
        };
        let fault = |why: &str| Fault {
            line: self.line,
            why: why.to_owned(),
        };
        let lasts = match (self.end, self.lasts) {
            (Some(end), _) => start.until(end).map_or(0, |span| span.get_days()),
            (None, Some(lasts)) => lasts,
            (None, None) => 1,
        };
        if !(0..=EVENT_DAYS_MAX).contains(&lasts) {
            return Err(fault("the event must last 1 to 366 days"));
        }
        let mut starts: BTreeSet<Date> = match &self.rule {
            Some(rule) => rule.dates(start).ok_or_else(|| fault("too many days"))?,
            None => BTreeSet::new(),
        };
        // The first day counts even where its rule would not name it.
        starts.insert(start);
        starts.extend(&self.also);
        for first in starts {
            if self.except.contains(&first) || replaced.contains(&first) {
                continue;
            }
            // An end on the first day itself is a slip that everybody reads as one day.
            for day in 0..lasts.max(1) {
                let on = first.checked_add(day.days());
                let on = on.map_err(|_| fault("the event ends after all years"))?;
                days.push((on, self.name.clone()));
            }
        }
        Ok(())
    }
}

fn events(text: &str) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    let mut is_calendar = false;
    for (line, content) in unfolded(text) {
        let Some(property) = Property::read(line, &content) else {
            continue;
        };
        match property.name.as_str() {
            "BEGIN" => {
                let what = property.value.to_ascii_uppercase();
                is_calendar |= what == "VCALENDAR";
                if what == "VEVENT" {
                    events.push(Event {
                        line,
                        ..Event::default()
                    });
                }
                inside.push(what);
            }
            "END" => drop(inside.pop()),
            _ if inside.last().is_some_and(|it| it == "VEVENT") => {
                if let Some(event) = events.last_mut() {
                    event.take(&property)?;
                }
            }
            _ => {}
        }
    }
    if is_calendar {
        return Ok(events);
    }
    let why = "this is no iCalendar text: it does not have BEGIN:VCALENDAR".to_owned();
    Err(Fault { line: 0, why })
}

impl Event {
    fn take(&mut self, property: &Property) -> Result<(), Fault> {
        match property.name.as_str() {
            "DTSTART" => self.start = property.date()?,
            "DTEND" => self.end = property.date()?,
            "DURATION" => self.lasts = whole_days(&property.value),
            "RRULE" if self.rule.is_some() => {
                return Err(property.fault("an event has one RRULE"));
            }
            "RRULE" => {
                let rule = Recurrence::parse(&property.value);
                self.rule = Some(rule.map_err(|why| property.fault(&why))?);
            }
            "RDATE" => self.also.extend(property.dates()?),
            "EXDATE" => self.except.extend(property.dates()?),
            "EXRULE" => return Err(property.fault("EXRULE is not supported")),
            "RECURRENCE-ID" => self.replaces = property.date()?,
            "UID" => self.uid = Some(property.value.clone()),
            "STATUS" => self.cancelled = property.value.eq_ignore_ascii_case("CANCELLED"),
            "SUMMARY" => {
                let name = unescaped(&property.value);
                self.name = Some(shortened(name.trim())).filter(|it| !it.is_empty());
            }
            _ => {}
        }
        Ok(())
    }
}

struct Property {
    line: usize,
    /// Upper case, without parameters.
    name: String,
    value: String,
}

impl Property {
    /// `NAME;PARAMETER="a:b":value`; the first colon outside quotes ends the name.
    fn read(line: usize, content: &str) -> Option<Self> {
        let mut quoted = false;
        let colon = content.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == ':' && !quoted
        })?;
        let (name, value) = content.split_at(colon.0);
        let name = name.split(';').next().unwrap_or_default();
        Some(Self {
            line,
            name: name.trim().to_ascii_uppercase(),
            value: value.get(1..).unwrap_or_default().trim().to_owned(),
        })
    }

    /// The day; none if it has a time of day.
    fn date(&self) -> Result<Option<Date>, Fault> {
        if self.value.contains('T') {
            return Ok(None);
        }
        let date = Date::strptime("%Y%m%d", &self.value);
        let date = date.map_err(|_| self.fault("a date is written like 20261224"))?;
        Ok(Some(date))
    }

    fn dates(&self) -> Result<Vec<Date>, Fault> {
        let mut dates = Vec::new();
        for value in self.value.split(',') {
            let one = Self {
                line: self.line,
                name: self.name.clone(),
                value: value.trim().to_owned(),
            };
            dates.extend(one.date()?);
        }
        Ok(dates)
    }

    fn fault(&self, why: &str) -> Fault {
        Fault {
            line: self.line,
            why: format!("{}: {why}", self.name),
        }
    }
}

/// The lines of the text, each with its number; a line that begins with a blank continues the one
/// before.
fn unfolded(text: &str) -> Vec<(usize, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some((_, before))) => before.push_str(rest),
            _ => lines.push((index + 1, line.to_owned())),
        }
    }
    lines
}

/// `P1D`, `P2W`.
fn whole_days(value: &str) -> Option<i32> {
    let value = value.strip_prefix('+').unwrap_or(value).strip_prefix('P')?;
    let (number, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    let number: i32 = number.parse().ok()?;
    match unit {
        "D" => Some(number),
        "W" => number.checked_mul(7),
        _ => None,
    }
}

/// As much of a name as a calendar keeps.
fn shortened(name: &str) -> String {
    let fits = |(start, c): &(usize, char)| start + c.len_utf8() <= NAME_BYTES_MAX;
    let kept = name.char_indices().take_while(fits);
    kept.map(|(_, c)| c).collect()
}

/// Text as people read it: `\,`, `\;`, `\\`, and a line break as a blank.
fn unescaped(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        let c = match c {
            '\\' => match characters.next() {
                Some('n' | 'N') | None => ' ',
                Some(escaped) => escaped,
            },
            c if c.is_control() => ' ',
            c => c,
        };
        plain.push(c);
    }
    plain
}
