//! The router and the layers that every request passes.
//!
//! From outside in: request id, tracing span without bodies or tokens, metrics, security headers,
//! compression, one form for every error, panic handler, body limit, timeout, route. A tick and a
//! wait for work have their own, longer timeouts; building an edition has none, because it ends by
//! itself. Guarded routes also pass [`Authentication`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use almanack_core::{both, time::Clock, token::Scope};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::{HeaderName, Uri};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::get;
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};
use tower_http::trace::TraceLayer;
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes as register};

use crate::access::{Authentication, guard, guard_looking, guard_working, needed_scope};
use crate::prelude::*;
use crate::{
    alerts, batch, bulk, calendars, editions, events, firings, health, inbox, kinds, language,
    lookup, metrics, monitors, newsletter, nodes, openapi, problem, radar, receipts, run_logs,
    schedules, search, sources, subscriptions, tasks, tick, tokens, ui, users, work,
};

/// Longer than any healthy answer, a full batch included; shorter than most proxies wait.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The whole HTTP API.
pub fn app(state: Arc<AppState>) -> Router {
    let (body_bytes, numbered) = (state.limits.body_bytes, Numbered::new(state.clock.as_ref()));
    let (authentication, clock) = (
        Authentication::new(Arc::clone(&state)),
        Arc::clone(&state.clock),
    );
    let shared = || Arc::clone(&authentication);
    let guarded = guarded().route_layer(from_fn_with_state(shared(), guard));
    let asked = asked().route_layer(from_fn_with_state(shared(), guard_looking));
    let read = read().route_layer(from_fn_with_state(shared(), editions::pages::guard));
    let built = built().route_layer(from_fn_with_state(shared(), guard));
    let built = built.layer(RequestBodyTimeoutLayer::new(ANSWER_WITHIN));
    let timed = described()
        .merge(reported())
        .merge(guarded)
        .merge(asked)
        .merge(read);
    let timed = timed.layer(within(ANSWER_WITHIN));
    let pages = ui::routes(&authentication).merge(ui::status::routes(&authentication));
    let pages = pages.layer(within(ANSWER_WITHIN));
    let pushed = sources::push::routes()
        .merge(sources::ping::routes())
        .merge(monitors::public::routes())
        .merge(editions::review::routes())
        .merge(newsletter::pages::routes());
    let pushed = pushed
        .layer(within(ANSWER_WITHIN))
        .layer(RequestBodyTimeoutLayer::new(ANSWER_WITHIN));
    let ticked = ticked().route_layer(from_fn_with_state(shared(), tick::guard));
    // A client that sends its body slowly would otherwise keep a connection for as long as a tick
    // may take.
    let ticked = ticked
        .layer(within(tick::ANSWER_WITHIN))
        .layer(RequestBodyTimeoutLayer::new(ANSWER_WITHIN));
    let worked = worked().route_layer(from_fn_with_state(shared(), guard_working));
    let worked = worked
        .layer(within(work::ANSWER_WITHIN))
        .layer(RequestBodyTimeoutLayer::new(ANSWER_WITHIN));
    let router = Router::from(timed.merge(ticked).merge(worked).merge(built))
        .merge(pages)
        .merge(pushed)
        .layer(Extension(Arc::new(metrics::Scrapes::default())))
        .layer(Extension(Arc::new(tick::Ticks::default())))
        .layer(Extension(Arc::new(editions::runs::Runs::default())))
        .layer(Extension(Arc::new(run_logs::Waiting::default())))
        .fallback(no_such_path)
        .with_state(state);
    surround(router, body_bytes, numbered, clock)
}

pub(crate) fn routes() -> OpenApiRouter<Arc<AppState>> {
    let guarded = guarded().merge(asked()).merge(ticked()).merge(built());
    let guarded = guarded.merge(worked());
    described().merge(reported()).merge(guarded).merge(read())
}

/// Public routes: liveness and the description of the API.
fn described() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::with_openapi(openapi::Base::openapi())
        .routes(register!(health::healthz))
        .routes(register!(health::readyz))
        .routes(register!(openapi::openapi_json))
        .route("/api/docs", get(openapi::docs))
}

/// Reports about firings: their signature is all the authority they need.
fn reported() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(register!(firings::report_start))
        .routes(register!(firings::report_progress))
        .routes(register!(firings::report_finish))
}

/// Routes behind authentication.
fn guarded() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(tasks::list_tasks))
        .routes(register!(tasks::find::count_tasks))
        .routes(register!(bulk::change_tasks))
        .routes(register!(bulk::list_bulks))
        .routes(register!(bulk::get_bulk))
        .routes(register!(bulk::cancel_bulk))
        .routes(register!(batch::put_batch))
        .routes(register!(
            tasks::put_task,
            tasks::get_task,
            tasks::cancel_task
        ))
        .routes(register!(tasks::get_history))
        .routes(register!(tasks::retry_task))
        .routes(register!(tasks::why_task))
        .routes(register!(kinds::list_kinds))
        .routes(register!(kinds::pause_kind))
        .routes(register!(kinds::resume_kind))
        .routes(register!(events::post_events))
        .routes(register!(search::search))
        .routes(register!(receipts::get_receipt))
        .routes(register!(inbox::get_inbox))
        .routes(register!(schedules::list_schedules))
        .routes(register!(
            schedules::put_schedule,
            schedules::get_schedule,
            schedules::delete_schedule
        ))
        .routes(register!(schedules::acts::pause))
        .routes(register!(schedules::acts::resume))
        .routes(register!(schedules::acts::fire))
        .routes(register!(schedules::acts::backfill))
        .routes(register!(schedules::rewind::rewind))
        .routes(register!(schedules::rewind::rewind_all))
        .routes(register!(schedules::ledger::list_slots))
        .routes(register!(schedules::ledger::list_edits))
        .routes(register!(schedules::ledger::why))
        .routes(register!(monitors::list_monitors))
        .routes(register!(monitors::get_monitor))
        .routes(register!(monitors::list_pings))
        .routes(register!(monitors::new_ping_key))
        .routes(register!(monitors::show_badge, monitors::hide_badge))
        .routes(register!(calendars::list_calendars))
        .routes(register!(
            calendars::put_calendar,
            calendars::get_calendar,
            calendars::delete_calendar
        ))
        .routes(register!(radar::get_radar))
        .routes(register!(radar::spread_herd))
        .routes(register!(nodes::list_nodes))
        .routes(register!(alerts::list_alerts))
        .routes(register!(alerts::test_alerts))
        .routes(register!(metrics::get_metrics))
        .routes(register!(subscriptions::list_subscriptions))
        .merge(guarded_sources())
        .merge(guarded_editions());
    by_method(router)
        .merge(logged())
        .merge(administered())
        .merge(mailed())
}

/// Newsletters. The handlers check the scope: authentication alone lets readers read addresses.
fn mailed() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(
            newsletter::list::list_subscribers,
            newsletter::add_subscriber
        ))
        .routes(register!(
            newsletter::list::export_subscribers,
            newsletter::list::import_subscribers
        ))
        .routes(register!(newsletter::bounces::report_bounce))
        .routes(register!(newsletter::bounces::take_bounce))
        .routes(register!(newsletter::ledger::get_mailing))
        .routes(register!(
            newsletter::ledger::get_subscriber,
            newsletter::remove_subscriber
        ))
        .routes(register!(newsletter::resend_confirmation))
        .routes(register!(newsletter::unsubscribe));
    let counted = OpenApiRouter::new().routes(register!(newsletter::get_newsletter));
    openapi::guarded(router, |_| Scope::Operate).merge(by_method(counted))
}

/// What runs printed. The handlers check the scope: authentication alone lets readers read.
fn logged() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(run_logs::get_firing_log))
        .routes(register!(run_logs::get_schedule_log));
    openapi::guarded(router, |_| Scope::Operate)
}

/// Tokens and users. The handlers check the scope: authentication alone lets readers list.
fn administered() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(tokens::list_tokens, tokens::create_token))
        .routes(register!(tokens::revoke_token))
        .routes(register!(users::list_users, users::create_user))
        .routes(register!(users::remove_user))
        .routes(register!(users::set_password));
    openapi::guarded(router, |_| Scope::Admin)
}

/// Reading needs less than changing; the method decides which it is.
fn by_method(router: OpenApiRouter<Arc<AppState>>) -> OpenApiRouter<Arc<AppState>> {
    openapi::guarded(router, |method| {
        needed_scope(&method.parse().unwrap_or_default())
    })
}

/// The part of [`guarded`] that is about sources.
fn guarded_sources() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(register!(
            sources::list::list_sources,
            sources::adding::add_sources
        ))
        .routes(register!(sources::adding::discover))
        .routes(register!(sources::preview::preview))
        .routes(register!(sources::numbers::list_due))
        .routes(register!(sources::numbers::get_stats))
        .routes(register!(sources::courtesy::get_courtesy))
        .routes(register!(
            sources::opml::export_opml,
            sources::opml::import_opml
        ))
        .routes(register!(
            sources::get_source,
            sources::patch_source,
            sources::delete_source
        ))
        .routes(register!(sources::acts::check_source))
        .routes(register!(sources::acts::pause_source))
        .routes(register!(sources::acts::resume_source))
        .routes(register!(sources::ping::ping_source))
        .routes(register!(sources::entries::list_source_entries))
        .routes(register!(sources::entries::list_entries))
        .routes(register!(sources::entries::read_full_text))
        .routes(register!(sources::why::why_source))
        .routes(register!(sources::why::draw_week))
}

/// The part of [`guarded`] that is about editions.
fn guarded_editions() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(register!(editions::list::list_editions))
        .routes(register!(editions::rebuild::today))
        .routes(register!(editions::usage::usage))
        .routes(register!(editions::prompts::prompts))
        .routes(register!(editions::get_edition))
        .routes(register!(editions::document::get_document))
        .routes(register!(editions::document::preview_edition))
        .routes(register!(editions::acts::retry_edition))
        .routes(register!(editions::acts::reset_edition))
        .routes(register!(editions::redelivery::resend_delivery))
        .routes(register!(editions::redelivery::skip_delivery))
        .routes(register!(editions::desk::approve_edition))
        .routes(register!(editions::desk::reject_edition))
        .routes(register!(editions::desk::correct_edition))
        .routes(register!(editions::desk::retract_edition))
        .routes(register!(editions::desk::restore_edition))
        .routes(register!(editions::desk::list_revisions))
        .routes(register!(editions::compat::trigger_export))
        .routes(register!(editions::compat::reset_task))
        .routes(register!(editions::compat::task_status))
}

/// Routes that build editions, without a timeout.
fn built() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(editions::acts::run_edition))
        .routes(register!(editions::acts::publish_edition))
        .routes(register!(editions::compat::trigger_export_sync))
        .routes(register!(editions::compat::force_publish))
        .routes(register!(editions::compat::retry_failed_tasks));
    by_method(router)
}

/// Pages for readers.
fn read() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new()
        .routes(register!(editions::pages::index_page))
        .routes(register!(editions::pages::feeds::atom_feed))
        .routes(register!(editions::pages::feeds::rss_feed))
        .routes(register!(editions::pages::feeds::json_feed))
        .routes(register!(editions::pages::sitemap::sitemap))
        .routes(register!(editions::pages::search::search_page))
        .routes(register!(editions::pages::edition_page))
        .routes(register!(editions::pages::feeds::named_feed))
        .routes(register!(editions::pages::feeds::named_rss_feed))
        .routes(register!(editions::pages::feeds::named_json_feed))
        .routes(register!(editions::pages::search::named_search_page))
        .routes(register!(editions::pages::named_page))
        // People type it, and static sites link to it.
        .route("/editions/", get(editions::pages::index_page))
}

/// Queries sent as a POST.
fn asked() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(schedules::explain::explain))
        .routes(register!(lookup::look_up))
        .routes(register!(editions::rebuild::rebuild));
    openapi::guarded(router, |_| Scope::Read)
}

/// What workers do; a wait for work may take longer than other answers.
fn worked() -> OpenApiRouter<Arc<AppState>> {
    let router = OpenApiRouter::new()
        .routes(register!(work::claim_work))
        .routes(register!(work::extend_work))
        .routes(register!(work::finish_work))
        .routes(register!(work::release_work));
    openapi::guarded(router, |_| Scope::Work)
}

/// Ticks from outside.
fn ticked() -> OpenApiRouter<Arc<AppState>> {
    by_method(OpenApiRouter::new().routes(register!(tick::post_tick)))
}

fn within(limit: Duration) -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, limit)
}

/// Layers are listed from the inside out, as axum adds them.
fn surround(
    router: Router,
    body_bytes: usize,
    numbered: Numbered,
    clock: Arc<dyn Clock>,
) -> Router {
    let header =
        |name, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    // A 304 replaces the headers of the cached page: it must not carry a different policy.
    let policy = |response: &Response| {
        let whole = response.status() != StatusCode::NOT_MODIFIED;
        whole.then(|| HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
    };
    router
        .layer(RequestBodyLimitLayer::new(body_bytes))
        // The limit above holds; axum's own, lower default would refuse a full batch.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(map_response(move |response| async move {
            problem::unify(response, body_bytes)
        }))
        .layer(from_fn(language::turn))
        .layer(CompressionLayer::new())
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            policy,
        ))
        .layer(header(header::CACHE_CONTROL, "no-store"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(from_fn_with_state(clock, metrics::count))
        // Failures are logged where they are handled, with their cause.
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(span)
                .on_failure(()),
        )
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(SetRequestIdLayer::new(REQUEST_ID, numbered))
}

/// The span contains the path, but neither the query nor headers. The path of a hub's callback, and
/// that of a job's ping, is a secret of its own, so its route stands for it.
fn span<B>(request: &axum::http::Request<B>) -> tracing::Span {
    let id = request
        .extensions()
        .get::<RequestId>()
        .and_then(|id| id.header_value().to_str().ok());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(MatchedPath::as_str);
    tracing::info_span!(
        "request",
        request.id = id,
        http.method = %request.method(),
        http.route = route,
        http.path = route.filter(|route| is_secret(route)).unwrap_or(request.uri().path()),
    )
}

fn is_secret(route: &str) -> bool {
    let secret = [
        "/websub/",
        "/ping/",
        "/badge/",
        "/editions/confirm/",
        "/editions/unsubscribe/",
    ];
    secret.iter().any(|start| route.starts_with(start))
}

/// Numbers requests by the instant this app was created and a counter: unique enough to find a
/// request in the log, without randomness.
#[derive(Clone)]
struct Numbered {
    since: i64,
    count: Arc<AtomicU64>,
}

impl Numbered {
    fn new(clock: &dyn Clock) -> Self {
        Self {
            since: clock.now().as_microsecond(),
            count: Arc::default(),
        }
    }
}

impl MakeRequestId for Numbered {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{number}", self.since);
        HeaderValue::try_from(id).ok().map(RequestId::new)
    }
}

async fn no_such_path(uri: Uri, _: Request) -> Problem {
    let detail = if uri.path().starts_with("/api/v1/schedules/") {
        both!(
            "a schedule is at /api/v1/schedules/{{name}}; names must not contain `/`",
            "日程位于 /api/v1/schedules/{{name}}；名称中不能有 `/`"
        )
    } else if uri.path().starts_with("/api/v1/tasks/") {
        both!(
            "a task is at /api/v1/tasks/{{kind}}/{{subject}}; neither may be empty, and a `/` in the subject is written %2F",
            "任务位于 /api/v1/tasks/{{kind}}/{{subject}}；两者都不能为空，主体中的 `/` 写作 %2F"
        )
    } else {
        both!(
            "no such path; see /api/docs for all paths",
            "没有此路径；所有路径见 /api/docs"
        )
    };
    Problem::new(Code::NoSuchPath, detail)
}

#[cfg(test)]
mod tests {
    use axum::{
        body::{Body, to_bytes},
        routing::get,
    };
    use tower::ServiceExt as _;

    use super::*;

    /// It never passes.
    struct Midnight;

    impl Clock for Midnight {
        fn now(&self) -> jiff::Timestamp {
            jiff::Timestamp::UNIX_EPOCH
        }
    }

    async fn broken() {
        panic!("a secret");
    }

    #[tokio::test]
    async fn a_panic_answers_a_problem_and_keeps_its_message_to_itself() {
        let router = Router::new().route("/", get(broken));
        let numbered = Numbered {
            since: 0,
            count: Arc::default(),
        };
        let app = surround(router, 1024, numbered, Arc::new(Midnight));
        let answer = app.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], problem::MEDIA_TYPE);
        let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
        let body = String::from_utf8_lossy(&body);
        assert!(
            body.contains("\"internal\"") && !body.contains("secret"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn what_layers_answer_in_their_own_words_becomes_a_problem() {
        for (status, code) in [
            (StatusCode::GATEWAY_TIMEOUT, "timed_out"),
            (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            (StatusCode::BAD_REQUEST, "bad_request"),
            (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        ] {
            let plain = Router::new().route("/", get(move || async move { (status, "words") }));
            let app = plain.layer(map_response(|response| async {
                problem::unify(response, 1024)
            }));
            let answer = app.oneshot(Request::new(Body::empty())).await.unwrap();
            assert_eq!(answer.status(), status);
            let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
            let body = String::from_utf8_lossy(&body);
            assert!(
                body.contains(&format!("\"{code}\"")) && !body.contains("words"),
                "{body}"
            );
        }
    }
}
