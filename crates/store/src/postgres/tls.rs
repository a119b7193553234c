//! TLS to PostgreSQL: which certificates a node accepts.

use std::{path::PathBuf, sync::Arc};

use almanack_core::store::{Cause, Error, Result};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt;

/// What makes encrypted connections.
pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;

/// Whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AcceptedCertificates {
    /// Any: encryption keeps eavesdroppers out, not impostors.
    Any,
    /// Those issued by an authority that the machine trusts.
    System,
    /// Only those issued by an authority in this file.
    File(PathBuf),
}

/// Makes connections that accept these certificates.
pub(super) fn tls(trust: &AcceptedCertificates) -> Result<Tls> {
    let provider = Arc::new(ring::default_provider());
    let building = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let config = match trust {
        AcceptedCertificates::System => building
            .with_platform_verifier()
            .map_err(unusable)?
            .with_no_client_auth(),
        AcceptedCertificates::File(path) => building
            .with_root_certificates(roots(path)?)
            .with_no_client_auth(),
        AcceptedCertificates::Any => building
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Any(provider)))
            .with_no_client_auth(),
    };
    Ok(Tls::new(config))
}

fn roots(path: &std::path::Path) -> Result<RootCertStore> {
    let shown = path.display();
    let unread = |why: &dyn std::fmt::Display| unusable(format!("sslrootcert {shown}: {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unread(&error))? {
        let certificate = certificate.map_err(|error| unread(&error))?;
        roots.add(certificate).map_err(|error| unread(&error))?;
    }
    if roots.is_empty() {
        return Err(unread(&"it contains no certificate"));
    }
    Ok(roots)
}

fn unusable(why: impl Into<Cause>) -> Error {
    crate::unavailable("prepare TLS to PostgreSQL", why)
}

/// Believes every certificate, for `sslmode=prefer`. That the server has its key is checked all the
/// same.
#[derive(Debug)]
struct Any(Arc<CryptoProvider>);

impl ServerCertVerifier for Any {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
