//! The filter of tasks on the command line, and `almanack task count`.

use crate::commands::prelude::*;

/// The filter as the API takes it, times as people write them made instants.
pub(super) fn filter(
    given: &FilterArguments,
    client: &Client,
) -> Result<Vec<(&'static str, Value)>> {
    let instant = |text: &Option<String>| -> Result<Value> {
        let Some(text) = text else {
            return Ok(Value::Null);
        };
        Ok(json!(when::parse_at(text, client.now())?))
    };
    let live = (given.live || given.ended).then_some(given.live);
    let tag = (!given.tag.is_empty()).then(|| given.tag.join(","));
    let fields = [
        ("task_id", json!(given.id)),
        ("internal", json!(given.no_internal.then_some(false))),
        ("kind", json!(given.kind)),
        ("status", json!(given.status)),
        ("subject_prefix", json!(given.subject)),
        ("subject_contains", json!(given.contains)),
        ("live", json!(live)),
        ("tag", json!(tag)),
        ("from", instant(&given.due_from)?),
        ("to", instant(&given.due_to)?),
        ("error", json!(given.error)),
    ];
    Ok(fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect())
}

/// A call with the filter in its query.
pub(super) fn query(call: Call, given: &FilterArguments, client: &Client) -> Result<Call> {
    let fields = filter(given, client)?.into_iter();
    Ok(fields.fold(call, |call, (name, value)| {
        call.query(name, Some(text(&value)))
    }))
}

/// Where nothing was found, a mistyped kind is the likeliest reason.
pub(super) async fn suggest_kind(client: &Client, given: &FilterArguments, output: &mut Output) {
    let Some(kind) = given.kind.as_deref() else {
        return;
    };
    if let Some(near) = client.near_kind(kind).await {
        output.aside(&format!(
            "hint: no kind `{kind}` is known; did you mean `{near}`?\n"
        ));
    }
}

const GROUPS: &[Column] = &[column("TASKS", "/tasks", plain), column("", "/name", plain)];

pub(super) async fn count(client: &Client, given: &CountArguments, output: &mut Output) -> Done {
    let by = given.by.map(|by| format!("{by:?}").to_lowercase());
    let call = query(Call::get(&["tasks", "counts"]), &given.filter, client)?;
    let answer = client.call(call.query("by", by)).await?;
    if answer.value()["tasks"] == 0 {
        suggest_kind(client, &given.filter, output).await;
    }
    output.show(&answer, |output, counts| {
        let least = if counts["exact"] == true {
            ""
        } else {
            "at least "
        };
        let tasks = counted(
            counts["tasks"].as_u64().unwrap_or_default(),
            "task",
            "tasks",
        );
        output.line(&format!("{least}{tasks}"))?;
        let groups = items(&counts["groups"]);
        if groups.is_empty() {
            return Ok(());
        }
        output.columns(GROUPS, groups, answer.now, true)
    })
}
