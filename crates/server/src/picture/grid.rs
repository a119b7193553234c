//! Many items of one kind as small squares by outcome, such as the stories of an edition.
//!
//! A list of links instead of a drawing: it wraps into as many rows as needed, and screen readers
//! announce each square.

use super::prelude::*;

#[derive(Debug, Clone)]
pub(crate) struct Square {
    /// What it is called.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Its page, or its position on this page.
    pub(crate) href: Option<String>,
}

pub(crate) fn draw(squares: &[Square], frame: &Frame<'_>) -> Markup {
    let lang = frame.lang;
    let counts: Counts = squares.iter().map(|square| square.outcome).collect();
    let (total, words) = (counts.total(), counts.words(lang));
    let drawing = html! {
        ul.grid aria-labelledby={(frame.id) "-summary"} {
            @for Square { name, outcome, href } in squares {
                @let (class, name) = (outcome.class(), say!(lang, "{name}: {}", "{name}：{}", outcome.name(lang)));
                li {
                    @if let Some(href) = href {
                        a class=(class) href=(href) title=(name) aria-label=(name) { (outcome.icon()) }
                    } @else {
                        span class=(class) title=(name) role="img" aria-label=(name) { (outcome.icon()) }
                    }
                }
            }
        }
    };
    Figure::new(
        frame,
        say!(lang, "Total {total}: {words}.", "共 {total}：{words}。"),
    )
    .with(&drawing)
    .legend(legend(counts.present(), lang))
    .render()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::picture::tests as gallery;
    use almanack_core::lang::Lang;

    #[test]
    fn squares_are_links_with_names() {
        let frame = Frame {
            id: "g",
            caption: "Stories",
            lang: Lang::English,
            zone: &TimeZone::UTC,
        };
        let square = |outcome, href: Option<&str>| Square {
            name: "A <b>story</b>".to_owned(),
            outcome,
            href: href.map(str::to_owned),
        };
        let squares = [
            square(Outcome::Failed, Some("#s1")),
            square(Outcome::Planned, None),
        ];
        assert_snapshot!(gallery::lines(draw(&squares, &frame)), @r##"
        <figure class="picture">
        <figcaption>
        <strong>Stories</strong> <span class="summary" id="g-summary">Total 2: 1 planned, 1 failed.</span>
        <ul class="grid" aria-labelledby="g-summary">
        <li>
        <a class="failed" href="#s1" title="A &lt;b&gt;story&lt;/b&gt;: failed" aria-label="A &lt;b&gt;story&lt;/b&gt;: failed">
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o failed" d="M-3.8-3.8l7.6 7.6M-3.8 3.8l7.6-7.6">
        <li>
        <span class="planned" title="A &lt;b&gt;story&lt;/b&gt;: planned" role="img" aria-label="A &lt;b&gt;story&lt;/b&gt;: planned">
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o planned" d="M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0">
        <ul class="legend">
        <li>
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o planned" d="M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0">
        <li>
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o failed" d="M-3.8-3.8l7.6 7.6M-3.8 3.8l7.6-7.6">
        "##);
    }
}
