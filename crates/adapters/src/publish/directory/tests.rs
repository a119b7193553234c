use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn file(root: &Path, path: &str) -> FilePath {
    FilePath {
        root: root.to_owned(),
        path: path.to_owned(),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn ed_34_a_file_is_whole_replaced_in_place_and_without_leftovers() {
    let root = tempfile::tempdir().unwrap();
    let file = file(&root.path().join("new"), "2026/01/10.md");
    assert!(!file.says(b"one").unwrap(), "nothing there yet");
    for body in [&b"one"[..], b"two, longer", b"3"] {
        file.write(body, 7).unwrap();
        assert!(file.says(body).unwrap());
        assert!(!file.says(b"other").unwrap());
    }
    let folder = root.path().join("new/2026/01");
    assert_eq!(names(&folder), ["10.md"], "no draft is left");
}

#[test]
fn ed_34_a_draft_never_replaces_another_draft() {
    let root = tempfile::tempdir().unwrap();
    let file = file(root.path(), "a.md");
    file.write(b"old", 1).unwrap();
    let theirs = root.path().join(format!(".a.md.{:016x}.tmp", 2));
    fs::write(&theirs, b"half of i").unwrap();
    assert!(file.write(b"new", 2).is_err(), "that name is taken");
    assert!(file.says(b"old").unwrap(), "the old one stays");
}

#[test]
fn ed_34_no_link_leads_out_of_the_directory() {
    let outside = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    symlink(outside.path(), root.path().join("posts")).unwrap();
    let refused = file(root.path(), "posts/deep/a.md")
        .write(b"x", 1)
        .unwrap_err();
    let refused = Failure::from(refused);
    assert_eq!(refused.class, FailureClass::Refused, "{refused}");
    // The first folder behind the link was looked at before anything was made in it.
    assert_eq!(names(outside.path()), [""; 0]);
    symlink(root.path().join("real"), root.path().join("alias")).unwrap();
    fs::create_dir(root.path().join("real")).unwrap();
    file(root.path(), "alias/a.md").write(b"x", 1).unwrap();
    assert_eq!(
        names(&root.path().join("real")),
        ["a.md"],
        "inside is inside"
    );
}

#[test]
fn a_failed_write_is_reported_without_the_whole_path() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), b"x").unwrap();
    fs::create_dir(root.path().join("a.md")).unwrap();
    for path in ["file/a.md", "a.md"] {
        let failure = Failure::from(file(root.path(), path).write(b"x", 1).unwrap_err());
        assert!(failure.detail.contains(path), "{failure}");
        assert_eq!(failure.class, FailureClass::Refused, "{failure}");
    }
    let locked = root.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    let written = file(root.path(), "locked/a.md").write(b"x", 1);
    // Nothing is locked to the superuser.
    if let Err(error) = written {
        assert_eq!(Failure::from(error).class, FailureClass::Refused);
    }
}
