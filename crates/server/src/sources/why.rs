//! Why a source is checked when it is: the active policy, what it has learned, and a sentence.

use almanack_core::lang::Lang;
use almanack_core::source::hub;
use almanack_core::source::policy::cadence::{Cadence, Frequency};
use almanack_core::source::why::{meaning, next_look, next_look_at, requests};
use almanack_core::{source::Source, source::check::FailureClass, store::EntryFilter};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

use super::{Numbered, with_task};
use crate::language;
use crate::picture::week::{self, STYLE, Week};
use crate::prelude::*;

/// Entries drawn into the picture.
const ENTRIES_DRAWN: usize = 200;

/// What was learned about a source, and why its next check is when it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourceWhyView {
    /// Id of the source.
    source_id: i64,
    /// Why the next check is when it is.
    #[schema(example = "Next check at 2026-01-05T09:00:00Z: cadence P2: about every hour.")]
    sentence: String,
    /// Time of the next check; null while it is not checked.
    next_due_at: Option<Timestamp>,
    /// The active policy.
    #[schema(example = "adaptive")]
    policy: String,
    /// How often it publishes; null until it was checked.
    frequency_type: Option<Frequency>,
    /// Its cadence: learned, whatever the policy, or set manually; null until it is known.
    cadence: Option<Cadence>,
    /// Entries expected on an average day; null until there is something to learn from.
    entries_per_day: Option<f64>,
    /// Entries expected in each hour of the week, from Monday 00:00 UTC: 168 numbers, all 0 until
    /// there is something to learn from.
    week: Vec<f64>,
    /// Seconds after its newest entry until it counts as silent; null until its rhythm is learned.
    silent_after_seconds: Option<i64>,
    /// When it counts as silent, if nothing new appears.
    silent_at: Option<Timestamp>,
    /// Seconds that its times are ahead of when its entries appear, below 0 behind; null if they are
    /// right. Times of new entries are corrected by it.
    clock_ahead_s: Option<i32>,
    /// The publisher's limits, one sentence each.
    requests: Vec<String>,
    /// Whether its hub pushes it, and if not, why; null if it names no hub.
    push: Option<String>,
    /// The last failure, if the last check failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<ErrorView>,
    /// Whether the learned rhythm is damaged; it is being learned again, with a fixed interval
    /// until then.
    damaged: bool,
}

/// The failure of the last check.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorView {
    /// Its class.
    class: Option<FailureClass>,
    /// What the class means, and how Almanack reacts.
    meaning: Option<&'static str>,
    /// The error message.
    detail: String,
    /// Failures in a row.
    times: u32,
}

/// Explain when a source is checked, and what was learned about it.
#[utoipa::path(
    get, path = "/api/v1/sources/{id}/why", tag = "sources",
    params(("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts")),
    responses((status = 200, description = "The explanation", body = SourceWhyView)),
)]
pub(crate) async fn why_source(
    State(state): App,
    Numbered(id): Numbered,
    Reader(lang): Reader,
) -> Answer {
    let (source, task) = with_task(&state, id).await?;
    let believed = state.sources.believed(&source);
    let newest = source.stats.last_article_at;
    let silent_at = newest
        .zip(believed.silent_after)
        .and_then(|(newest, after)| newest.checked_add(after).ok());
    let view = SourceWhyView {
        source_id: id.0,
        sentence: next_look(&source, task.as_ref(), state.clock.now(), lang),
        next_due_at: next_look_at(&source, task.as_ref()),
        policy: believed.policy,
        frequency_type: source.stats.frequency_type,
        cadence: source.definition.cadence.or(source.stats.cadence),
        entries_per_day: believed.entries_per_day,
        week: believed.week.to_vec(),
        silent_after_seconds: believed.silent_after.map(|after| after.as_secs()),
        silent_at,
        clock_ahead_s: source.memory.publisher.clock_ahead_s,
        requests: requests(&source.memory.hints, lang),
        push: hub::sentence(
            source.memory.publisher.hub.as_ref(),
            state.publishers.reach,
            state.clock.now(),
            lang,
        ),
        last_error: last_error(&source, lang),
        damaged: believed.damaged,
    };
    Ok(language::answer(lang, view))
}

fn last_error(source: &Source, lang: Lang) -> Option<ErrorView> {
    let stats = &source.stats;
    let detail = stats.last_error.clone()?;
    Some(ErrorView {
        class: stats.last_error_class,
        meaning: stats.last_error_class.map(|class| meaning(class, lang)),
        detail,
        times: stats.fail_count,
    })
}

/// Show the learned week of a source as a picture.
#[utoipa::path(
    get, path = "/api/v1/sources/{id}/week.svg", tag = "sources",
    responses(
        (status = 200, description = "A picture", body = String, content_type = "image/svg+xml"),
    ),
)]
pub(crate) async fn draw_week(State(state): App, Numbered(id): Numbered) -> Answer {
    let source = state.sources.load(id).await?;
    let newest = EntryFilter {
        source: Some(id),
        limit: ENTRIES_DRAWN,
        ..EntryFilter::default()
    };
    let entries = state.store.list_entries(&newest).await?.rows;
    let entries: Vec<Timestamp> = entries
        .into_iter()
        .filter_map(|entry| entry.found.published_at)
        .collect();
    let looks = source.recent.looks();
    let checks: Vec<Timestamp> = looks.iter().map(|look| look.at).collect();
    let definition = &source.definition;
    let name = match definition.name.as_str() {
        "" => &definition.address,
        name => name,
    };
    let svg = week::draw(&Week {
        name,
        expected: &state.sources.believed(&source).week,
        checks: &checks,
        entries: &entries,
    });
    Ok(picture(svg))
}

/// Answers with a picture, allowing only its own style.
fn picture(svg: String) -> Response {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'");
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, svg).into_response()
}
