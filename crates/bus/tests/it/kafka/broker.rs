//! The broker of one test: librdkafka's mock cluster, or a program where the test command names
//! one.
//!
//! The mock comes with the client that is being tested, and shares its understanding of the
//! protocol. A program of another make does not: `dev/kafka` builds one and runs on it whatever
//! does not need a broker that fails on command.

use std::{
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    mocking::MockCluster,
    producer::DefaultProducerContext,
    types::RDKafkaErrorCode,
};

/// Names the program. It is called with the address to listen at, and must forget everything when
/// it ends.
const PROGRAM: &str = "ALMANACK_TEST_KAFKA_PROGRAM";

pub(super) enum Broker {
    Mock(MockCluster<'static, DefaultProducerContext>),
    Program(Program),
}

impl Broker {
    /// With these topics, each with so many partitions.
    pub(super) fn start(topics: &[(&str, i32)]) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test command says which broker"
        )]
        let program = std::env::var_os(PROGRAM);
        if let Some(program) = program {
            let program = Program::start(Command::new(program));
            program.create(topics);
            return Self::Program(program);
        }
        let mock = MockCluster::new(1).unwrap();
        for (name, partitions) in topics {
            mock.create_topic(name, *partitions, 1).unwrap();
        }
        Self::Mock(mock)
    }

    pub(super) fn address(&self) -> String {
        match self {
            Self::Mock(mock) => mock.bootstrap_servers(),
            Self::Program(program) => program.address.to_string(),
        }
    }

    /// The one that fails on command.
    pub(super) fn mock(&self) -> &MockCluster<'static, DefaultProducerContext> {
        match self {
            Self::Mock(mock) => mock,
            Self::Program(_) => panic!("only the mock cluster fails on command: unset {PROGRAM}"),
        }
    }
}

/// A process; gone with its test.
pub(super) struct Program {
    child: Child,
    address: SocketAddr,
}

impl Program {
    fn start(mut command: Command) -> Self {
        let drawn = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = drawn.local_addr().unwrap();
        drop(drawn);
        command.arg(address.to_string());
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        Self { child, address }
    }

    /// The client waits for the program to listen.
    fn create(&self, topics: &[(&str, i32)]) {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.address.to_string());
        let admin: AdminClient<DefaultClientContext> = config.create().unwrap();
        let topics: Vec<NewTopic<'_>> = topics
            .iter()
            .map(|(name, partitions)| NewTopic::new(name, *partitions, TopicReplication::Fixed(1)))
            .collect();
        let wait_backoff = AdminOptions::new().request_timeout(Some(Duration::from_secs(30)));
        let creating = admin.create_topics(&topics, &wait_backoff);
        let runtime = tokio::runtime::Handle::current();
        let made = tokio::task::block_in_place(|| runtime.block_on(creating)).unwrap();
        let failed = made.into_iter().filter_map(Result::err);
        let failed: Vec<(String, RDKafkaErrorCode)> = failed.collect();
        assert_eq!(failed, []);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
