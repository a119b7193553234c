use super::*;
use crate::{news::site::Site, reply::Body};

const TITLE: &str = "R&D keeps <time>";

fn written(page: Page, id: i64) -> (Option<Vec<String>>, Reply) {
    let article = page.article(&mut Chance::new(3));
    let mut story = Site::new(3, 1).day(20_000).remove(0);
    (story.id, story.title) = (id, TITLE.to_owned());
    let facts = Facts {
        story,
        url: None,
        page,
        article: article.clone(),
    };
    (article, facts.answer(9))
}

fn bytes(reply: Reply) -> Vec<u8> {
    let (bytes, cut) = reply.body.collect();
    assert!(!cut);
    bytes
}

#[test]
fn an_article_is_among_other_content_in_both_layouts() {
    for id in [0, 40] {
        let (article, reply) = written(Page::Article, id);
        let html = String::from_utf8(bytes(reply)).unwrap();
        for paragraph in article.unwrap() {
            let escaped = crate::feeds::document::escape(&paragraph);
            assert!(html.contains(&format!("<p>{escaped}</p>")), "{paragraph}");
        }
        for around in [
            "<nav",
            "<aside",
            "cookie-banner",
            "id=\"comments\"",
            "<footer",
        ] {
            assert!(html.contains(around), "{around}");
        }
        assert!(html.contains("R&amp;D keeps &lt;time&gt;"));
    }
}

#[test]
fn only_pages_with_an_article_have_one_to_find() {
    for (page, status, holds) in [
        (Page::Article, 200, true),
        (Page::AboutBlocking, 200, true),
        (Page::Redirected { hops: 2 }, 200, true),
        (Page::RedirectLoop, 301, false),
        (Page::Slow { wait_ms: 5 }, 200, true),
        (Page::Gb18030, 200, true),
        (Page::ShiftJis, 200, true),
        (Page::Blocked, 200, false),
        (Page::Forbidden, 403, false),
        (Page::Empty, 200, false),
        (Page::Shell, 200, false),
        (Page::Oversized, 200, false),
        (Page::Pdf, 200, false),
        (Page::Missing, 404, false),
        (Page::Broken, 500, false),
    ] {
        let (article, reply) = written(page, 0);
        assert_eq!(
            (reply.status, article.is_some()),
            (status, holds),
            "{page:?}"
        );
    }
}

#[test]
fn other_charsets_say_so_in_one_place_only() {
    for (page, encoding, header, inside) in [
        (Page::Gb18030, encoding_rs::GB18030, "text/html", true),
        (
            Page::ShiftJis,
            encoding_rs::SHIFT_JIS,
            "text/html; charset=Shift_JIS",
            false,
        ),
    ] {
        let (article, reply) = written(page, 0);
        assert_eq!(reply.header("content-type"), Some(header));
        let bytes = bytes(reply);
        assert!(
            std::str::from_utf8(&bytes).is_err(),
            "{page:?} is not UTF-8"
        );
        let (text, _, wrong) = encoding.decode(&bytes);
        assert!(!wrong);
        assert_eq!(text.contains("<meta charset"), inside);
        assert!(text.contains(&article.unwrap()[0]), "{page:?}");
    }
}

#[test]
fn an_oversized_page_comes_in_pieces_and_is_larger_than_ten_megabytes() {
    let (_, reply) = written(Page::Oversized, 0);
    assert!(matches!(reply.body, Body::Pieces(_)));
    assert!(bytes(reply).len() > 10 * 1024 * 1024);
}

#[test]
fn an_article_about_blocking_says_what_block_pages_say() {
    let (article, _) = written(Page::AboutBlocking, 0);
    let text = article.unwrap().join(" ").to_lowercase();
    for phrase in [
        "access denied",
        "robots.txt",
        "autonomous",
        "enable javascript",
    ] {
        assert!(text.contains(phrase), "{phrase}");
    }
    assert!(text.len() > 2000);
}

#[test]
fn kinds_come_as_often_as_usual() {
    let drawn = (0..2000).map(|id| Page::draw(&mut Chance::of(5, &[id])));
    let drawn: Vec<Page> = drawn.collect();
    let count = |page| drawn.iter().filter(|it| **it == page).count();
    assert!((50..115).contains(&count(Page::Blocked)), "4 % of 2000");
    assert!((35..90).contains(&count(Page::Pdf)), "3 % of 2000");
    assert!((1380..1540).contains(&count(Page::Article)), "73 % of 2000");
}
