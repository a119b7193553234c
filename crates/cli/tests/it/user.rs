//! `almanack user`: made with a password that is never shown, listed, changed, removed.

use crate::harness::{Home, settled};

const PASSWORD: &str = "correct horse battery\n";

fn create(name: &str) -> [&str; 4] {
    ["user", "create", name, "--password-stdin"]
}

#[test]
fn a_user_is_made_listed_changed_and_removed() {
    let home = Home::new();
    let made = home.run_with_input(&create("ada"), PASSWORD);
    insta::assert_snapshot!(made, @r"
    created ada, who may operate
    This is the first user: nodes that were open ask everybody to sign in, or for a token, from now on. Removing the user does not open them again.
    exit 0
    ");
    let reader = [&create("rita")[..], &["--scope", "read"]].concat();
    let second = home.run_with_input(&reader, PASSWORD);
    insta::assert_snapshot!(second, @r"
    created rita, who may read
    exit 0
    ");
    let again = home.run_with_input(&create("ada"), PASSWORD);
    insta::assert_snapshot!(again, @r"
    error: create user: user `ada` already exists
    hint: `almanack user password ada` sets another password
    exit 1
    ");
    let change = ["user", "password", "ada", "--password-stdin"];
    let changed = home.run_with_input(&change, "another good one\n");
    insta::assert_snapshot!(changed, @r"
    changed the password of ada
    A node that has just seen them may let them in for up to 5s more.
    exit 0
    ");
    let list = home.run(&["user", "list"]).expect_data();
    insta::assert_snapshot!(settled(&list), @r"
    NAME  SCOPE  CREATED  PASSWORD SET
    ada  operate  AGO  AGO
    rita  read  AGO  AGO
    ");
    let removed = home.run(&["user", "remove", "ada"]);
    insta::assert_snapshot!(removed, @r"
    removed ada
    A node that has just seen them may let them in for up to 5s more.
    exit 0
    ");
    let gone = home.run(&["user", "remove", "ada"]);
    insta::assert_snapshot!(gone, @r"
    error: no user is called `ada`
    hint: `almanack user list` shows all
    exit 3
    ");
    assert_eq!(home.run_with_input(&change, PASSWORD).code, 3);
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
    error: there is no terminal to ask for a password
    hint: give it on the input: --password-stdin
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
    insta::assert_snapshot!(ran, @r"
    error: create user: a token is called `ci`
    hint: choose another name; the history shows it for whoever did something
    exit 1
    ");
    home.run_with_input(&create("ada"), PASSWORD).expect_data();
    let ran = home.run(&["token", "create", "ada", "--scope", "read"]);
    assert_eq!(ran.code, 1, "{ran}");
}
