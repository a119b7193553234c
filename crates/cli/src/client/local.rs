//! The API in this process, on the configured database.

use std::sync::Arc;

use almanack_core::time::Clock;
use almanack_engine::{editions::EditionSet, reloadable::Reloadable, work::Work};
use almanack_server::{
    AppState, Limits, Publishers, Tick, access::Access, problem::Problem as ServerProblem,
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{Call, Reply};
use crate::{
    commands::CommandContext,
    config::Settings,
    failure::{Failure, Result},
    wiring::{self, opml::Lists},
};

/// The router that a node serves, without a socket.
pub(crate) struct Local {
    app: Router,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) settings: Settings,
}

impl Local {
    pub(super) async fn new(
        context: CommandContext,
        (editions, work): (EditionSet, Option<Arc<Work>>),
    ) -> Result<Self> {
        let state = AppState {
            editions,
            work,
            ..state(&context).await?
        };
        let app = almanack_server::app(Arc::new(state));
        Ok(Self {
            app,
            clock: context.clock,
            settings: context.settings,
        })
    }

    pub(super) async fn call(&self, call: Call) -> Result<Reply> {
        let mut request = Request::builder().method(&call.method).uri(call.target());
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let body = match call.content {
            Some((media_type, bytes)) => {
                request = request.header(header::CONTENT_TYPE, media_type);
                Body::from(bytes)
            }
            None => Body::empty(),
        };
        let request = request.body(body).map_err(unaskable)?;
        let Ok(response) = self.app.clone().oneshot(request).await;
        let problem = response.extensions().get::<ServerProblem>();
        let cause = problem.and_then(ServerProblem::cause).map(str::to_owned);
        let media_type = response.headers().get(header::CONTENT_TYPE);
        let media_type = media_type.and_then(|it| it.to_str().ok());
        Ok(Reply {
            status: response.status().as_u16(),
            media_type: media_type.unwrap_or_default().to_owned(),
            cause,
            body: to_bytes(response.into_body(), usize::MAX)
                .await
                .map_err(unaskable)?
                .to_vec(),
        })
    }
}

fn unaskable(error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("ask the API: {error}"))
}

async fn state(context: &CommandContext) -> Result<AppState> {
    let settings = &context.settings;
    let limits = Limits {
        payload_bytes: settings.limits.payload_bytes,
        // A limit for remote callers, who may be many.
        batch_items_max: usize::MAX,
        ..Limits::default()
    };
    Ok(AppState {
        rescheduler: Arc::new(context.rescheduler()),
        schedules: wiring::schedules(
            Arc::clone(&context.store),
            Arc::clone(&context.clock),
            context.reach.clone(),
            Reloadable::new(settings.event_delivery.subscriptions()),
        ),
        sources: Arc::new(context.sources().await?),
        publishers: Publishers {
            reach: wiring::push_reach(settings),
            ..Publishers::default()
        },
        opml: Arc::new(Lists(Arc::clone(&context.clock))),
        subscriptions: Reloadable::new(wiring::subscriptions(settings)),
        watching: None,
        editions: EditionSet::default(),
        public_editions: false,
        // A section that lacks a secret must not hide what is stored.
        newsletters: wiring::editions::newsletter::newsletters(
            settings,
            &context.store,
            (
                Arc::clone(&context.clock),
                wiring::sleeper(Arc::clone(&context.clock)),
            ),
        )
        .unwrap_or_default(),
        // A missing template must not hide what is stored.
        status_page: None,
        reader_pages: wiring::editions::reader_pages(settings).unwrap_or_default(),
        work: None,
        tick: Tick::default(),
        reporting: Reloadable::default(),
        store: Arc::clone(&context.store),
        changes: Arc::clone(&context.store),
        health: Arc::default(),
        leaving: CancellationToken::new(),
        speed: 1.0,
        sleeper: wiring::sleeper(Arc::clone(&context.clock)),
        clock: Arc::clone(&context.clock),
        entropy: wiring::entropy(),
        access: Access::Local(context.origin.clone()),
        page_hosts: Vec::new(),
        public_url: wiring::public_url(settings),
        trusted_proxies: Vec::new(),
        passwords: wiring::passwords(),
        limits,
        configuration: Reloadable::new(Vec::new()),
        metrics: PrometheusBuilder::new().build_recorder().handle(),
        about: wiring::about(settings),
        node: None,
        version: env!("CARGO_PKG_VERSION"),
    })
}
