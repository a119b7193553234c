//! The teeth: take a safeguard away, below the store or outside, and a seed must say which promise
//! broke.

use std::sync::Arc;

use almanack_core::{
    alert::{
        Alert,
        port::{Answer, Notice, Notifier},
    },
    budget::Budget,
    edition::{
        EditionName,
        account::Change,
        allowance::{Caps, Period, Usage},
        delivery::{self, OnRevision, OnUnknown},
        document::{Document, Inputs},
        port::{
            Article, BadTemplate, Failure, Message, Presence, Publisher, Reader, Renderer, Sent,
        },
        story::Status,
    },
    store::{Applied, EditionWritten, Result, Store},
};
use almanack_engine::editions::Outside;
use almanack_testkit::layer::{Layer, Layered};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::open;
use crate::simulator::editions::{EditionOptions, simulate_editions};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 20;

#[track_caller]
fn assert_noticed(
    meddle: fn(Outside) -> Outside,
    open: impl Fn() -> Arc<dyn Store>,
    words: &[&str],
) {
    let options = EditionOptions {
        days: 60,
        meddle,
        ..EditionOptions::default()
    };
    assert_options_noticed(&options, open, words);
}

#[track_caller]
fn assert_options_noticed(
    options: &EditionOptions,
    open: impl Fn() -> Arc<dyn Store>,
    words: &[&str],
) {
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate_editions(seed, options, &open).err());
    let broken = found.expect("a seed must notice");
    let named = words.iter().any(|words| broken.what.contains(words));
    assert!(named, "expected one of {words:?}:\n{broken}");
}

/// Changes what is written, on its way down.
struct Meddle(fn(&mut Change));

#[async_trait]
impl Layer for Meddle {
    async fn write_edition(&self, below: &dyn Store, mut change: Change) -> Result<EditionWritten> {
        (self.0)(&mut change);
        below.write_edition(change).await
    }
}

#[track_caller]
fn assert_write_noticed(meddle: fn(&mut Change), words: &[&str]) {
    let sabotaged = || Layered::over(open(), Meddle(meddle));
    assert_noticed(|outside| outside, sabotaged, words);
}

/// Whatever version was seen, the write is carried out.
struct NoVersionGuard;

#[async_trait]
impl Layer for NoVersionGuard {
    async fn write_edition(&self, below: &dyn Store, mut change: Change) -> Result<EditionWritten> {
        if let Some(known) = below.load_account(change.edition.id).await? {
            change.edition.version = known.edition.version;
        }
        below.write_edition(change).await
    }
}

#[test]
fn a_missing_version_guard_is_noticed() {
    let sabotaged = || Layered::over(open(), NoVersionGuard);
    let words = ["was decided on version"];
    assert_noticed(|outside| outside, sabotaged, &words);
}

#[test]
fn a_story_that_is_not_written_is_noticed() {
    let forget = |change: &mut Change| {
        let failed = |story: &almanack_core::edition::story::Story| story.status == Status::Failed;
        change.stories.retain(|story| !failed(story));
    };
    // Or by a run that puts such a story back again and again, until it gives up.
    let words = [
        "the store keeps something else",
        "in no picture",
        "became",
        "kept changing during this request",
    ];
    assert_write_noticed(forget, &words);
}

#[test]
fn ed_39_a_hold_that_is_not_written_is_noticed() {
    let forget = |change: &mut Change| change.edition.hold = None;
    assert_write_noticed(
        forget,
        &["below its standard", "the store keeps something else"],
    );
}

#[test]
fn ed_38_a_deadline_that_is_not_written_is_noticed() {
    let forget = |change: &mut Change| change.edition.due_at = None;
    assert_write_noticed(forget, &["ready and due", "the store keeps something else"]);
}

/// Keeps no alert.
struct NoAlerts;

#[async_trait]
impl Layer for NoAlerts {
    async fn write_alerts(&self, _: &dyn Store, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        Ok(alerts.iter().map(|_| Applied::Lost).collect())
    }
}

#[test]
fn an_alert_that_is_not_written_is_noticed() {
    let sabotaged = || Layered::over(open(), NoAlerts);
    assert_noticed(|outside| outside, sabotaged, &["no one is notified why"]);
}

#[test]
fn a_message_that_is_not_written_down_before_it_leaves_is_noticed() {
    let forget = |change: &mut Change| {
        let sent = |delivery: &delivery::Delivery| delivery.state == delivery::State::Sent;
        change.deliveries.retain(|delivery| !sent(delivery));
    };
    let words = [
        "arrived twice",
        "in no picture",
        "the store keeps something else",
    ];
    assert_write_noticed(forget, &words);
}

/// A publisher that does otherwise.
struct Sabotaged {
    within: Arc<dyn Publisher>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// A look never finds anything.
    Blind,
    /// Everything is sent twice.
    Twice,
    /// What failed is said to have arrived.
    Boasts,
    /// Who wants no second document gets one.
    Insists,
}

#[async_trait]
impl Publisher for Sabotaged {
    fn destination(&self) -> &str {
        self.within.destination()
    }
    fn parts(&self, document: &Document) -> Vec<Option<String>> {
        self.within.parts(document)
    }
    fn on_unknown(&self) -> OnUnknown {
        self.within.on_unknown()
    }
    fn on_revision(&self) -> OnRevision {
        match self.how {
            How::Insists => OnRevision::Replace,
            _ => self.within.on_revision(),
        }
    }
    fn requests_per_part(&self) -> u32 {
        self.within.requests_per_part()
    }
    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        if self.how == How::Twice {
            self.within.send(message, budget).await;
        }
        match self.within.send(message, budget).await {
            Sent::Failed(failure) if self.how == How::Boasts && !failure.is_spent() => {
                Sent::Confirmed { receipt: None }
            }
            sent => sent,
        }
    }
    async fn look(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Presence {
        match self.within.look(message, budget).await {
            Presence::There { .. } if self.how == How::Blind => Presence::NotThere,
            seen => seen,
        }
    }
}

fn with_publishers(mut outside: Outside, how: How) -> Outside {
    for publisher in &mut outside.publishers {
        let within = Arc::clone(publisher);
        *publisher = Arc::new(Sabotaged { within, how });
    }
    outside
}

#[test]
fn a_look_that_never_finds_anything_is_noticed() {
    let blind = |outside| with_publishers(outside, How::Blind);
    assert_noticed(blind, open, &["arrived twice"]);
}

#[test]
fn a_publisher_that_sends_twice_is_noticed() {
    let twice = |outside| with_publishers(outside, How::Twice);
    assert_noticed(twice, open, &["arrived twice"]);
}

#[test]
fn a_message_that_is_confirmed_and_never_came_is_noticed() {
    let boasts = |outside| with_publishers(outside, How::Boasts);
    assert_noticed(
        boasts,
        open,
        &["confirmed, but the destination has nothing"],
    );
}

#[test]
fn a_second_document_where_none_is_wanted_is_noticed() {
    let insists = |outside| with_publishers(outside, How::Insists);
    assert_noticed(insists, open, &["no second is wanted"]);
}

struct Unpaid(Arc<dyn Reader>);

#[async_trait]
impl Reader for Unpaid {
    async fn read(&self, url: &str, _: &Arc<Budget>) -> std::result::Result<Article, Failure> {
        self.0.read(url, &Budget::new(u32::MAX)).await
    }
}

#[test]
fn a_request_that_the_budget_does_not_count_is_noticed() {
    let unpaid = |mut outside: Outside| {
        outside.reader = Arc::new(Unpaid(outside.reader));
        outside
    };
    let words = ["requests were counted, but", "out of a budget of"];
    assert_noticed(unpaid, open, &words);
}

/// Notifies no one, and says it has.
struct Mute;

#[async_trait]
impl Notifier for Mute {
    async fn notify(&self, _: &[Notice]) -> Vec<Answer> {
        Vec::new()
    }
}

#[test]
fn a_notifier_that_notifies_no_one_is_noticed() {
    let mute = EditionOptions {
        days: 60,
        notifier: |_| Arc::new(Mute),
        ..EditionOptions::default()
    };
    assert_options_noticed(&mute, open, &["are said to have been notified"]);
}

/// Prints the same inputs another way each time.
struct Fickle(Arc<dyn Renderer>, std::sync::atomic::AtomicU32);

impl Renderer for Fickle {
    fn template(&self) -> &str {
        self.0.template()
    }
    fn print(&self, template: &str, inputs: &Inputs) -> std::result::Result<String, BadTemplate> {
        let copy = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(format!("{copy} {}", self.0.print(template, inputs)?))
    }
    fn digest(&self, bytes: &[u8]) -> String {
        self.0.digest(bytes)
    }
}

#[test]
fn a_document_that_comes_out_otherwise_is_noticed() {
    let fickle = |mut outside: Outside| {
        outside.renderer = Arc::new(Fickle(
            outside.renderer,
            std::sync::atomic::AtomicU32::new(0),
        ));
        outside
    };
    assert_noticed(fickle, open, &["comes out otherwise"]);
}

/// Whatever the caps are, a request is counted.
struct NoCaps;

#[async_trait]
impl Layer for NoCaps {
    async fn reserve_spend(
        &self,
        below: &dyn Store,
        name: EditionName,
        on: Date,
        most: Usage,
        _: Caps,
        now: Timestamp,
    ) -> Result<Option<Period>> {
        let none = Caps::default();
        below.reserve_spend(name, on, most, none, now).await
    }
}

#[test]
fn ed_44_a_cap_that_is_not_kept_is_noticed() {
    let sabotaged = || Layered::over(open(), NoCaps);
    assert_noticed(|outside| outside, sabotaged, &["exceed a cap of"]);
}

/// Says that it has counted, and has not.
struct NoCount;

#[async_trait]
impl Layer for NoCount {
    async fn settle_spend(
        &self,
        _: &dyn Store,
        _: EditionName,
        _: Date,
        _: Usage,
        _: Usage,
        _: Timestamp,
    ) -> Result<()> {
        Ok(())
    }
}

#[test]
fn ed_44_a_cost_that_is_not_written_is_noticed() {
    let sabotaged = || Layered::over(open(), NoCount);
    assert_noticed(|outside| outside, sabotaged, &["the store counts"]);
}

/// What a request cost is taken for nothing.
struct Free;

#[async_trait]
impl Layer for Free {
    async fn settle_spend(
        &self,
        below: &dyn Store,
        name: EditionName,
        on: Date,
        reserved: Usage,
        _: Usage,
        now: Timestamp,
    ) -> Result<()> {
        let nothing = Usage::default();
        below.settle_spend(name, on, reserved, nothing, now).await
    }
}

#[test]
fn ed_44_a_cost_that_is_counted_as_nothing_is_noticed() {
    let sabotaged = || Layered::over(open(), Free);
    let words = ["the store counts", "exceed a cap of"];
    assert_noticed(|outside| outside, sabotaged, &words);
}

#[test]
fn ed_40_an_edition_that_repeats_stories_is_noticed() {
    let repeats = EditionOptions {
        days: 60,
        adjust: |settings| settings.rules.repeat_after_days = 0,
        ..EditionOptions::default()
    };
    assert_options_noticed(&repeats, open, &["was published within"]);
}

/// Shared texts, and how they go wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// One is found under another's key.
    Mixed,
    /// None is ever found.
    Lost,
}

struct Library(Texts, std::sync::Mutex<Option<String>>);

impl Library {
    fn over(how: Texts) -> Arc<dyn Store> {
        Layered::over(open(), Self(how, std::sync::Mutex::default()))
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.1
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Library {
    async fn load_shared(
        &self,
        below: &dyn Store,
        key: String,
        from: Timestamp,
    ) -> Result<Option<String>> {
        let is_summary = key.starts_with("summary");
        let found = below.load_shared(key, from).await?;
        Ok(match self.0 {
            Texts::Lost => None,
            Texts::Mixed if is_summary => {
                found.map(|text| self.last().replace(text.clone()).unwrap_or(text))
            }
            Texts::Mixed => found,
        })
    }
}

#[test]
fn ed_37_a_text_of_another_story_is_noticed() {
    let mixed = || Library::over(Texts::Mixed);
    assert_noticed(|outside| outside, mixed, &["has another story's text"]);
}

#[test]
fn ed_37_a_text_that_is_paid_for_twice_is_noticed() {
    let lost = || Library::over(Texts::Lost);
    assert_noticed(|outside| outside, lost, &["is paid for twice"]);
}
