//! NATS servers for tests: the open one that the test command starts, and private ones that ask who
//! comes.

mod credentials;
mod server;

use async_nats::{
    Client,
    jetstream::{self, stream},
};

pub use self::{
    credentials::Operator,
    server::{Access, Server},
};

/// Where the server of the test command is.
pub fn server_url() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test command says where it started the server"
    )]
    std::env::var("ALMANACK_TEST_NATS_URL").expect(
        "ALMANACK_TEST_NATS_URL is not set: run `dev/check`, or `export ALMANACK_TEST_NATS_URL=$(dev/nats start)` once",
    )
}

/// Makes a stream that keeps `NAME.>`, without what an earlier run left there and among its dead
/// letters.
pub async fn new_stream(client: Client, name: &str) -> jetstream::Context {
    let context = jetstream::new(client);
    for left_behind in [name.to_owned(), format!("{name}-dead-letter")] {
        let _ = context.delete_stream(left_behind).await;
    }
    let config = stream::Config {
        name: name.to_owned(),
        subjects: vec![format!("{name}.>")],
        ..stream::Config::default()
    };
    context.create_stream(config).await.unwrap();
    context
}
