//! The writer of editions against a model that does its work, and one that does it badly.

mod badly;
mod bill;
mod fallback;
mod tries;

use std::sync::{Arc, Mutex};

use almanack_adapters::model::{BadSettings, ChatModel, Settings};
use almanack_core::{
    budget::{Budget, Spend},
    edition::{
        allowance::Usage,
        port::{Failure, FailureClass, Length, Meter, Reserved, Sensitivity, Text, Writer},
        quote::Comment,
    },
    secret::Secret,
    time::{Clock, Sleeper},
};
use almanack_lab::model::{
    self, Config, Handle, Running,
    fault::{Effect, Rule, When},
    task::Kind,
};
use async_trait::async_trait;
use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    routing::post,
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::{Fixed, client, serve};

const KEY: &str = "sk-almanack-0123456789abcdef";

/// Notes how long it was asked to wait, and waits for nothing.
#[derive(Default)]
struct Impatient(Mutex<Vec<SignedDuration>>);

#[async_trait]
impl Sleeper for Impatient {
    async fn until(&self, at: Timestamp) {
        let wait = at.duration_since(Fixed.now());
        self.0.lock().unwrap().push(wait);
    }
}

/// Counts what requests cost, and refuses all but so many.
#[derive(Default)]
struct Bill {
    /// What was reserved and what it became; nothing while it is not settled.
    requests: Mutex<Vec<(Usage, Option<Usage>)>>,
    at_most: Option<usize>,
}

impl Bill {
    fn requests(&self) -> Vec<(Usage, Option<Usage>)> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl Meter for Bill {
    async fn reserve(&self, most: Usage) -> Result<Reserved, Failure> {
        let mut requests = self.requests.lock().unwrap();
        if self
            .at_most
            .is_some_and(|at_most| requests.len() >= at_most)
        {
            return Err(Failure::new(FailureClass::Capped, "the cap is reached"));
        }
        requests.push((most, None));
        Ok(Reserved {
            on: jiff::civil::date(2026, 1, 5),
            usage: most,
            under_way: Some(Box::new(requests.len() - 1)),
        })
    }

    async fn settle(&self, reserved: Reserved, actual: Usage) {
        let place = reserved.under_way.unwrap();
        let place = *place.downcast_ref::<usize>().unwrap();
        self.requests.lock().unwrap()[place].1 = Some(actual);
    }
}

/// A model of the world, and the writer that asks it.
struct Fixture {
    running: Running,
    writer: ChatModel,
    bill: Arc<Bill>,
    slept: Arc<Impatient>,
    _stop: DropGuard,
}

impl Fixture {
    async fn open() -> Self {
        Self::open_with(|_, _| {}).await
    }

    async fn open_with(adjust: impl FnOnce(&mut Config, &mut Settings)) -> Self {
        Self::open_billed(Bill::default(), adjust).await
    }

    async fn open_billed(bill: Bill, adjust: impl FnOnce(&mut Config, &mut Settings)) -> Self {
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), KEY);
        config.clock = Arc::new(|| Fixed.now());
        let mut settings = Settings::new("", "tide-1", Some(Secret::new(KEY)));
        adjust(&mut config, &mut settings);
        let stop = CancellationToken::new();
        let running = model::start(config, stop.clone()).await.unwrap();
        settings.base_url = format!("{}/v1", running.url());
        let slept = Arc::new(Impatient::default());
        let sleeper: Arc<dyn Sleeper> = Arc::clone(&slept) as _;
        let bill = Arc::new(bill);
        Self {
            running,
            writer: ChatModel::new(client(), Arc::new(Fixed), sleeper, (settings, bill.clone()))
                .unwrap(),
            bill,
            slept,
            _stop: stop.drop_guard(),
        }
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    fn disturb(&self, kind: Kind, when: When, effect: Effect) {
        self.handle().add_fault(Rule::of(kind, when, effect));
    }

    /// Waits so far, in seconds.
    fn waits(&self) -> Vec<i64> {
        let waits = self.slept.0.lock().unwrap();
        waits.iter().map(SignedDuration::as_secs).collect()
    }

    /// The titles as they come back, and what was spent on them.
    async fn titles(&self, titles: &[String]) -> (Vec<Option<String>>, Spend) {
        let budget = Budget::new(45);
        let translated = self.writer.titles(titles, &budget).await.unwrap();
        (translated.unwrap(), budget.spend())
    }
}

fn titles() -> Vec<String> {
    let titles = [
        "Why databases are slow",
        "Show HN: A \"small\" <b>web</b> server",
        "The history of tides, [1998]",
        "How to read a dump",
    ];
    titles.map(str::to_owned).to_vec()
}

/// Whether a translation belongs to its original: the simulated model leaves a word of each
/// unchanged.
fn belongs(index: usize, translation: &str) -> bool {
    let kept = ["databases", "<b>web</b>", "tides,", "dump"][index];
    translation.contains(kept) && translation.contains("译文")
}

#[tokio::test]
async fn ed_07_all_titles_of_a_batch_are_one_request_each_at_its_index() {
    let fixture = Fixture::open().await;
    let (translated, spend) = fixture.titles(&titles()).await;
    for (index, title) in translated.iter().enumerate() {
        let title = title.as_deref().unwrap();
        assert!(belongs(index, title), "{index}: {title}");
    }
    let seen = fixture.handle().requests();
    let asked = seen[0].facts.asked.as_ref().unwrap();
    assert_eq!((seen.len(), asked.kind, asked.titles), (1, Kind::Titles, 4));
    assert_eq!(seen[0].facts.path, "/v1/chat/completions");
    let temperature = asked.temperature.unwrap();
    assert!((temperature - 0.3).abs() < 0.001, "{temperature}");
    assert_eq!(asked.max_tokens, Some(2048));
    assert_eq!((spend.requests, spend.model_requests), (1, 1));
    assert_eq!(spend.tokens_in, asked.prompt_tokens as u64);
    assert_eq!(spend.tokens_out, asked.completion_tokens as u64);
    assert!(spend.tokens_in > 0 && spend.tokens_out > 0);
}

#[tokio::test]
async fn ed_36_summaries_are_of_the_text_and_of_the_length_asked_for() {
    let fixture = Fixture::open_with(|_, settings| settings.summary_chars = 60).await;
    let budget = Budget::new(45);
    let article = "Harbour tides. The harbour is deep. [\"not\", \"titles\"]";
    let summary = fixture
        .writer
        .summary(Text::article(article), Length::Full, &budget)
        .await;
    let summary = summary.unwrap();
    assert!(summary.contains("harbour"), "{summary}");
    assert!(summary.chars().count() <= 60, "{summary}");
    let comments = ["Nice harbour", "No harbour", "Yes"].map(Comment::of);
    let summary = fixture
        .writer
        .summary(Text::Comments(&comments), Length::Full, &budget)
        .await;
    assert!(summary.unwrap().contains("harbour"));
    assert_eq!(fixture.handle().count(Kind::Summary), 2);
    let nothing = fixture
        .writer
        .summary(Text::article(" "), Length::Full, &budget)
        .await;
    assert_eq!(nothing.unwrap_err().class, FailureClass::Unusable);
    assert_eq!(budget.spent(), 2, "no request for nothing");
}

#[tokio::test]
async fn every_title_is_judged_in_one_request() {
    let fixture = Fixture::open().await;
    let budget = Budget::new(45);
    let mut titles = titles();
    titles.push("The election of 1998".to_owned());
    let judged = fixture
        .writer
        .judge(&titles, Sensitivity::Medium, &budget)
        .await;
    assert_eq!(judged.unwrap(), [true, true, true, true, false]);
    assert_eq!(fixture.handle().count(Kind::Filter), 1);
    assert_eq!(budget.spent(), 1);
}

#[tokio::test]
async fn nothing_is_asked_about_no_titles() {
    let fixture = Fixture::open().await;
    let (translated, spend) = fixture.titles(&[]).await;
    assert_eq!((translated.len(), spend), (0, Spend::default()));
    let budget = Budget::new(1);
    let judged = fixture.writer.judge(&[], Sensitivity::Low, &budget).await;
    assert_eq!((judged.unwrap().len(), budget.spent()), (0, 0));
}

#[tokio::test]
async fn a_wrong_key_needs_attention_and_is_never_shown() {
    let wrong = "sk-wrong-0123456789abcdef";
    let fixture = Fixture::open_with(|_, settings| settings.key = Some(Secret::new(wrong))).await;
    let budget = Budget::new(45);
    let failure = fixture.writer.titles(&titles(), &budget).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Credentials);
    let text = format!("{failure:?} {failure}");
    assert!(!text.contains("sk-") && !text.contains("cdef"), "{text}");
    assert_eq!(budget.spent(), 1, "a wrong key is not tried twice");
    let settings = Settings::new("https://example.org", "m", Some(Secret::new(wrong)));
    assert!(!format!("{settings:?}").contains("wrong"));
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_refused_with_the_service_s_message() {
    let fixture =
        Fixture::open_with(|config, _| config.setup.models = vec!["other".to_owned()]).await;
    let failure = fixture.writer.titles(&titles(), &Budget::new(9)).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.class, FailureClass::Refused);
    assert!(failure.detail.contains("does not exist"), "{failure}");
}

/// The headers that a test's own service received.
type ReceivedHeaders = Arc<Mutex<Vec<HeaderMap>>>;

/// A writer, in English, at a service that answers every request with this.
async fn at_a_service(status: StatusCode, body: &'static str) -> (ChatModel, ReceivedHeaders) {
    at_a_billed_service(status, body, Arc::default()).await
}

async fn at_a_billed_service(
    status: StatusCode,
    body: &'static str,
    bill: Arc<Bill>,
) -> (ChatModel, ReceivedHeaders) {
    let received = ReceivedHeaders::default();
    let noting = Arc::clone(&received);
    let answer = post(move |headers: HeaderMap| async move {
        noting.lock().unwrap().push(headers);
        let elsewhere = [
            (header::LOCATION, "/other"),
            (header::CONTENT_TYPE, "application/json"),
        ];
        (status, elsewhere, body)
    });
    let url = serve(Router::new().route("/api/v1/chat/completions", answer)).await;
    let mut settings = Settings::new(format!("{url}/api/v1/"), "m", Some(Secret::new(KEY)));
    settings.language = String::from("en");
    settings.headers = vec![
        ("HTTP-Referer".to_owned(), "https://news.example".to_owned()),
        ("X-Title".to_owned(), "Daily".to_owned()),
    ];
    let sleeper = Arc::new(Impatient::default());
    let writer = ChatModel::new(client(), Arc::new(Fixed), sleeper, (settings, bill));
    (writer.unwrap(), received)
}

#[tokio::test]
async fn a_service_gets_the_client_s_headers() {
    let body = r#"{"choices":[{"message":{"content":"It is."}}]}"#;
    let (writer, received) = at_a_service(StatusCode::OK, body).await;
    let budget = Budget::new(1);
    let summary = writer
        .summary(Text::article("Tides."), Length::Full, &budget)
        .await;
    assert_eq!(summary.unwrap(), "It is.");
    let received = received.lock().unwrap();
    let header = |name: &str| received[0].get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(header("http-referer"), "https://news.example");
    assert_eq!(header("x-title"), "Daily");
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(
        budget.spend().model_requests,
        1,
        "an answer without a bill is an answer"
    );
}

#[tokio::test]
async fn a_service_that_sends_us_elsewhere_is_not_followed() {
    let (writer, received) = at_a_service(StatusCode::TEMPORARY_REDIRECT, "").await;
    let failure = writer
        .summary(Text::article("Tides."), Length::Full, &Budget::new(9))
        .await;
    assert_eq!(failure.unwrap_err().class, FailureClass::Refused);
    assert_eq!(received.lock().unwrap().len(), 1);
}

#[test]
fn settings_that_can_never_work_are_refused() {
    let refused = |adjust: fn(&mut Settings)| {
        let mut settings = Settings::new("https://example.org/v1/", "m", None);
        adjust(&mut settings);
        let sleeper = Arc::new(Impatient::default());
        let with = (settings, Arc::new(Bill::default()) as Arc<dyn Meter>);
        ChatModel::new(client(), Arc::new(Fixed), sleeper, with).err()
    };
    assert_eq!(refused(|_| {}), None);
    let no_url = refused(|settings| settings.base_url = "not an address".to_owned());
    assert!(matches!(no_url, Some(BadSettings::BaseUrl(_))));
    assert_eq!(refused(|it| it.model.clear()), Some(BadSettings::NoModel));
    assert_eq!(
        refused(|it| it.concurrency = 0),
        Some(BadSettings::NoConcurrency)
    );
    assert_eq!(
        refused(|it| it.summary_chars = 0),
        Some(BadSettings::NoSummary)
    );
    assert_eq!(
        refused(|it| it.key = Some(Secret::new("a\nb"))),
        Some(BadSettings::Key)
    );
    let header = refused(|it| it.headers = vec![("X Title".to_owned(), "a".to_owned())]);
    assert_eq!(header, Some(BadSettings::Header("X Title".to_owned())));
}
