//! `almanack token`: shown once, listed without its secret, taken back.

use crate::harness::{Home, settled};

#[test]
fn a_token_is_shown_once_listed_and_taken_back() {
    let home = Home::new();
    let create = [
        "token",
        "create",
        "editor",
        "--scope",
        "operate",
        "--expires",
        "90d",
    ];
    let made = home.run(&create);
    assert_eq!(made.code, 0, "{made}");
    let token = made.data.trim_end();
    assert!(
        token.starts_with("alm_") && token.len() == 4 + 43,
        "{token}"
    );

    assert!(
        made.notes.contains("Revoking it does not open them again"),
        "the first token locks what was open: {made}"
    );

    let again = home.run(&create);
    assert_eq!(
        again.to_string(),
        "error: token `editor` already exists\n\
         hint: choose another name; the history still shows this one\nexit 1"
    );

    let second = home.run(&["token", "create", "viewer", "--scope", "read"]);
    assert_eq!(second.code, 0, "{second}");
    assert!(!second.notes.contains("first token"), "{second}");
    assert_eq!(
        home.run(&["token", "revoke", "editor"]).to_string(),
        "revoked editor\nA node that has just seen it may accept it for up to 5s more.\nexit 0"
    );
    let again = home.run(&create);
    assert!(again.notes.contains("names are never reused"), "{again}");
    assert_eq!(
        home.run(&["token", "revoke", "editor"]).code,
        3,
        "it no longer works"
    );
    assert_eq!(home.run(&["token", "revoke", "nobody"]).code, 3);

    let list = home.run(&["token", "list"]).expect_data();
    assert!(!list.contains(token));
    insta::assert_snapshot!(settled(&list), @"
    NAME  SCOPE  STATE  CREATED  EXPIRES
    editor  operate  revoked  AGO  AGO
    viewer  read  valid  AGO  never
    ");
}

#[test]
fn a_token_for_programs() {
    let home = Home::new();
    let made = home
        .run(&["token", "create", "ci", "--scope", "read", "--json"])
        .expect_json();
    assert!(made["token"].as_str().unwrap().starts_with("alm_"));
    assert_eq!(made["about"]["scope"], "read");
    assert!(made["about"]["expires_at"].is_null());
    let list = home.run(&["token", "list", "--json"]).expect_json();
    assert_eq!(list["tokens"][0]["name"], "ci");
    assert_eq!(list["tokens"][0]["valid"], true);
}

#[test]
fn a_bad_name_scope_or_time_to_live_is_refused() {
    let bad: [&[&str]; 5] = [
        &["a b", "--scope", "read"],
        &["a", "--scope", "all"],
        &["a"],
        &["a", "--scope", "read", "--expires", "90"],
        &["a", "--scope", "read", "--expires", "-1d"],
    ];
    for arguments in bad {
        let ran = Home::new().run(&[&["token", "create"], arguments].concat());
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (2, ""),
            "{arguments:?}: {ran}"
        );
    }
}
