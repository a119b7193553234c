//! `POST /graphql`: a repository's id, and the mutation `updateRefs`.
//!
//! Every answer to a query that could be read is 200; what went wrong is under `errors`, beside a
//! `data` in which the field that failed is null. Fields outside this little schema are refused as
//! GitHub refuses fields that do not exist.

mod parse;

use axum::{
    Json,
    body::Bytes,
    extract::{Extension, State},
    response::IntoResponse,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::parse::{Field, Kind, Operation, Place};
use super::{
    Answer, App, Caller,
    view::{View, repository_id},
};
use crate::github::{
    refusal::Refusal,
    service::Service,
    state::{
        GitHub, Hosted, Need,
        object::Oid,
        refs::{Push, RefUpdate},
    },
};

#[derive(Deserialize)]
struct Request {
    query: String,
    #[serde(default)]
    variables: Option<Map<String, Value>>,
}

/// One entry of `errors`.
struct Trouble {
    kind: Option<&'static str>,
    message: String,
    at: Place,
    /// Which field of the answer it is about.
    path: String,
    /// The query itself is wrong: there is no answer beside the errors.
    fatal: bool,
}

pub(super) async fn answer(
    State(app): App,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Answer {
    if caller.token().is_none() {
        return Err(Refusal::NoCredentials);
    }
    let request: Request = serde_json::from_slice(&body).map_err(|_| Refusal::BadJson)?;
    let variables = request.variables.unwrap_or_default();
    let operation = match parse::operation(&request.query, &variables) {
        Ok(operation) => operation,
        Err(wrong) => {
            let error = json!({ "message": wrong.message, "locations": [location(wrong.at)] });
            return Ok(Json(json!({ "errors": [error] })).into_response());
        }
    };
    Ok(Json(execute(&app, &caller, &operation)).into_response())
}

/// All fields, one after the other; a query that the schema does not allow has no `data` at all.
fn execute(app: &Service, caller: &Caller, operation: &Operation) -> Value {
    let (mut data, mut errors) = (Map::new(), Vec::new());
    for field in &operation.fields {
        let done = match (operation.kind, field.name.as_str()) {
            (Kind::Query, "repository") => repository(app, caller, field),
            (Kind::Mutation, "updateRefs") => update_refs(app, caller, field),
            (kind, _) => Err(unknown(field, kind.type_name())),
        };
        let value = done.unwrap_or_else(|trouble| {
            errors.push(trouble);
            Value::Null
        });
        data.insert(field.alias.clone(), value);
    }
    let fatal = errors.iter().any(|trouble| trouble.fatal);
    let errors: Vec<Value> = errors.into_iter().map(Trouble::show).collect();
    match (errors.is_empty(), fatal) {
        (true, _) => json!({ "data": data }),
        (false, true) => json!({ "errors": errors }),
        (false, false) => json!({ "data": data, "errors": errors }),
    }
}

fn repository(app: &Service, caller: &Caller, field: &Field) -> Result<Value, Trouble> {
    let (owner, name) = (text(field, "owner")?, text(field, "name")?);
    let mut inside = app.lock();
    let opened = inside
        .github
        .open(caller.token(), (owner, name), Need::ReadContents);
    let repository = opened.map_err(|refusal| match refusal {
        Refusal::NotFound => Trouble {
            kind: Some("NOT_FOUND"),
            message: format!("Could not resolve to a Repository with the name '{owner}/{name}'."),
            at: field.at,
            path: field.alias.clone(),
            fatal: false,
        },
        refusal => refused(field, &refusal),
    })?;
    let view = View::of(app, repository);
    let mut shown = Map::new();
    for inner in &field.selection {
        let value = match inner.name.as_str() {
            "id" => json!(view.node_id()),
            "databaseId" => json!(repository.id),
            "name" => json!(repository.name),
            "nameWithOwner" => json!(repository.full_name()),
            _ => return Err(unknown(inner, "Repository")),
        };
        shown.insert(inner.alias.clone(), value);
    }
    Ok(Value::Object(shown))
}

fn update_refs(app: &Service, caller: &Caller, field: &Field) -> Result<Value, Trouble> {
    let input = read_input(field)?;
    // A selection that does not exist is refused before anything changes.
    let mut shown = Map::new();
    for inner in &field.selection {
        match inner.name.as_str() {
            "clientMutationId" => {
                shown.insert(inner.alias.clone(), json!(input.client_mutation_id))
            }
            _ => return Err(unknown(inner, "UpdateRefsPayload")),
        };
    }
    let mut inside = app.lock();
    let repository = open_node(&mut inside.github, caller, field, &input.repository_id)?;
    let updates: Option<Vec<RefUpdate>> = input.ref_updates.iter().map(Update::read).collect();
    let updates = updates.ok_or_else(|| refused(field, &Refusal::BadSha))?;
    let done = repository.update_refs(&updates);
    done.map_err(|refusal| refused(field, &refusal))?;
    Ok(Value::Object(shown))
}

fn read_input(field: &Field) -> Result<UpdateRefsInput, Trouble> {
    let input = field.arguments.get("input").unwrap_or(&Value::Null);
    serde_json::from_value(input.clone()).map_err(|error| Trouble {
        kind: None,
        message: format!("Argument 'input' has an invalid value: {error}"),
        at: field.at,
        path: field.alias.clone(),
        fatal: true,
    })
}

/// The repository with this id, if the caller may change it.
fn open_node<'a>(
    github: &'a mut GitHub,
    caller: &Caller,
    field: &Field,
    node_id: &str,
) -> Result<&'a mut Hosted, Trouble> {
    let lost = || Trouble {
        kind: Some("NOT_FOUND"),
        message: format!("Could not resolve to a node with the global id of '{node_id}'."),
        at: field.at,
        path: field.alias.clone(),
        fatal: false,
    };
    let id = repository_id(node_id).ok_or_else(lost)?;
    let found = github.repository_by_id(id).ok_or_else(lost)?;
    let place = (found.owner.clone(), found.name.clone());
    let opened = github.open(caller.token(), (&place.0, &place.1), Need::WriteContents);
    opened.map_err(|refusal| match refusal {
        Refusal::NotFound => lost(),
        refusal => refused(field, &refusal),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UpdateRefsInput {
    client_mutation_id: Option<String>,
    repository_id: String,
    ref_updates: Vec<Update>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Update {
    name: String,
    before_oid: Option<String>,
    after_oid: String,
    #[serde(default)]
    force: bool,
}

impl Update {
    fn read(&self) -> Option<RefUpdate> {
        let before = match &self.before_oid {
            Some(before) => Some(Oid::parse(before)?),
            None => None,
        };
        Some(RefUpdate {
            name: self.name.clone(),
            before,
            after: Oid::parse(&self.after_oid)?,
            push: if self.force {
                Push::Force
            } else {
                Push::FastForward
            },
        })
    }
}

impl Trouble {
    fn show(self) -> Value {
        let mut shown = json!({
            "path": [self.path],
            "locations": [location(self.at)],
            "message": self.message,
        });
        if let Some(kind) = self.kind {
            shown["type"] = json!(kind);
        }
        shown
    }
}

fn location(at: Place) -> Value {
    json!({ "line": at.line, "column": at.column })
}

fn text<'a>(field: &'a Field, name: &str) -> Result<&'a str, Trouble> {
    let value = field.arguments.get(name).and_then(Value::as_str);
    value.ok_or_else(|| Trouble {
        kind: None,
        message: format!(
            "Field '{}' is missing required arguments: {name}",
            field.name
        ),
        at: field.at,
        path: field.alias.clone(),
        fatal: true,
    })
}

fn unknown(field: &Field, type_name: &str) -> Trouble {
    Trouble {
        kind: None,
        message: format!("Field '{}' doesn't exist on type '{type_name}'", field.name),
        at: field.at,
        path: field.alias.clone(),
        fatal: true,
    }
}

fn refused(field: &Field, refusal: &Refusal) -> Trouble {
    let kind = match refusal {
        Refusal::NotAccessible(_) => "FORBIDDEN",
        _ => "UNPROCESSABLE",
    };
    Trouble {
        kind: Some(kind),
        message: refusal.message("").into_owned(),
        at: field.at,
        path: field.alias.clone(),
        fatal: false,
    }
}
