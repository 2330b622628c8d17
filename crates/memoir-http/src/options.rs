//! How the server listens.

use std::{net::SocketAddr, path::PathBuf};

use memoir_runtime::Failure;

use crate::{guard::Origin, limits::Limits};

/// Files of a TLS certificate, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those that signed it.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How the server listens, and to whom.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port. Port 0 chooses a free one.
    pub listen: SocketAddr,
    /// Names under which the server is reached, in addition to those of this machine itself.
    pub hosts: Vec<String>,
    /// Pages that may call the server from a browser, such as `https://notes.example`.
    pub origins: Vec<String>,
    /// Certificate, if the server speaks TLS.
    pub tls: Option<TlsFiles>,
    /// Whether to listen to other machines without TLS.
    pub is_insecure: bool,
    /// Limits on what clients may use.
    pub limits: Limits,
}

impl ServeOptions {
    /// Returns the pages that may call the server.
    ///
    /// # Errors
    ///
    /// Fails if an origin is malformed, or if tokens would cross a network unencrypted.
    pub(crate) fn check(&self) -> Result<Vec<Origin>, Failure> {
        let is_local = self.listen.ip().is_loopback();
        if !is_local && self.tls.is_none() && !self.is_insecure {
            return Err(Failure::usage(format!(
                "{} can be reached by other machines, and tokens would cross the network unencrypted",
                self.listen
            ))
            .hint("Add `--tls-cert FILE --tls-key FILE`, or `--insecure` if something else encrypts the connection."));
        }
        self.origins.iter().map(|origin| Origin::parse(origin)).collect()
    }
}
