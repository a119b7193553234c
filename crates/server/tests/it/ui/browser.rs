//! A browser, as far as pages notice: it keeps cookies, names the host it asks and the origin of
//! what it sends.

use std::{collections::BTreeMap, net::SocketAddr};

use axum::{
    extract::ConnectInfo,
    http::{Method, header::SET_COOKIE},
};

use crate::harness::{Answer, World, send, with};

pub(crate) struct Browser<'a> {
    world: &'a World,
    pub(crate) address: [u8; 4],
    /// Whom it talks to.
    pub(crate) host: &'static str,
    /// The page that makes it send forms.
    pub(crate) origin: &'static str,
    pub(crate) jar: BTreeMap<String, String>,
    /// Whether the page it shows lets it send the origin of a form.
    reports_origin: bool,
    /// Whether it keeps cookies that want HTTPS.
    pub(crate) secure: bool,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self {
            world,
            address: [127, 0, 0, 1],
            host: "localhost:8080",
            origin: "http://localhost:8080",
            reports_origin: true,
            jar: BTreeMap::new(),
            secure: true,
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(Method::GET, path, "").await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.ask(Method::POST, path, &body).await
    }

    /// Opens a page, and sends a form that stands on it.
    pub(crate) async fn fill(
        &mut self,
        page: &str,
        action: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let key = form_key(&self.get(page).await);
        let fields = [&[("form_key", key.as_str())], fields].concat();
        self.post(action, &fields).await
    }

    /// Follows redirects to the end.
    pub(crate) async fn follow(&mut self, mut answer: Answer) -> Answer {
        for _ in 0..5 {
            if answer.status != 303 {
                return answer;
            }
            let to = answer.header("location").unwrap().to_owned();
            answer = self.get(&to).await;
        }
        panic!("led around in circles")
    }

    async fn ask(&mut self, method: Method, path: &str, body: &str) -> Answer {
        let cookies: Vec<String> = self.jar.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = vec![("cookie", cookies.as_str())];
        if method == Method::POST {
            let origin = if self.reports_origin {
                self.origin
            } else {
                "null"
            };
            headers.push(("origin", origin));
            headers.push(("content-type", "application/x-www-form-urlencoded"));
        }
        let mut request = with(method, path, body, &headers);
        let host = self.host.parse().unwrap();
        request.headers_mut().insert("host", host);
        let peer = ConnectInfo(SocketAddr::from((self.address, 4_711)));
        request.extensions_mut().insert(peer);
        let answer = send(&self.world.app, request).await;
        self.reports_origin = answer.header("referrer-policy") != Some("no-referrer");
        for line in answer.headers.get_all(SET_COOKIE) {
            self.keep(line.to_str().unwrap());
        }
        answer
    }

    fn keep(&mut self, line: &str) {
        let (pair, attributes) = line.split_once(';').unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        if attributes.contains("Secure") && !self.secure {
            return;
        }
        if attributes.contains("Max-Age=0") {
            self.jar.remove(name);
        } else {
            self.jar.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// The key that forms of this page carry.
pub(crate) fn form_key(page: &Answer) -> String {
    let marked = "name=\"form_key\" value=\"";
    let found = page.body.split_once(marked).map(|(_, rest)| rest);
    let key = found.and_then(|rest| rest.split('"').next());
    key.unwrap_or_else(|| panic!("{} has no form: {}", page.status, page.body))
        .to_owned()
}
