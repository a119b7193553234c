//! The outbound heartbeat over HTTP: one small request to a monitor that raises an alarm when none
//! arrives (healthchecks.io, Uptime Kuma and similar).

use std::time::Duration;

use almanack_core::alert::port::HeartbeatMonitor;
use async_trait::async_trait;
use reqwest::Method;

use crate::http::{Client, Limits, Request};

/// The body of the answer does not matter.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A monitor at an address, which is the secret.
pub struct HttpHeartbeat {
    client: Client,
    url: String,
    method: Method,
    timeout: Duration,
}

/// How the address is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// By GET: what every such service takes.
    Get,
    Post,
}

impl HttpHeartbeat {
    /// Beats at `url`.
    pub fn new(client: Client, url: String, ask: Ask, timeout: Duration) -> Self {
        let method = match ask {
            Ask::Get => Method::GET,
            Ask::Post => Method::POST,
        };
        Self {
            client,
            url,
            method,
            timeout,
        }
    }
}

#[async_trait]
impl HeartbeatMonitor for HttpHeartbeat {
    async fn beat(&self) -> Result<(), String> {
        let request = Request::new(self.method.clone(), &self.url)
            .limits(Limits::within(self.timeout, ANSWER_BYTES_MAX));
        match self.client.open(request).await {
            Ok(answer) if (200..300).contains(&answer.head.status) => Ok(()),
            Ok(answer) => Err(format!("HTTP {}", answer.head.status)),
            Err(error) => Err(error.to_string()),
        }
    }
}
