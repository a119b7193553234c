//! What options may be, and how they change.

use serde_json::json;

use super::{patch::Change, *};

fn options(json: serde_json::Value) -> Options {
    serde_json::from_value(json).unwrap()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a flat table")]
fn ss_21_only_options_that_fit_and_hold_no_secret_are_stored() {
    let long = "x".repeat(1001);
    let many: BTreeMap<String, String> = (0..21)
        .map(|number| (format!("X-{number}"), "v".to_owned()))
        .collect();
    for (given, refused) in [
        (json!({}), None),
        (
            json!({"fetch": {"headers": {"Accept-Language": "de"}}}),
            None,
        ),
        (
            json!({"fetch": {"headers": {"Cookie": "env:COOKIE"}}}),
            None,
        ),
        (
            json!({"fetch": {"bearer": "file:/run/secrets/token"}}),
            None,
        ),
        (
            json!({"fetch": {"user": "ada", "password": "env:PASSWORD"}}),
            None,
        ),
        (
            json!({"fetch": {"proxy": "http://proxy.example:3128"}}),
            None,
        ),
        (
            json!({"filters": ["block title contains ad"], "site": "https://a.example/"}),
            None,
        ),
        (
            json!({"fetch": {"headers": {"Cookie": "session=hunter2"}}}),
            Some("fetch.headers.Cookie"),
        ),
        (
            json!({"fetch": {"headers": {"authorization": "Bearer hunter2"}}}),
            Some("fetch.headers.authorization"),
        ),
        (
            json!({"fetch": {"headers": {"Host": "b.example"}}}),
            Some("fetch.headers.Host"),
        ),
        (
            json!({"fetch": {"headers": {"X-A": "1", "x-a": "2"}}}),
            Some("fetch.headers.X-A"),
        ),
        (
            json!({"fetch": {"headers": {"bad name": "1"}}}),
            Some("fetch.headers"),
        ),
        (
            json!({"fetch": {"headers": {"X-A": "a\r\nX-B: b"}}}),
            Some("fetch.headers.X-A"),
        ),
        (
            json!({"fetch": {"headers": {"X-A": long}}}),
            Some("fetch.headers.X-A"),
        ),
        (json!({"fetch": {"headers": many}}), Some("fetch.headers")),
        (
            json!({"fetch": {"bearer": "hunter2"}}),
            Some("fetch.bearer"),
        ),
        (json!({"fetch": {"bearer": "env:"}}), Some("fetch.bearer")),
        (
            json!({"fetch": {"user": "ada", "password": "hunter2"}}),
            Some("fetch.password"),
        ),
        (json!({"fetch": {"user": "ada"}}), Some("fetch.user")),
        (
            json!({"fetch": {"user": "a:b", "password": "env:P"}}),
            Some("fetch.user"),
        ),
        (
            json!({"fetch": {"bearer": "env:A", "user": "a", "password": "env:P"}}),
            Some("fetch"),
        ),
        (
            json!({"fetch": {"proxy": "http://ada:hunter2@proxy.example"}}),
            Some("fetch.proxy"),
        ),
        (
            json!({"fetch": {"proxy": "socks5://proxy.example"}}),
            Some("fetch.proxy"),
        ),
        (
            json!({"fetch": {"proxy": "http://proxy.example/path"}}),
            Some("fetch.proxy"),
        ),
        (
            json!({"fetch": {"user_agent": "a\nb"}}),
            Some("fetch.user_agent"),
        ),
        (json!({"filters": [" "]}), Some("filters")),
        (
            json!({"filters": vec!["block title is x"; 51]}),
            Some("filters"),
        ),
        (json!({"error_texts": ["a\nb"]}), Some("error_texts")),
        (json!({"site": "javascript:alert(1)"}), Some("site")),
    ] {
        let checked = options(given.clone()).check();
        let path = checked.as_ref().err().map(|unfit| unfit.path.as_str());
        assert_eq!(path, refused, "{given}");
        let sentence = checked.err().map(|unfit| unfit.to_string());
        assert!(!sentence.unwrap_or_default().contains("hunter2"), "{given}");
    }
}

#[test]
fn ss_21_a_patch_changes_what_it_names_and_nothing_else() {
    let before = options(json!({
        "fetch": {"headers": {"X-A": "1", "X-B": "2"}, "bearer": "env:TOKEN"},
        "filters": ["block title is a", "block title is b"],
        "from_file": true,
    }));
    for (patch, expected) in [
        (
            json!({}),
            json!({"fetch": {"headers": {"X-A": "1", "X-B": "2"}, "bearer": "env:TOKEN"},
            "filters": ["block title is a", "block title is b"], "from_file": true}),
        ),
        (
            json!({"fetch": {"headers": {"X-B": null, "X-C": "3"}}}),
            json!({"fetch": {"headers": {"X-A": "1", "X-C": "3"}, "bearer": "env:TOKEN"},
            "filters": ["block title is a", "block title is b"], "from_file": true}),
        ),
        (
            json!({"fetch": null, "filters": ["keep title is c"], "full_text": true}),
            json!({"filters": ["keep title is c"], "full_text": true, "from_file": true}),
        ),
        // Whose it is cannot be changed by a patch.
        (
            json!({"fetch": null, "filters": null, "from_file": false}),
            json!({"from_file": true}),
        ),
    ] {
        let change = Change::Merged(serde_json::from_value(patch.clone()).unwrap());
        let after = change.apply(&before).unwrap();
        assert_eq!(serde_json::to_value(&after).unwrap(), expected, "{patch}");
    }
    for (patch, path) in [
        (json!({"filter": ["x"]}), "filter"),
        (json!({"fetch": {"headers": "X-A: 1"}}), "fetch.headers"),
    ] {
        let change = Change::Merged(serde_json::from_value(patch).unwrap());
        assert_eq!(change.apply(&before).unwrap_err().path, path);
    }
    let whole = Change::Whole(Box::default()).apply(&before).unwrap();
    assert_eq!(whole, options(json!({"from_file": true})));
}
