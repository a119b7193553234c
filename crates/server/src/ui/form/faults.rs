//! What is wrong with a form: everything at once, each fault at its field.
//!
//! Whoever reads a value stops at the first fault and names its place, as the API does. So a form
//! is read again without the faulty field, until nothing else is wrong. The fields are marked when
//! they are rendered: the one that a place names gets the sentence below it, and a list on top leads
//! to it. No form has code of its own for this, so none can forget a field. Text in markup is
//! escaped: ` name="` is always an attribute of ours.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::de::DeserializeOwned;

use crate::ui::parts::said;
use crate::ui::prelude::*;
use crate::ui::query::{read, write};
use crate::ui::schedules::trying::misread;

/// Faults that one form can have; more would be a loop.
const FAULTS_MAX: usize = 30;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    problem: Box<Problem>,
    /// What was typed into the field.
    typed: String,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self {
            problem: Box::new(problem),
            typed: String::new(),
        }
    }
}

impl Fault {
    /// A field and what is wrong with it.
    pub(crate) fn at(field: &str, sentence: impl Into<Sentence>) -> Self {
        Problem::invalid(field, sentence).into()
    }

    /// The names that its field may have: as a place in JSON is written in a form, most exact first.
    fn names(&self) -> Vec<String> {
        let place = self.problem.place().unwrap_or_default();
        // What is wrong in one line of a field is marked at the whole.
        let place = place.split('[').next().unwrap_or_default();
        let parts = place.rsplit('.').map(str::to_owned);
        let names = std::iter::once(place.replace('.', "_")).chain(parts);
        // A target is no field: its own fields are.
        let is_field = |name: &String| !matches!(name.as_str(), "" | "target");
        names.filter(is_field).collect()
    }

    /// The part of a field that the place names: `also[1]` is a line of several.
    fn line_of<'a>(&self, typed: &'a str) -> &'a str {
        let place = self.problem.place().unwrap_or_default();
        let number = place
            .split(['[', ']'])
            .nth(1)
            .and_then(|it| it.parse().ok());
        let mut lines = typed.lines().map(str::trim).filter(|it| !it.is_empty());
        number.and_then(|number| lines.nth(number)).unwrap_or(typed)
    }

    fn sentence(&self, lang: Lang) -> Markup {
        let of_expression = self.problem.misread().map(|misread| &misread.message);
        said(lang, of_expression.unwrap_or(&self.problem.detail))
    }

    /// At the field, where there is room to show which part of an expression is meant.
    fn in_full(&self, lang: Lang) -> Markup {
        match self.problem.misread() {
            Some(it) => misread(lang, &self.typed, it),
            None => self.sentence(lang),
        }
    }
}

/// Everything that is wrong with a form; by default nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl From<Problem> for Faults {
    fn from(problem: Problem) -> Self {
        Fault::from(problem).into()
    }
}

impl Faults {
    /// Reads a form, or finds everything that is wrong with it. `stand_ins` are valid values of the
    /// fields that must not be empty.
    pub(crate) fn read<F: Serialize + DeserializeOwned, T>(
        form: &F,
        stand_ins: &[(&str, &str)],
        reader: impl Fn(&F) -> Result<T, Fault>,
    ) -> Result<T, Self> {
        let mut found = match reader(form) {
            Ok(value) => return Ok(value),
            Err(fault) => fault,
        };
        let (mut fields, mut mended, mut faults) = (pairs(form), BTreeSet::new(), Vec::new());
        loop {
            let of = |name: &str| fields.iter().find(|(field, _)| field == name);
            let stands_in = |name: &str| stand_ins.iter().find(|(field, _)| *field == name);
            let mut names = found.names().into_iter();
            let name = names.find(|name| of(name).is_some() || stands_in(name).is_some());
            let typed = name.as_deref().and_then(of);
            let line = typed.map_or("", |(_, typed)| found.line_of(typed));
            let line = line.to_owned();
            found.typed = line;
            let is_new = name
                .as_ref()
                .is_some_and(|name| mended.insert(name.clone()));
            if is_new || name.is_none() {
                faults.push(found);
            }
            let Some(name) = name.filter(|_| is_new && faults.len() < FAULTS_MAX) else {
                return Err(Self(faults));
            };
            let value = stands_in(&name).map(|(_, value)| (*value).to_owned());
            fields.retain(|(field, _)| *field != name);
            fields.extend(value.map(|value| (name, value)));
            let again = read::<F>(&write(fields.iter().map(|(name, value)| (name, value))));
            found = match again.map(|form| reader(&form)) {
                Ok(Err(fault)) => fault,
                Ok(Ok(_)) | Err(_) => return Err(Self(faults)),
            };
        }
    }

    /// These, if typing something else would do; otherwise the problem that no typing mends.
    pub(crate) fn mendable(self) -> Result<Self> {
        let is_beyond = |fault: &Fault| {
            let problem = &fault.problem;
            let status = problem.code.status();
            problem.code != Code::Unreachable
                && (status.is_server_error()
                    || matches!(
                        status,
                        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
                    ))
        };
        let mut faults = self.0;
        match faults.iter().position(is_beyond) {
            Some(place) => Err(*faults.swap_remove(place).problem),
            None => Ok(Self(faults)),
        }
    }

    /// The fields of a form, each fault at its own, below a list that leads there.
    pub(crate) fn show(&self, lang: Lang, fields: &Markup) -> Markup {
        if self.0.is_empty() {
            return fields.clone();
        }
        let mut marked = fields.0.clone();
        let place = |fault: &Fault| {
            let mut names = fault.names().into_iter();
            names.find_map(|name| field(&fields.0, &name))
        };
        // In the order of the form.
        let mut faults: Vec<&Fault> = self.0.iter().collect();
        faults.sort_by_key(|fault| place(fault));
        let count = faults.len();
        let lines = faults.into_iter().map(|it| fault_at(lang, it, &mut marked));
        let lines: Vec<Markup> = lines.collect();
        html! {
            div id="refused" class="wrong" role="alert" tabindex="-1" autofocus {
                p { strong { @match count {
                    1 => (lang.pick("Nothing was saved: one thing needs a change.", "尚未保存：有一处需要修改。")),
                    _ => (say!(lang, "Nothing was saved: {count} things need a change.", "尚未保存：有 {count} 处需要修改。")),
                } } }
                ul { @for line in &lines { li { (line) } } }
            }
            (maud::PreEscaped(marked))
        }
    }
}

/// Marks the field of a fault; answers its line in the list.
fn fault_at(lang: Lang, fault: &Fault, form: &mut String) -> Markup {
    let sentence = fault.sentence(lang);
    let found = fault
        .names()
        .into_iter()
        .find_map(|name| Some((field(form, &name)?, name)));
    let Some((tag, name)) = found else {
        return sentence;
    };
    let label = label_around(form, tag);
    let words = label.and_then(|label| words_at(form, label));
    let line = html! { a href={ "#field-" (name) } { (words.unwrap_or_else(|| name.clone())) } ": " (sentence) };
    let below = html! { div class="fault" id={ "fault-" (name) } { (fault.in_full(lang)) } };
    let (start, end) = match label {
        Some(label) => (label, after(form, tag, "</label>")),
        None => (tag, after(form, tag, ">")),
    };
    form.insert_str(end, &format!("{}</div>", below.0));
    let mut marks = String::new();
    let _ = write!(
        marks,
        " id=\"field-{name}\" aria-invalid=\"true\" aria-describedby=\"fault-{name}\""
    );
    let name_end = tag + tag_name(form, tag);
    form.insert_str(name_end, &marks);
    form.insert_str(start, "<div class=\"faulty\">");
    unfold(form, start);
    line
}

/// Where the visible field of this name begins.
fn field(form: &str, name: &str) -> Option<usize> {
    let attribute = format!(" name=\"{name}\"");
    let tags = form.match_indices(&attribute).filter_map(|(at, _)| {
        let tag = form[..at].rfind('<')?;
        let written = &form[tag..after(form, at, ">")];
        let is_field = ["<input", "<select", "<textarea"]
            .iter()
            .any(|start| written.starts_with(start));
        let is_marked = written.contains(" aria-invalid=");
        (is_field && !is_marked && !written.contains(" type=\"hidden\"")).then_some(tag)
    });
    tags.min()
}

/// The end of the next `mark` from a place on.
fn after(form: &str, from: usize, mark: &str) -> usize {
    form[from..]
        .find(mark)
        .map_or(form.len(), |found| from + found + mark.len())
}

fn tag_name(form: &str, tag: usize) -> usize {
    form[tag..].find([' ', '>']).unwrap_or(0)
}

/// The label in which a field is.
fn label_around(form: &str, tag: usize) -> Option<usize> {
    let label = form[..tag].rfind("<label")?;
    (!form[label..tag].contains("</label>")).then_some(label)
}

/// What a label says before its field; the words are markup already.
fn words_at(form: &str, label: usize) -> Option<String> {
    let start = after(form, label, ">");
    let words = form[start..].split('<').next()?.trim();
    let plain = words
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    (!plain.is_empty()).then_some(plain)
}

/// Opens what is folded around a place.
fn unfold(form: &mut String, place: usize) {
    let Some(details) = form[..place].rfind("<details") else {
        return;
    };
    let tag = form[details..].find('>').unwrap_or(0);
    let is_around = !form[details..place].contains("</details>");
    if is_around && !form[details..details + tag].contains(" open") {
        form.insert_str(details + "<details".len(), " open");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, Serialize, Deserialize)]
    struct Form {
        name: Option<String>,
        count: Option<String>,
        note: Option<String>,
    }

    fn reader(form: &Form) -> Result<u8, Fault> {
        let name = form.name.as_deref().unwrap_or_default();
        Problem::unless(!name.is_empty(), "target.name", || {
            "name must not be empty".to_owned()
        })?;
        Problem::unless(form.note.is_none(), "note", || "no note, please".to_owned())?;
        let count = form.count.as_deref().unwrap_or("0");
        count
            .parse()
            .map_err(|_| Fault::at("count", both!("Enter a number.", "请填写数字。")))
    }

    fn with(name: &str, count: &str, note: Option<&str>) -> Form {
        Form {
            name: Some(name.to_owned()),
            count: Some(count.to_owned()),
            note: note.map(str::to_owned),
        }
    }

    const STAND_INS: &[(&str, &str)] = &[("name", "x")];

    #[test]
    fn everything_that_is_wrong_is_found_at_once() {
        let places = |form: &Form| -> Vec<String> {
            let faults = Faults::read(form, STAND_INS, reader)
                .err()
                .unwrap_or_default();
            let place = |fault: &Fault| fault.problem.place().unwrap_or_default().to_owned();
            faults.0.iter().map(place).collect()
        };
        assert_eq!(
            Faults::read(&with("a", "3", None), STAND_INS, reader).ok(),
            Some(3)
        );
        assert_eq!(places(&with("a", "x", None)), ["count"]);
        let all = ["target.name", "note", "count"];
        assert_eq!(places(&with("", "x", Some("hm"))), all);
        assert_eq!(
            places(&Form {
                count: Some("x".to_owned()),
                note: Some("hm".to_owned()),
                name: None
            }),
            all
        );
    }

    #[test]
    fn a_reader_that_does_not_accept_a_stand_in_ends_nevertheless() {
        let never = |_: &Form| Err::<(), _>(Fault::at("name", "no".to_owned()));
        let faults = Faults::read(&with("a", "", None), STAND_INS, never).unwrap_err();
        assert_eq!(faults.0.len(), 1);
        let nowhere = |_: &Form| Err::<(), Fault>(Problem::in_query("no".to_owned()).into());
        let faults = Faults::read(&with("a", "", None), STAND_INS, nowhere).unwrap_err();
        assert_eq!(faults.0.len(), 1);
    }

    #[test]
    fn a_field_is_marked_and_the_list_leads_there() {
        let faults = Faults::read(&with("", "x", Some("hm")), STAND_INS, reader).unwrap_err();
        let fields = html! {
            input type="hidden" name="note" value="1";
            details { summary { "More" } label { "How many <b>" input name="count" value="x"; } }
            label class="wide" { "Name" textarea name="name" { } }
        };
        let shown = faults.show(Lang::Chinese, &fields).into_string();
        for part in [
            "<details open>",
            "<div class=\"faulty\"><label>How many &lt;b&gt;<input id=\"field-count\" aria-invalid=\"true\" aria-describedby=\"fault-count\" name=\"count\"",
            "</label><div class=\"fault\" id=\"fault-count\">请填写数字。</div></div>",
            "<a href=\"#field-name\">Name</a>: <span lang=\"en\">name must not be empty</span>",
            "<a href=\"#field-count\">How many &lt;b&gt;</a>: 请填写数字。",
            "<li><span lang=\"en\">no note, please</span></li>",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert_eq!(
            Faults::default().show(Lang::English, &fields).into_string(),
            fields.into_string()
        );
    }
}
