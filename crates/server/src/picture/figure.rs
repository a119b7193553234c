//! What every picture of a page has in common: a caption, a sentence that says what is to be seen, the drawing, and the
//! numbers behind it as a table.
//!
//! What must stay true:
//!
//! - A picture says nothing that its sentence and its table do not say; who cannot see it misses nothing.
//! - A drawing without links is an image to those who have pages read to them. One with links is a group, because an image
//!   hides what is inside; its marks are for the mouse, and the same links stand in the table for the keyboard.
//! - There is neither a `style` attribute nor a `<style>`: the content policy would refuse them.
//! - Texts do not shrink below what can be read: a drawing that is wider than its place is scrolled.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use maud::{Markup, html};

use crate::ui::lang::{Lang, say};

/// Where and for whom a picture is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Unique on the page; what the drawing names is named after it.
    pub(crate) id: &'a str,
    /// What the picture is of.
    pub(crate) caption: &'a str,
    /// The reader's language.
    pub(crate) lang: Lang,
    /// The zone in which times are told.
    pub(crate) zone: &'a TimeZone,
}

/// A picture, ready to be shown.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    /// Where it stands.
    pub(crate) frame: Frame<'a>,
    /// What is to be seen, in a sentence.
    pub(crate) summary: String,
    /// The drawing; wrapped in [`scroller`] if it is wide.
    pub(crate) drawing: Markup,
    /// What the marks mean; empty if that needs no words.
    pub(crate) legend: Markup,
    /// The numbers; none if the drawing is itself made of words.
    pub(crate) table: Option<Table>,
}

/// Numbers in rows; the first cell of a row is its name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// The names of the columns.
    pub(crate) head: Vec<Cow<'static, str>>,
    /// The rows.
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// One cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// What it says.
    pub(crate) text: Cow<'static, str>,
    /// Where it leads.
    pub(crate) href: Option<String>,
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

impl maud::Render for Figure<'_> {
    fn render(&self) -> Markup {
        let Frame {
            id, caption, lang, ..
        } = self.frame;
        html! {
            figure.picture {
                figcaption { strong { (caption) } " " span.told id={(id) "-told"} { (self.summary) } }
                (self.drawing)
                (self.legend)
                @if let Some(table) = &self.table { (table.render(caption, lang)) }
            }
        }
    }
}

impl Table {
    fn render(&self, caption: &str, lang: Lang) -> Markup {
        html! {
            details.data {
                summary { (say!(lang, "As a table", "以表格显示")) }
                div.scroll tabindex="0" role="group" aria-label=(say!(lang, "Table: {caption}", "表格：{caption}")) {
                    table {
                        caption { (caption) }
                        thead { tr { @for name in &self.head { th scope="col" { (name) } } } }
                        tbody { @for row in &self.rows { tr { @for (column, cell) in row.iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        } } } }
                    }
                }
            }
        }
    }
}

impl maud::Render for Cell {
    fn render(&self) -> Markup {
        html! {
            @if let Some(href) = &self.href { a href=(href) { (self.text) } } @else { (self.text) }
        }
    }
}

/// What is inside an `<svg>`, and how it is told.
pub(crate) struct Drawing<'a> {
    /// Where it stands.
    pub(crate) frame: &'a Frame<'a>,
    /// Its width and height.
    pub(crate) size: (f64, f64),
    /// How it is laid out: a class of the style sheet.
    pub(crate) class: &'static str,
    /// Whether marks are links.
    pub(crate) links: bool,
    /// What is to be seen, in a sentence.
    pub(crate) summary: &'a str,
    /// The marks.
    pub(crate) inside: Markup,
}

impl maud::Render for Drawing<'_> {
    fn render(&self) -> Markup {
        let Frame { id, caption, .. } = self.frame;
        let (width, height) = self.size;
        let role = if self.links { "group" } else { "img" };
        html! {
            svg class=(self.class) viewBox={"0 0 " (super::axis::Px(width)) " " (super::axis::Px(height))}
                role=(role) aria-labelledby={(id) "-t " (id) "-d"} {
                title id={(id) "-t"} { (caption) }
                desc id={(id) "-d"} { (self.summary) }
                (self.inside)
            }
        }
    }
}

/// A place in which a wide drawing is scrolled, by touch, wheel or keyboard.
pub(crate) fn scroller(frame: &Frame<'_>, inside: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="group" aria-label=(frame.caption) { (inside) } }
}

/// A mark with its words; a link if it leads somewhere. The table holds the same links for the keyboard.
pub(crate) fn mark(href: Option<&str>, title: &str, ink: &Markup) -> Markup {
    html! {
        @if let Some(href) = href { a href=(href) tabindex="-1" { (ink) title { (title) } } }
        @else { g { (ink) title { (title) } } }
    }
}

/// A text cut to a width; characters of East Asia are twice as wide.
pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    let wide = |c: char| if u32::from(c) >= 0x1100 { 2 } else { 1 };
    if text.chars().map(wide).sum::<usize>() <= most {
        return Cow::Borrowed(text);
    }
    let mut width = 1;
    let kept = text.chars().take_while(|c| {
        width += wide(*c);
        width <= most
    });
    Cow::Owned(kept.chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_their_width() {
        for (name, most, cut) in [
            ("Example", 7, "Example"),
            ("Examples", 7, "Exampl…"),
            ("每日新闻", 8, "每日新闻"),
            ("每日新闻", 7, "每日新…"),
            ("", 3, ""),
        ] {
            assert_eq!(shorten(name, most), cut);
        }
    }
}
