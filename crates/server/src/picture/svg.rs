//! The only SVG writer: positioned elements, and the frame of a picture in a separate file.
//!
//! A picture provides numbers and texts; this module turns them into markup. What must stay true:
//! every number is finite and short, every text is escaped, and a file is well-formed XML whatever
//! a name contains.

use std::{borrow::Cow, fmt};

use maud::{Markup, PreEscaped, Render, html};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A position or length. Only one decimal is written; more is noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (finite(self.0) * 10.0).round() / 10.0;
        // Adding zero removes the sign of a negative zero.
        write!(f, "{}", tenths + 0.0)
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        use fmt::Write;
        // Writing to a String cannot fail.
        let _ = write!(buffer, "{self}");
    }
}

/// A count as a position; saturates at four billion.
pub fn real(count: impl TryInto<u32>) -> f64 {
    f64::from(count.try_into().unwrap_or(u32::MAX))
}

/// NaN becomes zero.
pub fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

pub fn rect(class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) -> Markup {
    html! { rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height)) {} }
}

/// A rectangle with round corners.
pub fn rounded(class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2], round: f64) -> Markup {
    html! {
        rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height)) rx=(Px(round)) {}
    }
}

/// A disc around its middle.
pub fn disc(class: &str, [x, y]: [f64; 2], radius: f64) -> Markup {
    html! { circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(Px(radius)) {} }
}

/// A path that starts at a position and continues with `rest`, in SVG path syntax.
pub fn path(class: &str, [x, y]: [f64; 2], rest: impl fmt::Display) -> Markup {
    html! { path class=(class) d={ "M" (Px(x)) " " (Px(y)) (rest.to_string()) } {} }
}

/// A line from left to right.
pub fn across(class: &str, y: f64, from: f64, to: f64) -> Markup {
    path(class, [from, y], format_args!("H{}", Px(to)))
}

/// A line from top to bottom.
pub fn down(class: &str, x: f64, from: f64, to: f64) -> Markup {
    path(class, [x, from], format_args!("V{}", Px(to)))
}

/// Words on their line.
pub fn text(class: &str, [x, y]: [f64; 2], words: impl Render) -> Markup {
    let class = (!class.is_empty()).then_some(class);
    html! { text class=[class] x=(Px(x)) y=(Px(y)) { (words) } }
}

/// Moves a drawing from the origin to its position.
pub fn at([x, y]: [f64; 2], ink: impl Render) -> Markup {
    html! { g transform={ "translate(" (Px(x)) " " (Px(y)) ")" } { (ink) } }
}

/// A drawing with a tooltip.
pub fn titled(title: impl Render, ink: impl Render) -> Markup {
    html! { g { (ink) title { (title) } } }
}

/// Horizontal lines at the values of an axis, with labels on the left.
pub fn rungs(values: impl IntoIterator<Item = (f64, String)>, left: f64, right: f64) -> Markup {
    html! {
        @for (y, name) in values {
            (across("tick", y, left, right))
            (text("value", [left - 8.0, y + 4.0], name))
        }
    }
}

/// A text cut to a number of columns, without characters that XML forbids; East Asian characters
/// take two columns.
pub fn fit(text: &str, columns_max: usize) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    if !text.contains(odd) && text.width() <= columns_max {
        return Cow::Borrowed(text);
    }
    let mut text = text.replace(odd, " ");
    if text.width() > columns_max {
        let mut columns = 1;
        let fits = |c: &char| {
            columns += c.width().unwrap_or(0);
            columns <= columns_max
        };
        text = text.chars().take_while(fits).chain(['…']).collect();
    }
    Cow::Owned(text)
}

/// The style that pictures in files share, followed by their own.
macro_rules! file_style {
    () => {
        "text{font:13px system-ui,sans-serif;fill:#1c2330}.faint{fill:#5c6675;font-size:12px}\
         .title{font-size:16px;font-weight:600}.paper{fill:#fff}.end{text-anchor:end}.middle{text-anchor:middle}\
         @media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#9aa4b2}.paper{fill:#12161d}}"
    };
}
pub(super) use file_style;

/// The style that pictures in files share.
pub const FILE_STYLE: &str = file_style!();

/// A picture as a separate file. It follows the reader's light or dark scheme, runs no script, and
/// describes itself in words.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// A title in one line.
    pub title: &'a str,
    /// A longer description; may be empty.
    pub description: &'a str,
    pub size: [f64; 2],
    /// Its whole style sheet.
    pub style: &'a str,
}

impl File<'_> {
    /// Writes the file around what is drawn.
    pub fn write(&self, ink: impl Render) -> String {
        let [width, height] = self.size.map(Px);
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-labelledby="title" {
                title id="title" { (self.title) }
                @if !self.description.is_empty() { desc { (self.description) } }
                style { (PreEscaped(self.style)) }
                (rounded("paper", [0.0, 0.0], self.size, 8.0))
                (ink)
            }
        };
        // One line for each group and text, so that files can be compared.
        svg.into_string()
            .replace("><g", ">\n<g")
            .replace("><text", ">\n<text")
            + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short_to_write() {
        for (value, written) in [
            (0.0, "0"),
            (-0.01, "0"),
            (12.0, "12"),
            (12.34, "12.3"),
            (-3.96, "-4"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(Px(value).to_string(), written);
        }
    }

    #[test]
    fn names_are_cut_to_their_width() {
        for (name, most, cut) in [
            ("Example", 7, "Example"),
            ("Examples", 7, "Exampl…"),
            ("每日新闻", 8, "每日新闻"),
            ("每日新闻", 7, "每日新…"),
            ("a\u{0}b\u{fffe}", 7, "a b "),
            ("", 3, ""),
        ] {
            assert_eq!(fit(name, most), cut);
        }
    }
}
