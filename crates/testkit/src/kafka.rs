//! A proxy before a Kafka broker: it encrypts, and authenticates its clients.
//!
//! librdkafka's mock cluster speaks neither TLS nor SASL. The front speaks both for it: it ends
//! TLS, answers the requests by which a client signs in itself, and passes everything else on.
//! Brokers return their addresses to clients, so what comes back has the broker's address
//! replaced by the front's wherever it occurs.
//!
//! INVARIANT: nothing but questions about versions reaches the broker from a client that has not
//! signed in.

mod frame;
mod sasl;

use std::{
    collections::BTreeSet,
    io::{self, Error, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{NoClientAuth, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

use self::{
    frame::{Request, offer_sasl, read_frame, replace},
    sasl::{Examination, Step},
};
use crate::authority::{Authority, Clients};

pub use sasl::{Login, Mechanism};

/// The name that the front's certificate is made out to.
const NAME: &str = "localhost";
/// What a mock broker has its clients call it. As long as [`NAME`], so that one can be where the
/// other was.
const BROKER: &str = "127.0.0.1";

const SASL_HANDSHAKE: i16 = 17;
const API_VERSIONS: i16 = 18;
const SASL_AUTHENTICATE: i16 = 36;

/// A front that is open. It closes when it goes.
pub struct Front {
    port: u16,
    hall: Arc<Hall>,
    serving: JoinHandle<()>,
}

/// What all connections share.
struct Hall {
    tls: TlsAcceptor,
    broker: SocketAddr,
    /// A broker's address, and its replacement.
    readdressed: (Vec<u8>, Vec<u8>),
    login: Mutex<Login>,
    came: AtomicUsize,
    admitted: AtomicUsize,
}

impl Front {
    /// Opens before the broker at `127.0.0.1:PORT`.
    pub async fn open(broker: &str, authority: &Authority, clients: Clients, login: Login) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let broker: SocketAddr = broker.parse().expect("one broker, by number");
        let hall = Arc::new(Hall {
            tls: TlsAcceptor::from(Arc::new(server_side(authority, clients))),
            broker,
            readdressed: (address(BROKER, broker.port()), address(NAME, port)),
            login: Mutex::new(login),
            came: AtomicUsize::new(0),
            admitted: AtomicUsize::new(0),
        });
        let serving = tokio::spawn(serve(listener, Arc::clone(&hall)));
        Self {
            port,
            hall,
            serving,
        }
    }

    /// Where it is, by the name in its certificate.
    pub fn by_name(&self) -> String {
        format!("{NAME}:{}", self.port)
    }

    /// Where it is, by a name that its certificate does not have.
    pub fn by_number(&self) -> String {
        format!("{BROKER}:{}", self.port)
    }

    /// From now on this is how to sign in.
    pub fn set_login(&self, login: Login) {
        *self.hall.login.lock().unwrap() = login;
    }

    /// How many connections there were.
    pub fn came(&self) -> usize {
        self.hall.came.load(Ordering::SeqCst)
    }

    /// How many of them signed in.
    pub fn admitted(&self) -> usize {
        self.hall.admitted.load(Ordering::SeqCst)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn server_side(authority: &Authority, clients: Clients) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ClientCertVerifier> = match clients {
        Clients::Any => Arc::new(NoClientAuth),
        Clients::Vouched => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate(&authority.certificate())).unwrap();
            let roots = Arc::new(roots);
            let verifier =
                WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
            verifier.build().unwrap()
        }
    };
    let identity = authority.vouch(NAME);
    let key = PrivateKeyDer::from_pem_file(identity.key).unwrap();
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(verifier);
    let chain = vec![certificate(&identity.certificate)];
    config.with_single_cert(chain, key).unwrap()
}

fn certificate(file: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file).unwrap()
}

/// A host and a port next to each other in every answer that names a broker.
fn address(host: &str, port: u16) -> Vec<u8> {
    [host.as_bytes(), &u32::from(port).to_be_bytes()].concat()
}

async fn serve(listener: TcpListener, hall: Arc<Hall>) {
    let mut open = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        hall.came.fetch_add(1, Ordering::SeqCst);
        let hall = Arc::clone(&hall);
        // How a connection ends is seen on its other side.
        open.spawn(async move { connection(stream, &hall).await.is_ok() });
    }
}

/// One connection, until either side ends it.
async fn connection(stream: TcpStream, hall: &Hall) -> io::Result<()> {
    let stream = hall.tls.accept(stream).await?;
    let (from_client, to_client) = tokio::io::split(stream);
    let broker = TcpStream::connect(hall.broker).await?;
    let (from_broker, to_broker) = broker.into_split();
    let (answers, queue) = unbounded_channel();
    let line = Line {
        hall,
        answers,
        about_versions: Mutex::default(),
    };
    tokio::select! {
        ended = line.requests(from_client, to_broker) => ended,
        ended = line.responses(from_broker) => ended,
        ended = write(queue, to_client) => ended,
    }
}

struct Line<'a> {
    hall: &'a Hall,
    answers: UnboundedSender<Vec<u8>>,
    /// Requests whose answers say what can be asked; ours has to be added.
    about_versions: Mutex<BTreeSet<i32>>,
}

impl Line<'_> {
    async fn requests(
        &self,
        mut client: impl AsyncRead + Unpin,
        mut broker: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let login = self.hall.login.lock().unwrap().clone();
        let mut examination = Examination::new(login);
        loop {
            let frame = read_frame(&mut client).await?;
            let mut request = Request::read(&frame)?;
            match request.api {
                API_VERSIONS => drop(self.about_versions.lock().unwrap().insert(request.number)),
                SASL_HANDSHAKE => {
                    let answer = examination.choose(request.text()?);
                    self.answer(&request, &answer)?;
                    continue;
                }
                SASL_AUTHENTICATE => {
                    let step = examination.hear(request.bytes()?);
                    self.answer(&request, &step.response(request.version))?;
                    if matches!(step, Step::Admitted(_)) {
                        self.hall.admitted.fetch_add(1, Ordering::SeqCst);
                    }
                    continue;
                }
                _ if examination.is_passed() => {}
                _ => return Err(Error::new(ErrorKind::PermissionDenied, "sign in first")),
            }
            broker.write_all(&frame::framed(&frame)).await?;
        }
    }

    async fn responses(&self, mut broker: impl AsyncRead + Unpin) -> io::Result<()> {
        loop {
            let mut response = read_frame(&mut broker).await?;
            let number = frame::number(&response)?;
            if self.about_versions.lock().unwrap().remove(&number) {
                offer_sasl(&mut response, &[SASL_HANDSHAKE, SASL_AUTHENTICATE])?;
            }
            let (broker, front) = &self.hall.readdressed;
            replace(&mut response, broker, front);
            self.send(response)?;
        }
    }

    fn answer(&self, request: &Request<'_>, body: &[u8]) -> io::Result<()> {
        self.send([&request.number.to_be_bytes(), body].concat())
    }

    fn send(&self, response: Vec<u8>) -> io::Result<()> {
        let gone = |_| Error::from(ErrorKind::BrokenPipe);
        self.answers.send(response).map_err(gone)
    }
}

/// Both the front and the broker answer; one writes.
async fn write(
    mut queue: UnboundedReceiver<Vec<u8>>,
    mut client: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(response) = queue.recv().await {
        client.write_all(&frame::framed(&response)).await?;
        client.flush().await?;
    }
    Ok(())
}
