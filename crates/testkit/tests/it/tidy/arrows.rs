//! Which crate may know which.
//!
//! Modules cannot forbid an arrow; manifests can, as long as a test reads them.

use std::process::Command;

use serde_json::Value;

use super::{assert_none, assert_one, output, text_files};

/// What each crate may depend on. `almanack` (the binary) wires everything together.
const ALLOWED: [(&str, &[&str]); 13] = [
    ("almanack-core", &[]),
    ("almanack-store", &["almanack-core"]),
    ("almanack-engine", &["almanack-core"]),
    // Apart from the adapters, so that who embeds Almanack has no HTTP client.
    ("almanack-machine", &["almanack-core"]),
    ("almanack-adapters", &["almanack-core", "almanack-machine"]),
    ("almanack-bus", &["almanack-core"]),
    ("almanack-server", &["almanack-core", "almanack-engine"]),
    (
        "almanack-embed",
        &[
            "almanack-core",
            "almanack-store",
            "almanack-engine",
            "almanack-machine",
        ],
    ),
    // The other side of the wire too, but one that shares the wire's types.
    ("almanack-client", &["almanack-core"]),
    ("example-publish", &["almanack-client"]),
    // The other side of the wire: sharing code would let one mistake hide on both sides.
    ("almanack-lab", &[]),
    ("almanack-testkit", &["almanack-core", "almanack-engine"]),
    (
        "almanack",
        &[
            "almanack-core",
            "almanack-store",
            "almanack-engine",
            "almanack-adapters",
            "almanack-bus",
            "almanack-server",
            "almanack-lab",
        ],
    ),
];

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn broken_arrows(metadata: &Value) -> Vec<String> {
    let packages = list(metadata, "packages");
    let names: Vec<&str> = packages
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    let mut faults = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            faults.push(format!(
                "crate `{name}` is new: say what it may depend on here and in ARCHITECTURE.md"
            ));
            continue;
        };
        // Development dependencies may point anywhere: they are not part of the product.
        let built_in = list(package, "dependencies")
            .iter()
            .filter(|d| d["kind"] != "dev");
        let targets = built_in.filter_map(|dependency| dependency["name"].as_str());
        let wrong = targets.filter(|target| names.contains(target) && !allowed.contains(target));
        faults.extend(wrong.map(|target| {
            format!(
                "`{name}` must not depend on `{target}`: state what it needs as a port in \
                 almanack-core and let the binary wire it"
            )
        }));
    }
    faults
}

#[test]
fn crates_depend_only_along_the_allowed_arrows() {
    let metadata = [
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ];
    let metadata = output(Command::new(env!("CARGO")).args(metadata));
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    assert!(
        list(&metadata, "packages").len() >= ALLOWED.len(),
        "cargo lists the workspace"
    );
    assert_none(&broken_arrows(&metadata));
}

#[test]
fn a_wrong_arrow_is_found_and_a_development_dependency_is_not() {
    let metadata = serde_json::json!({"packages": [
        {"name": "almanack-engine", "dependencies": [
            {"name": "almanack-core", "kind": null},
            {"name": "almanack-store", "kind": null},
            {"name": "almanack-testkit", "kind": "dev"},
            {"name": "serde", "kind": null},
        ]},
        {"name": "almanack-core", "dependencies": []},
        {"name": "almanack-store", "dependencies": []},
        {"name": "almanack-testkit", "dependencies": []},
    ]});
    assert_one(
        &broken_arrows(&metadata),
        "`almanack-engine` must not depend on `almanack-store`",
    );
}

#[test]
fn a_crate_without_a_layer_is_found() {
    let metadata = serde_json::json!({"packages": [{"name": "almanack-util", "dependencies": []}]});
    assert_one(&broken_arrows(&metadata), "`almanack-util` is new");
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    let manifests = text_files()
        .into_iter()
        .filter(|file| file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"));
    let without = manifests.filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    let faults: Vec<String> = without
        .map(|file| format!("{}: add `[lints]` with `workspace = true`", file.path))
        .collect();
    assert_none(&faults);
}
