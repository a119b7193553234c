//! Files in `deploy/` name only metrics that exist.

use std::{collections::BTreeSet, fs, path::Path};

/// Words of this shape in a text.
fn names(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c: char| !part(c));
    let ours = words.filter(|word| word.starts_with("almanack_"));
    let bare = ours.map(|word| {
        let endings = ["_bucket", "_sum", "_count"].into_iter();
        let mut bare = endings.filter_map(|ending| word.strip_suffix(ending));
        bare.next().unwrap_or(word).to_owned()
    });
    bare.collect()
}

/// The names that are quoted in the product's sources, where metrics are counted.
fn counted(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            counted(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let quoted = text.split('"').filter(|it| it.starts_with("almanack_"));
            found.extend(quoted.map(str::to_owned));
        }
    }
}

#[test]
fn rules_and_dashboard_name_metrics_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut known = BTreeSet::new();
    for part in [
        "core", "engine", "server", "cli", "adapters", "bus", "store",
    ] {
        counted(&root.join("crates").join(part).join("src"), &mut known);
    }
    for file in ["prometheus/almanack.rules.yml", "grafana/almanack.json"] {
        let text = fs::read_to_string(root.join("deploy").join(file)).unwrap();
        let named = names(&text);
        assert!(named.len() > 5, "{file} names metrics");
        let unknown: Vec<_> = named.difference(&known).collect();
        assert!(
            unknown.is_empty(),
            "{file} names {unknown:?}, which do not exist"
        );
    }
    let board = fs::read_to_string(root.join("deploy/grafana/almanack.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    assert!(board["panels"].as_array().unwrap().len() > 10);
}
