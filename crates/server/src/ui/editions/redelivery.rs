//! What people decide about deliveries: send one again, or skip it.

use almanack_core::edition::Account;
use almanack_core::edition::turn::{self, Chosen};

use super::path;
use crate::editions::{Dated, editions};
use crate::ui::form;
use crate::ui::prelude::*;

/// Which deliveries are meant, and what is decided about them.
#[derive(Debug, Deserialize)]
pub(crate) struct Redelivery {
    destination: String,
    part: Option<u32>,
    act: Act,
}

/// What is decided.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Resend,
    Skip,
}

/// The destinations about which something can be decided now: where the same function would not refuse.
fn destinations<'a>(account: &'a Account, viewer: &Viewer) -> Vec<&'a str> {
    let names = account.deliveries.iter();
    let mut names: Vec<&str> = names.map(|one| one.destination.as_str()).collect();
    names.dedup();
    names.retain(|name| {
        let all = Chosen {
            destination: (*name).to_owned(),
            part: None,
        };
        turn::skip(account, &all, "", viewer.now).is_ok_and(|(change, _)| change.is_some())
    });
    names
}

/// The form, where there is something to decide.
pub(super) fn show(viewer: &Viewer, account: &Account) -> Option<Markup> {
    let (lang, date) = (viewer.lang, account.edition.date);
    let names = destinations(account, viewer);
    let first = (*names.first()?).to_owned();
    let fields = html! {
        div class="fields" {
            label { (lang.pick("Destination", "发布目的地"))
                select name="destination" { @for name in &names { option value=(name) { (name) } } }
            }
            label { (lang.pick("Part (empty: all it lacks)", "部分（留空：全部未送达）"))
                input type="number" name="part" min="1" step="1";
            }
            button type="submit" name="act" value="resend" { (lang.pick("Send again", "重新发送")) }
            button type="submit" name="act" value="skip" { (lang.pick("Skip", "跳过")) }
        }
    };
    let day = date.to_string();
    let call = Equivalent::call("POST", format!("/api/v1/editions/{date}/resend"));
    Some(html! {
        div {
            (form::form(viewer, &format!("{}/redeliver", path(date)), &fields))
            p class="hint" { (pick!(lang;
                "A message that may have arrived can arrive twice when it is sent again.",
                "可能已送达的消息重新发送后，读者可能会收到两次。")) }
            (call.body(&json!({ "destination": first })).cli(&["edition", "resend", &first, &day]).show(viewer))
        }
    })
}

/// Does what was decided.
pub(crate) async fn redeliver(
    State(state): App,
    Dated(date): Dated,
    filled: Filled<Redelivery>,
) -> Answer {
    let (editions, by) = (editions(&state)?, filled.viewer.origin());
    let Redelivery {
        destination,
        part,
        act,
    } = filled.form;
    let chosen = Chosen { destination, part };
    let code = match act {
        Act::Resend => {
            editions.resend(date, &chosen, &by).await?;
            "resent"
        }
        Act::Skip => {
            editions.skip(date, &chosen, &by).await?;
            "skipped"
        }
    };
    Ok(see(&format!("{}?did={code}", path(date))))
}
