//! Tables and facts: a page declares what it shows, not how it is written.
//!
//! Macros, because a cell is markup over the row's own variable, and because every heading is
//! written in both languages.

/// A table by its columns: the heading of each in both languages, and the cell of a row. `or` is
/// shown if there are no rows; a column may depend on a condition, or be shown from a width on:
/// `[mid]`, `[wide]` (see [`crate::ui::rows`]).
macro_rules! table {
    ($lang:expr; $caption:literal, $caption_zh:literal; $(or $none:literal, $none_zh:literal;)?
     for ($($each:tt)*) tr($($attributes:tt)*)
     $($head:literal, $head_zh:literal $([$from:ident])? $(if ($when:ident))? { $($cell:tt)* })*) => {{
        let mut head: Vec<$crate::ui::rows::Column<'_>> = Vec::new();
        $(head.extend(Some($crate::ui::rows::Column {
            name: $lang.pick($head, $head_zh),
            from: None $(.or(Some(stringify!($from))))?,
        })$(.filter(|_| $when))?);)*
        let rows = ::maud::html! {
            @for $($each)* { tr $($attributes)* { $($(@if $when)? { $($cell)* })* } }
        };
        let none: Option<&str> = None $(.or(Some($lang.pick($none, $none_zh))))?;
        match none {
            Some(none) if rows.0.is_empty() => $crate::ui::parts::empty(none),
            _ => $crate::ui::rows::table($lang.pick($caption, $caption_zh), &head, &rows),
        }
    }};
}

/// Facts with names in both languages; one with a condition is shown only if it holds.
macro_rules! facts {
    ($lang:expr; $($name:tt, $name_zh:tt $(if ($($when:tt)*))? { $($value:tt)* })*) => {
        ::maud::html! {
            dl class="facts" {
                $($(@if $($when)*)? {
                    div { dt { ($lang.pick($name, $name_zh)) } dd { $($value)* } }
                })*
            }
        }
    };
}

/// A part of a page under its heading in both languages.
macro_rules! section {
    ($lang:expr; $id:literal, $title:literal, $title_zh:literal; $($body:tt)*) => {
        $crate::ui::parts::section($id, $lang.pick($title, $title_zh), &::maud::html! { $($body)* })
    };
}

/// Options: each value with its text in both languages.
macro_rules! options {
    ($lang:expr; $($value:literal => $english:literal, $chinese:literal;)*) => {
        [$(($value, $lang.pick($english, $chinese))),*]
    };
}

/// A badge for each case: its class, and its text in both languages.
macro_rules! badges {
    ($lang:expr, $of:expr;
     $($case:pat $(if $guard:expr)? => $class:literal, $english:tt, $chinese:tt;)*) => {
        match $of {
            $($case $(if $guard)? => $crate::ui::parts::badge($class, $lang.pick($english, $chinese)),)*
        }
    };
}

pub(crate) use {badges, facts, options, section, table};
