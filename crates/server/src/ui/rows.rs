//! A table on wide screens, a card for each row on narrow ones.
//!
//! A card has no heading to look up to, so every cell names its column (`data-label`), and the
//! style shows the name. A style that shows rows as blocks takes their roles away in some browsers,
//! so roles are written out. A column without which rows stay distinct says from which width
//! of the table on it is shown (`data-from`); the page of a row shows all of them. Cells come as
//! markup, in which text is escaped: `<t` always begins an element of ours.

use maud::PreEscaped;

use crate::ui::prelude::*;

/// A column: its name, and from which width on it is shown, where not always.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'a> {
    pub(crate) name: &'a str,
    pub(crate) from: Option<&'static str>,
}

impl<'a> From<&'a str> for Column<'a> {
    fn from(name: &'a str) -> Self {
        let from = None;
        Self { name, from }
    }
}

/// A table of rows. What is too wide for its place scrolls, with faded edges that say so.
pub(crate) fn table(caption: &str, head: &[Column<'_>], rows: &Markup) -> Markup {
    html! {
        div class="scroll rows" tabindex="0" role="group" aria-label=(caption) {
            table role="table" {
                caption class="unseen" { (caption) }
                thead role="rowgroup" {
                    tr role="row" {
                        @for Column { name, from } in head {
                            th role="columnheader" scope="col" data-from=[from] { (name) }
                        }
                    }
                }
                tbody role="rowgroup" { (PreEscaped(labelled(&rows.0, head))) }
            }
        }
    }
}

/// Rows whose cells name their roles and columns.
fn labelled(rows: &str, head: &[Column<'_>]) -> String {
    let labels: Vec<String> = head.iter().map(label).collect();
    let mut marked = String::with_capacity(rows.len() * 3 / 2);
    let (mut rest, mut column) = (rows, 0);
    while let Some(start) = rest.find("<t") {
        let name = &rest[start + 1..];
        let end = start + 1 + name.find([' ', '>']).unwrap_or(name.len());
        marked.push_str(&rest[..end]);
        let role = match &rest[start + 1..end] {
            "tr" => {
                column = 0;
                marked.push_str(" role=\"row\"");
                None
            }
            "td" => Some(" role=\"cell\""),
            "th" => Some(" role=\"rowheader\""),
            _ => None,
        };
        if let Some(role) = role {
            marked.push_str(role);
            marked.push_str(labels.get(column).map_or("", String::as_str));
            column += 1;
        }
        rest = &rest[end..];
    }
    marked.push_str(rest);
    marked
}

/// The attributes of a column's cells.
fn label(column: &Column<'_>) -> String {
    let name = html! { (column.name) };
    let from = column.from.map(|from| format!(" data-from=\"{from}\""));
    format!(
        " data-label=\"{}\"{}",
        name.0.trim(),
        from.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_names_its_role_and_its_column() {
        let head = [
            Column::from("Name"),
            Column {
                name: "At & \"by\"",
                from: Some("wide"),
            },
        ];
        let rows = html! {
            tr id="a" { th scope="row" { "<td>" } td { time { "noon" } } }
            tr { th { "b" } td class="x" { "1" } td { "one more" } }
        };
        let expected = concat!(
            "<tr role=\"row\" id=\"a\"><th role=\"rowheader\" data-label=\"Name\" scope=\"row\">",
            "&lt;td&gt;</th><td role=\"cell\" data-label=\"At &amp; &quot;by&quot;\" ",
            "data-from=\"wide\"><time>noon</time></td></tr>",
            "<tr role=\"row\"><th role=\"rowheader\" data-label=\"Name\">b</th>",
            "<td role=\"cell\" data-label=\"At &amp; &quot;by&quot;\" data-from=\"wide\" ",
            "class=\"x\">1</td><td role=\"cell\">one more</td></tr>",
        );
        assert_eq!(labelled(&rows.0, &head), expected);
    }
}
