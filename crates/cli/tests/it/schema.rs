//! `almanack schema config`: every configuration that the repository shows fits it, and slips do
//! not.

use std::{fs, path::Path};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use crate::harness::Home;

/// The schema that the binary prints.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn printed() -> Self {
        let printed = Home::new().run(&["schema", "config"]).expect_data();
        let document = serde_json::from_str(&printed).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("config.json", document).unwrap();
        let index = compiler.compile("config.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    /// What is wrong with a configuration.
    fn complaint(&self, toml: &str) -> Option<String> {
        let read: toml::Table = toml::from_str(toml).unwrap();
        let read = serde_json::to_value(read).unwrap();
        let refused = self.schemas.validate(&read, self.index).err();
        refused.map(|error| error.to_string())
    }
}

/// The blocks of TOML in a text.
fn blocks(markdown: &str) -> Vec<&str> {
    let opened = markdown.split("```toml\n").skip(1);
    opened.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_configuration_that_the_repository_shows_fits() {
    let schema = Schema::printed();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let deployed = fs::read_to_string(root.join("deploy/kubernetes/base/almanack.toml")).unwrap();
    assert_eq!(schema.complaint(&deployed), None);
    let guides = fs::read_dir(root.join("docs/guide")).unwrap();
    let guides = guides.map(|guide| guide.unwrap().path());
    let readme = ["README.md", "README.zh-CN.md"].map(|name| root.join(name));
    let mut shown = 0;
    for path in guides.chain(readme) {
        let text = fs::read_to_string(&path).unwrap();
        for block in blocks(&text) {
            let complaint = schema.complaint(block);
            assert_eq!(complaint, None, "{}\n{block}", path.display());
            shown += 1;
        }
    }
    assert!(shown > 20, "{shown}");
}

#[test]
fn slips_do_not_fit() {
    let schema = Schema::printed();
    for slip in [
        "[node]\nslotz = 1",
        "[nodes]\nslots = 1",
        "[node]\nslots = 0",
        "[node]\nslots = \"1\"",
        "[node]\nlease = 30",
        "[log]\nformat = \"xml\"",
        "[callback]\nsecret = \"hunter2\"",
        "[kinds.PUBLISH]\nurll = \"http://x/\"",
        "[edition.model]\nproviders = \"none\"",
        "[[subscription]]\nurl = \"http://x/\"",
        "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"",
        "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"\ntarget = { type = \"task\", url = \"x\" }",
    ] {
        assert!(schema.complaint(slip).is_some(), "{slip}");
    }
}

#[test]
fn an_editor_is_reported_types_bounds_defaults_and_meanings() {
    let printed = Home::new().run(&["schema", "config"]).expect_data();
    let document: Value = serde_json::from_str(&printed).unwrap();
    let key = |section: &str, name: &str| {
        let section = &document["properties"][section];
        section["properties"][name].clone()
    };
    assert_eq!(
        key("node", "slots"),
        json!({
            "description": "How many tasks this node runs at once.",
            "type": "integer", "minimum": 1, "maximum": 10_000, "default": 64,
        })
    );
    assert_eq!(
        key("node", "lease")["description"],
        "How long a claim stays valid without a heartbeat. 3s to 1h."
    );
    assert_eq!(key("log", "format")["enum"], json!(["text", "json"]));
    let schedule = &document["properties"]["schedule"]["items"];
    assert_eq!(schedule["properties"]["catch_up_pace"]["default"], "1s");
    assert_eq!(
        schedule["required"],
        json!(["name", "expression", "target"])
    );
}
