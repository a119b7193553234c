//! `almanack edition prompts`: the prompts that models get, and the version of each prompt (ED-36).

use crate::commands::prelude::*;

const PROMPTS: &[Column] = &[
    column("PROMPT", "/kind", plain),
    column("VERSION", "/version", plain),
    column("FROM", "/is_built_in", |it, _| {
        let from = if *it == true {
            "built in"
        } else {
            "configuration"
        };
        from.to_owned().into()
    }),
];

/// Shows the prompts of an edition: a table, and below it their texts.
pub(super) async fn run(client: &Client, name: Option<&str>, output: &mut Output) -> Done {
    let call = Call::get(&["editions", "prompts"]).query("name", name);
    let answer = client.call(call).await?;
    let now = answer.now;
    output.show(&answer, |output, value| {
        let prompts = items(&value["prompts"]);
        if prompts.is_empty() {
            return output.line("no model: summaries are sentences of the pages");
        }
        output.columns(PROMPTS, prompts, now, true)?;
        for prompt in prompts {
            let kind = output.paint(Ink::Faint, &text(&prompt["kind"]));
            output.line(&format!("\n{kind}\n{}", text(&prompt["text"])))?;
        }
        Ok(())
    })
}
