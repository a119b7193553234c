use FailureClass as C;
use almanack_core::source::reading::{HtmlRules, JsonRules, SitemapRules};
use jiff::Timestamp;
use url::Url;

use super::*;

fn read(reading: &Reading, answer: &str) -> Result<Document, Failure> {
    let base = Url::parse("https://site.example/feed").unwrap();
    let now = Timestamp::constant(1_767_600_000, 0);
    crate::feed::read(reading, answer.as_bytes(), None, &base, now)
}

fn check(reading: &Reading, answer: &str, expected: Option<C>) {
    let class = read(reading, answer).err().map(|failure| failure.class);
    assert_eq!(class, expected, "{answer}");
}

fn by_paths() -> Reading {
    Reading::Json(JsonRules {
        items: "$.data[*]".to_owned(),
        title: "$.title".to_owned(),
        link: None,
        id: None,
        date: None,
        summary: None,
    })
}

fn by_selectors() -> Reading {
    Reading::Html(HtmlRules {
        item: "li.post".to_owned(),
        title: "a".to_owned(),
        link: None,
        date: None,
        summary: None,
    })
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html><head><title>{title}</title><script>var captcha;</script></head><body>{body}</body></html>"
    )
}

/// What sites really say, and what that is.
const SAID: [(&str, C); 20] = [
    ("操作过于频繁，请稍后再试", C::RateLimited),
    ("您的访问过于频繁，请稍后再试！", C::RateLimited),
    ("请求过于频繁", C::RateLimited),
    ("Rate limit exceeded", C::RateLimited),
    ("You are being rate limited.", C::RateLimited),
    ("429 Too Many Requests", C::RateLimited),
    ("操作过于频繁，请输入验证码", C::RateLimited),
    ("登录已过期，请重新登录", C::Unauthorised),
    ("请先登录", C::Unauthorised),
    ("账号未登录", C::Unauthorised),
    ("Your session expired.", C::Unauthorised),
    ("Your session has expired", C::Unauthorised),
    ("Please sign in to continue", C::Unauthorised),
    ("Log in to continue", C::Unauthorised),
    ("Please log in", C::Unauthorised),
    ("请输入验证码", C::Forbidden),
    ("Access Denied", C::Forbidden),
    ("Complete the CAPTCHA to proceed", C::Forbidden),
    ("Please verify you are human", C::Forbidden),
    ("You have been blocked", C::Forbidden),
];

#[test]
fn ss_05_a_refusal_in_place_of_a_document_has_its_class() {
    let readings = [
        Reading::Feed,
        by_paths(),
        by_selectors(),
        Reading::Sitemap(SitemapRules::default()),
    ];
    for (said, class) in SAID {
        for reading in &readings {
            check(reading, said, Some(class));
            check(
                reading,
                &page("Site", &format!("<p>{said}</p>")),
                Some(class),
            );
            check(
                reading,
                &format!("{{\"code\": -1, \"msg\": \"{said}\"}}"),
                Some(class),
            );
        }
    }
    let xml = "<Error><Code>1</Code><Message>Access denied</Message></Error>";
    check(&Reading::Feed, xml, Some(C::Forbidden));
}

#[test]
fn ss_05_json_says_it_in_many_fields() {
    for (answer, class) in [
        (r#"{"message": "Too many requests"}"#, C::RateLimited),
        (r#"{"error": {"message": "rate limit"}}"#, C::RateLimited),
        (
            r#"{"errors": [{"detail": "Session expired"}]}"#,
            C::Unauthorised,
        ),
        (r#"{"errors": ["Please log in"]}"#, C::Unauthorised),
        (r#"{"error_description": "Access denied"}"#, C::Forbidden),
        (r#"{"errMsg": "请先登录", "data": null}"#, C::Unauthorised),
        (r#"{"code": 429, "data": []}"#, C::RateLimited),
        (r#"{"status": "401"}"#, C::Unauthorised),
        (r#"{"error_code": 403, "message": "no"}"#, C::Forbidden),
        (
            r#"{"code": 0, "message": "请先登录", "data": []}"#,
            C::Unauthorised,
        ),
    ] {
        check(&by_paths(), answer, Some(class));
        check(&Reading::Feed, answer, Some(class));
    }
    for (answer, class, why) in [
        (
            r#"{"code": 0, "message": "success", "data": []}"#,
            None,
            "an empty list",
        ),
        (r#"{"code": 200, "data": []}"#, None, "an empty list"),
        (
            r#"{"code": 500, "message": "busy"}"#,
            Some(C::Rules),
            "another error",
        ),
        (
            r#"{"message": "captcha", "data": [{"title": "a"}, {"title": "b"}, {"title": "c"}]}"#,
            None,
            "there are items",
        ),
        (
            r#"{"posts": [{"message": "captcha"}]}"#,
            Some(C::Rules),
            "not where errors are",
        ),
        (r#"[{"message": "captcha"}]"#, Some(C::Rules), "a list"),
        (r#"{"msg": "captcha""#, Some(C::Malformed), "it breaks off"),
    ] {
        let failed = read(&by_paths(), answer).err().map(|failure| failure.class);
        assert_eq!(failed, class, "{why}: {answer}");
    }
}

#[test]
fn ss_05_what_only_mentions_a_refusal_is_none() {
    let article = "<p>How a captcha works, and why access denied is no answer.</p>".repeat(40);
    let long = page("Security weekly", &article);
    check(&Reading::Feed, &long, Some(C::NotAFeed));
    check(&by_selectors(), &long, Some(C::Rules));
    for (title, class) in [
        ("Access Denied", C::Forbidden),
        ("Security Check: captcha", C::NotAFeed),
        ("A history of the captcha", C::NotAFeed),
    ] {
        check(
            &Reading::Feed,
            &page(title, &article.replace('c', "k")),
            Some(class),
        );
    }
    let corporate = page(
        "Ports",
        "<p>The corporate limits of 2026 are decorated.</p>",
    );
    check(&Reading::Feed, &corporate, Some(C::NotAFeed));
    let program = page("App", "<div id=root></div><style>.captcha{}</style>");
    check(&Reading::Feed, &program, Some(C::NotAFeed));
    let broken = "<rss version='2.0'><channel><item><title>captcha</title>";
    check(&Reading::Feed, broken, Some(C::Malformed));
}

fn feed(titles: &[&str]) -> String {
    let items = titles.iter().enumerate();
    let items = items.map(|(at, title)| {
        format!("<item><guid>{at}</guid><title>{title}</title><description>Too many requests, captcha</description></item>")
    });
    let items: String = items.collect();
    format!("<rss version='2.0'><channel><title>Captcha</title>{items}</channel></rss>")
}

#[test]
fn ss_05_a_feed_whose_only_entries_are_refusals_is_a_failure() {
    for (titles, expected) in [
        (&["操作过于频繁，请稍后再试"][..], Some(C::RateLimited)),
        (&["您的访问过于频繁，请稍后再试！"], Some(C::RateLimited)),
        (&["Rate limit exceeded"], Some(C::RateLimited)),
        (&["Error 429: Too Many Requests"], Some(C::RateLimited)),
        (
            &["Too many requests", "Please try again later: rate limit"],
            Some(C::RateLimited),
        ),
        (&["请先登录"], Some(C::Unauthorised)),
        (&["Session expired"], Some(C::Unauthorised)),
        (&["验证码"], Some(C::Forbidden)),
        (&["Access denied (403)"], Some(C::Forbidden)),
        (&["How we built a rate limit for our API"], None),
        (&["短信验证码的安全问题"], None),
        (&["Captcha wars"], None),
        (&["Access denied: a review of the film"], None),
        (&["Access denied", "The harbour is open"], None),
        (&["Access denied", "Captcha", "Session expired"], None),
        (&["", "Access denied"], None),
        (&[], None),
    ] {
        check(&Reading::Feed, &feed(titles), expected);
    }
}

#[test]
fn ss_05_a_sign_in_form_in_place_of_a_document_asks_for_credentials() {
    let form = page(
        "Site",
        "<form>Name <input name=n> <input type=password name=p></form>",
    );
    check(&Reading::Feed, &form, Some(C::Unauthorised));
    check(&by_selectors(), &form, Some(C::Unauthorised));
    check(&by_paths(), &form, Some(C::Unauthorised));
    let news = "<p>The harbour opens at dawn.</p>".repeat(100);
    let beside = page("News", &format!("{news}<form><input type=password></form>"));
    check(&by_selectors(), &beside, Some(C::Rules));
}

#[test]
fn ss_05_error_texts_of_a_source_are_always_a_failure() {
    let named = |texts: &[&str], answer: &str| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        check_named(&texts, answer)
            .err()
            .map(|failure| failure.class)
    };
    for (texts, answer, expected, why) in [
        (&[][..], "maintenance", None, "none"),
        (
            &["Maintenance"],
            "<p>under MAINTENANCE</p>",
            Some(C::Server),
            "any case",
        ),
        (
            &["Wartung", "WARTUNGSARBEITEN"],
            "Wartungsarbeiten",
            Some(C::Server),
            "two",
        ),
        (
            &["系统维护"],
            "公告：系统维护中",
            Some(C::Server),
            "no words",
        ),
        (
            &["too many requests!"],
            "Too many requests!",
            Some(C::RateLimited),
            "a known one",
        ),
        (&["", " "], "anything", None, "nothing is no text"),
        (&["closed"], "open", None, "not there"),
    ] {
        assert_eq!(named(texts, answer), expected, "{why}");
    }
}

#[test]
fn sentences_about_refusals() {
    let detail = |reading: &Reading, answer: &str| read(reading, answer).unwrap_err().detail;
    insta::assert_snapshot!(detail(&Reading::Feed, "操作过于频繁"), @"the site says “操作过于频繁” with status 200; this is not a feed: it is plain text");
    insta::assert_snapshot!(detail(&by_paths(), r#"{"code": 429}"#), @"the site answers code 429 with status 200; the path `$.data[*]` for `items` finds nothing in this document");
    insta::assert_snapshot!(detail(&by_paths(), r#"{"msg": "please log in", "data": []}"#), @"the site says “please log in” with status 200 in place of its entries");
    insta::assert_snapshot!(detail(&by_selectors(), &page("Site", "<input type=password>")), @"the site shows a sign-in form with status 200; the selector `li.post` for `item` matches nothing on the page “Site”");
    insta::assert_snapshot!(detail(&Reading::Feed, &feed(&["Access denied"])), @"the site says “access denied” with status 200 in place of its entries");
    let named =
        check_named(&["Closed for\nrepairs".to_owned()], "closed for\nrepairs").unwrap_err();
    insta::assert_snapshot!(named.detail, @"the answer has “Closed for repairs”, which is one of this source's error texts");
}
