//! `almanack user`: made with a password that is never shown, listed, changed, removed.

use crate::harness::Home;

const PASSWORD: &str = "correct horse battery\n";

fn create(name: &str) -> [&str; 4] {
    ["user", "create", name, "--password-stdin"]
}

#[test]
fn a_user_for_programs_comes_without_any_secret() {
    let home = Home::new();
    let made = home.run_with_input(&[&create("ada")[..], &["--json"]].concat(), PASSWORD);
    let made = made.expect_data();
    let list = home.run(&["user", "list", "--json"]).expect_data();
    for text in [&made, &list] {
        assert!(
            !text.contains("horse") && !text.contains("argon2"),
            "{text}"
        );
    }
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["users"][0]["name"], "ada");
    assert_eq!(list["users"][0]["scope"], "operate");
    let database = std::fs::read(home.path().join("almanack.db")).unwrap();
    let kept = String::from_utf8_lossy(&database);
    assert!(!kept.contains("correct horse"), "only a hash is kept");
}

#[test]
fn a_bad_name_or_password_is_refused_and_leaves_nothing() {
    for (name, password) in [
        ("a b", PASSWORD),
        ("ada", "short\n"),
        ("ada", ""),
        ("ada", "              \n"),
        ("ada", &"x".repeat(1_001)),
    ] {
        let home = Home::new();
        let ran = home.run_with_input(&create(name), password);
        assert_eq!((ran.code, ran.data.as_str()), (2, ""), "{name}: {ran}");
        let list = home.run(&["user", "list"]);
        assert_eq!(list.to_string(), "no users\nexit 0");
    }
}

#[test]
fn a_password_is_never_an_argument_and_is_not_asked_for_without_a_terminal() {
    let home = Home::new();
    let ran = home.run_with_input(&["user", "create", "ada"], PASSWORD);
    insta::assert_snapshot!(ran, @r"
    error: no terminal to ask for a password
    hint: pass it on standard input: --password-stdin
    exit 2
    ");
    let ran = home.run(&["user", "create", "ada", "--password", "correct horse"]);
    assert_eq!(ran.code, 2, "{ran}");
}

#[test]
fn a_user_and_a_token_do_not_share_a_name() {
    let home = Home::new();
    let token = ["token", "create", "ci", "--scope", "read"];
    home.run(&token).expect_data();
    let ran = home.run_with_input(&create("ci"), PASSWORD);
    insta::assert_snapshot!(ran, @"
    error: a token is already called `ci`
    hint: choose another name; the history still shows this one
    exit 1
    ");
    home.run_with_input(&create("ada"), PASSWORD).expect_data();
    let ran = home.run(&["token", "create", "ada", "--scope", "read"]);
    assert_eq!(ran.code, 1, "{ran}");
}
