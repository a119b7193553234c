//! What every picture of a page shares: a caption, a sentence that describes it, the drawing, and
//! the numbers as a table.
//!
//! What must stay true:
//!
//! - The sentence and the table contain everything the picture shows, for readers who cannot see
//!   it.
//! - A drawing without links is an image for screen readers. One with links is a group, because an
//!   image hides its content; its marks are for the mouse, and the table contains the same links
//!   for the keyboard.
//! - There is neither a `style` attribute nor a `<style>`: the content security policy would refuse
//!   them.
//! - Texts never shrink below a readable size: a drawing wider than the page scrolls.

use std::borrow::Cow;

use super::prelude::*;

/// Where and for whom a picture is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Unique on the page; prefix of the element ids of the drawing.
    pub(crate) id: &'a str,
    pub(crate) caption: &'a str,
    pub(crate) lang: Lang,
    /// The zone of displayed times.
    pub(crate) zone: &'a TimeZone,
}

impl Frame<'_> {
    /// An instant, for this reader.
    pub(crate) fn moment(&self, at: Timestamp) -> String {
        clock::moment(at, self.zone, self.lang)
    }
}

/// Whether marks are links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    Plain,
    Links,
}

/// A picture of a page.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    frame: &'a Frame<'a>,
    /// A description in one sentence.
    summary: String,
    drawing: Markup,
    /// The legend; empty if none is needed.
    legend: Markup,
    /// The numbers; empty if the drawing itself is text.
    table: Markup,
}

/// One cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: Cow<'static, str>,
    href: Option<String>,
}

impl Cell {
    /// A cell that leads somewhere.
    pub(crate) fn link(text: impl Into<Cow<'static, str>>, href: Option<&str>) -> Self {
        Self {
            text: text.into(),
            href: href.map(str::to_owned),
        }
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::link(text, None)
    }
}

impl<'a> Figure<'a> {
    /// A figure without a drawing yet.
    pub(crate) fn new(frame: &'a Frame<'a>, summary: impl Into<String>) -> Self {
        Self {
            frame,
            summary: summary.into(),
            drawing: Markup::default(),
            legend: Markup::default(),
            table: Markup::default(),
        }
    }

    /// A drawing as a separate element.
    pub(crate) fn svg(&self, class: &str, size: [f64; 2], marks: Marks, ink: &Markup) -> Markup {
        let Frame { id, caption, .. } = self.frame;
        let [width, height] = size.map(Px);
        let role = if marks == Marks::Links {
            "group"
        } else {
            "img"
        };
        html! {
            svg class=(class) viewBox={ "0 0 " (width) " " (height) } role=(role)
                aria-labelledby={ (id) "-t " (id) "-d" } {
                title id={ (id) "-t" } { (caption) }
                desc id={ (id) "-d" } { (self.summary) }
                (ink)
            }
        }
    }

    /// With a drawing that is wide, and scrolled by touch, wheel or keyboard.
    pub(crate) fn wide(self, class: &str, size: [f64; 2], marks: Marks, ink: &Markup) -> Self {
        let svg = self.svg(class, size, marks, ink);
        self.scrolled(&svg)
    }

    pub(crate) fn scrolled(self, inside: &Markup) -> Self {
        let label = self.frame.caption;
        self.with(&html! {
            div.scroll tabindex="0" role="group" aria-label=(label) { (inside) }
        })
    }

    /// With something that needs no scrolling, below what is there.
    pub(crate) fn with(mut self, drawing: &Markup) -> Self {
        self.drawing.0.push_str(&drawing.0);
        self
    }

    pub(crate) fn legend(self, legend: Markup) -> Self {
        Self { legend, ..self }
    }

    /// With the numbers, under headings in both languages.
    pub(crate) fn table<R: IntoIterator<Item = Cell>>(
        self,
        head: &[(&'static str, &'static str)],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let lang = self.frame.lang;
        let head = head
            .iter()
            .map(|(english, chinese)| lang.pick(english, chinese).to_owned());
        self.table_under(&head.collect::<Vec<_>>(), rows)
    }

    /// With the numbers, under computed headings; the first cell of a row is its name.
    pub(crate) fn table_under<R: IntoIterator<Item = Cell>>(
        self,
        head: &[String],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let Frame { caption, lang, .. } = self.frame;
        let label = say!(lang, "Table: {caption}", "表格：{caption}");
        let table = html! {
            details.data {
                summary { (lang.pick("As a table", "以表格显示")) }
                div.scroll tabindex="0" role="group" aria-label=(label) {
                    table {
                        caption { (caption) }
                        thead { tr { @for name in head { th scope="col" { (name) } } } }
                        tbody { @for row in rows { tr { @for (column, cell) in row.into_iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        } } } }
                    }
                }
            }
        };
        Self { table, ..self }
    }
}

impl Render for Figure<'_> {
    fn render(&self) -> Markup {
        let Frame { id, caption, .. } = self.frame;
        html! {
            figure.picture {
                figcaption { strong { (caption) } " " span.summary id={(id) "-summary"} { (self.summary) } }
                (self.drawing)
                (self.legend)
                (self.table)
            }
        }
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        html! {
            @if let Some(href) = &self.href { a href=(href) { (self.text) } } @else { (self.text) }
        }
    }
}

/// A small inline drawing, an image with a description.
pub(crate) fn inline(class: &str, size: [f64; 2], label: &str, ink: &Markup) -> Markup {
    let [width, height] = size.map(Px);
    html! {
        svg class=(class) viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(label) { (ink) }
    }
}

/// A mark with its title; a link if it has an address. The table contains the same links for the
/// keyboard.
pub(crate) fn mark(href: Option<&str>, title: &str, ink: &Markup) -> Markup {
    html! {
        @if let Some(href) = href { a href=(href) tabindex="-1" { (ink) title { (title) } } }
        @else { g { (ink) title { (title) } } }
    }
}
