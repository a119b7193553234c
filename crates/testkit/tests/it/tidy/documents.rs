//! Documents keep their word: commands exist and links lead somewhere.

use std::path::Path;

use super::{TextFile, assert_none, assert_one, file, has_extension, root, text_files};

const RUN: &str = "cargo run --release -p almanack -- demo";
const TEST: &str = "dev/check";
const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];

/// Link targets inside the repository, without fragments.
fn local_links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    targets
        .map(|(target, _)| target.split_once('#').map_or(target, |(path, _)| path))
        .filter(|target| !target.is_empty() && !target.contains(':'))
}

fn dead_links(file: &TextFile, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    if !has_extension(&file.path, "md") {
        return Vec::new();
    }
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let dead = local_links(&file.text).filter(|target| !exists(&folder.join(target)));
    dead.map(|target| format!("{}: the link to `{target}` leads nowhere", file.path))
        .collect()
}

/// Pages that messages and comments of the product send people to.
fn missing_pages(file: &TextFile, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    if !file.is_rust() || !file.path.contains("/src/") {
        return Vec::new();
    }
    let named = file.text.split("docs/").skip(1).filter_map(|rest| {
        let (page, _) = rest.split_once(".md")?;
        let is_path = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
        page.chars().all(is_path).then(|| format!("docs/{page}.md"))
    });
    named
        .filter(|page| !exists(Path::new(page)))
        .map(|page| format!("{}: there is no `{page}`", file.path))
        .collect()
}

fn missing_commands(files: &[TextFile]) -> Vec<String> {
    let mut faults = Vec::new();
    for readme in READMES {
        let text = files
            .iter()
            .find(|file| file.path == readme)
            .map(|file| file.text.as_str());
        for command in [RUN, TEST] {
            if !text.unwrap_or_default().contains(command) {
                faults.push(format!(
                    "{readme}: say how to run and how to test: `{command}`"
                ));
            }
        }
    }
    let cli = files
        .iter()
        .filter(|file| file.path.starts_with("crates/cli/src/"));
    if !cli.into_iter().any(|file| file.text.contains("Demo")) {
        faults.push(format!(
            "`{RUN}` is promised, but crates/cli has no `Demo` subcommand"
        ));
    }
    faults
}

#[test]
fn the_readmes_two_commands_exist() {
    assert_none(&missing_commands(&text_files()));
}

#[cfg(unix)]
#[test]
fn scripts_can_be_run() {
    use std::os::unix::fs::PermissionsExt;

    for script in [
        TEST,
        "dev/clients",
        "dev/deploy-test",
        "dev/postgres",
        "dev/release",
        "dev/site",
        ".ci/run",
    ] {
        let mode =
            std::fs::metadata(root().join(script)).map_or(0, |found| found.permissions().mode());
        assert_eq!(
            mode & 0o111,
            0o111,
            "{script} must exist and be executable: chmod +x {script}"
        );
    }
}

#[test]
fn links_lead_somewhere() {
    let exists = |path: &Path| root().join(path).exists();
    let files = text_files();
    let links = files.iter().flat_map(|file| dead_links(file, exists));
    let pages = files.iter().flat_map(|file| missing_pages(file, exists));
    assert_none(&links.chain(pages).collect::<Vec<_>>());
}

#[test]
fn a_message_that_names_no_page_is_found() {
    let text = "const A: &str = \"docs/guide/a.md says more\"; // docs/guide/{page}.md";
    let hint = file("crates/cli/src/a.rs", text);
    assert_one(&missing_pages(&hint, |_| false), "no `docs/guide/a.md`");
    assert_none(&missing_pages(&hint, |_| true));
}

#[test]
fn a_dead_link_is_found_and_a_web_address_is_not() {
    let text = "[a](b.md#part) [c](https://example.org/) [d](#here) [e](gone.md)";
    let exists = |path: &Path| path == Path::new("docs/b.md");
    assert_one(
        &dead_links(&file("docs/a.md", text), exists),
        "`gone.md` leads nowhere",
    );
}

#[test]
fn a_readme_without_its_commands_is_found() {
    let cli = file("crates/cli/src/main.rs", "enum Command { Demo }");
    let both = format!("{RUN}\n{TEST}\n");
    let files = [file(READMES[0], &both), file(READMES[1], RUN), cli];
    assert_one(&missing_commands(&files), "README.zh-CN.md");
}
