//! The OpenAPI document describes what is routed, all of it and nothing else.

use std::collections::BTreeSet;

use axum::http::Method;
use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::harness::{World, request};

const METHODS: [Method; 5] = [
    Method::GET,
    Method::PUT,
    Method::POST,
    Method::DELETE,
    Method::PATCH,
];

async fn document(world: &World) -> Value {
    let answer = world.get("/api/v1/openapi.json").await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

fn described(document: &Value) -> BTreeSet<(String, String)> {
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(move |method| (path.clone(), method.to_uppercase()))
    });
    operations.collect()
}

#[tokio::test]
async fn the_document_lists_exactly_what_is_routed() {
    let world = World::open();
    let document = document(&world).await;
    let described = described(&document);
    check_methods(&world, &described).await;
}

/// Every path takes the methods that are described, and no others.
async fn check_methods(world: &World, described: &BTreeSet<(String, String)>) {
    let paths: BTreeSet<&String> = described.iter().map(|(path, _)| path).collect();
    for path in paths {
        let real = path
            .replace("{kind}", "ARTICLE_PUBLISH")
            .replace("{subject}", "a")
            .replace("{name}", "nightly")
            .replace("{date}", "2026-01-05")
            .replace("{id}", "1.0");
        for method in METHODS {
            let answer = world.send(request(method.clone(), &real, "")).await;
            let known = described.contains(&(path.clone(), method.to_string()));
            assert_eq!(
                answer.status != 405,
                known,
                "{method} {path}: {}",
                answer.body
            );
        }
    }
}

#[tokio::test]
async fn the_document_is_openapi_3_1_and_every_reference_leads_somewhere() {
    let document = document(&World::open()).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(!document["info"]["version"].as_str().unwrap().is_empty());
    assert_eq!(
        document["components"]["securitySchemes"]["token"]["scheme"],
        "bearer"
    );
    let mut ids = BTreeSet::new();
    for (path, method) in described(&document) {
        let operation = &document["paths"][&path][method.to_lowercase()];
        assert!(
            ids.insert(operation["operationId"].to_string()),
            "{path} has its own id"
        );
        assert!(!operation["responses"].as_object().unwrap().is_empty());
        assert!(
            operation["summary"].is_string(),
            "{method} {path} says what it does"
        );
        check_path_parameters(&path, operation);
    }
    check_references(&document, &document);
}

#[tokio::test]
async fn every_operation_has_an_example() {
    let document = document(&World::open()).await;
    for (path, method) in described(&document) {
        let operation = &document["paths"][&path][method.to_lowercase()];
        // The document is no example of itself.
        let shown = path == "/api/v1/openapi.json" || has_example(operation);
        assert!(shown, "{method} {path} is shown by no exchange of api.http");
    }
}

/// Examples are what was really sent and answered, so a schema that refuses one is wrong.
#[tokio::test]
async fn every_example_fits_its_schema() {
    let document = document(&World::open()).await;
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler
        .add_resource("openapi.json", document.clone())
        .unwrap();
    let (mut checked, mut refused) = (0, Vec::new());
    for at in bodies(&document) {
        let body = document.pointer(&at).unwrap();
        if let (Some(example), Some(_)) = (body.get("example"), body.get("schema")) {
            let fragment = at.replace('{', "%7B").replace('}', "%7D");
            let schema = format!("openapi.json#{fragment}/schema");
            let schema = compiler.compile(&schema, &mut schemas).unwrap();
            let error = schemas.validate(example, schema).err();
            refused.extend(error.map(|error| format!("{at}: {error}")));
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} examples");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Where bodies are described.
fn bodies(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![("/paths".to_owned(), &document["paths"])];
    while let Some((at, part)) = left.pop() {
        for (name, inner) in part.as_object().into_iter().flatten() {
            let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            match name.as_str() {
                "application/json" => found.push(at),
                _ => left.push((at, inner)),
            }
        }
    }
    found
}

/// Of what is sent, of what is answered, or of what its path names.
fn has_example(operation: &Value) -> bool {
    let answers = operation["responses"].as_object().unwrap().values();
    let bodies = answers.chain([&operation["requestBody"]]);
    let contents = bodies.filter_map(|body| body["content"].as_object());
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parts = contents.flat_map(|content| content.values());
    parts
        .chain(parameters)
        .any(|it| it.get("example").is_some())
}

fn check_path_parameters(path: &str, operation: &Value) {
    let given = operation["parameters"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let named: BTreeSet<&str> = given
        .iter()
        .filter(|parameter| parameter["in"] == "path")
        .map(|parameter| parameter["name"].as_str().unwrap())
        .collect();
    let wanted: BTreeSet<&str> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .collect();
    assert_eq!(named, wanted, "{path}");
}

fn check_references(document: &Value, part: &Value) {
    match part {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                let target = reference
                    .strip_prefix('#')
                    .and_then(|at| document.pointer(at));
                assert!(target.is_some(), "{reference}");
            }
            fields
                .values()
                .for_each(|field| check_references(document, field));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| check_references(document, item)),
        _ => {}
    }
}

#[test]
fn the_document_can_be_had_without_a_server() {
    let document = almanack_server::openapi::document();
    assert!(document.paths.paths.contains_key("/api/v1/tasks:batch"));
}
