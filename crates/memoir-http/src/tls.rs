//! Certificates.

use std::{path::Path, sync::Arc};

use memoir_runtime::Failure;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

use crate::options::TlsFiles;

/// Returns what accepts TLS connections with a certificate.
///
/// # Errors
///
/// Fails if a file cannot be read, or if the key does not belong to the certificate.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Failure> {
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(&files.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unreadable(&files.key, &error))?;
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key).map_err(
        |error| {
            Failure::usage(format!(
                "{} and {} cannot be used: {error}",
                files.certificate.display(),
                files.key.display()
            ))
            .hint("Check that the key belongs to the certificate.")
        },
    )?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(path: &Path, error: &rustls::pki_types::pem::Error) -> Failure {
    Failure::usage(format!("could not read {}: {error}", path.display()))
        .hint("Give a file in PEM format that this user can read.")
}
