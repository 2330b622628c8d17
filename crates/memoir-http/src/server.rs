//! Accepts connections and answers them.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{Router, body::Body, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use memoir_runtime::{
    Failure, Runtime,
    view::{MemoryView, Reach},
};
use memoir_serve::{mcp::HttpSessions, proxy::Proxy};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::{
    browser::Browsers, events::Events, guard::Hosts, layers, monitoring::Metrics, options::ServeOptions,
    routes, state::AppState, tls,
};

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    state: Arc<AppState>,
}

impl Server {
    /// Begins to listen. Requests wait until the server [runs](Self::run). Adds a notice if a feature is unavailable.
    ///
    /// # Errors
    ///
    /// Fails if the options are invalid, or if the address cannot be used.
    pub async fn bind(
        runtime: &Runtime,
        options: &ServeOptions,
        notices: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let origins = options.check()?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let listener = TcpListener::bind(options.listen).await.map_err(|error| {
            Failure::failed(format!("could not listen on {}: {error}", options.listen))
                .hint("Another program may use this port. Choose one with `--listen ADDRESS:PORT`.")
        })?;
        let shutdown = CancellationToken::new();
        let state = Arc::new(AppState {
            runtime: runtime.clone(),
            view: MemoryView::new(runtime, Reach::All, notices).await?,
            hosts: Hosts::new(options.listen.ip(), &options.hosts),
            origins,
            scheme: if tls.is_some() { "https" } else { "http" },
            limits: options.limits,
            permits: Semaphore::new(options.limits.requests),
            metrics: Metrics::new(),
            sessions: HttpSessions::new(shutdown.clone()),
            proxy: Proxy::default(),
            events: Events::new(),
            browsers: Browsers::default(),
            shutdown,
        });
        let router = layers::add(routes::router(&state), &state);
        Ok(Self { listener, tls, router, state })
    }

    /// Returns the address of the server.
    ///
    /// # Errors
    ///
    /// Fails if the system does not know it.
    pub fn url(&self) -> Result<String, Failure> {
        let address = self.listener.local_addr()?;
        Ok(format!("{}://{address}", self.state.scheme))
    }

    /// Returns the address under which a browser on this machine reaches the server.
    ///
    /// # Errors
    ///
    /// Fails if the system does not know it.
    pub fn page_url(&self) -> Result<String, Failure> {
        let mut address = self.listener.local_addr()?;
        // A certificate is for a name.
        if let Some(name) = self.state.hosts.names().first() {
            return Ok(format!("{}://{name}:{}", self.state.scheme, address.port()));
        }
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        Ok(format!("{}://{address}", self.state.scheme))
    }

    /// Answers requests until `stop` is ready, then finishes those that have begun.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let connections = Arc::new(Semaphore::new(self.state.limits.connections));
        tokio::pin!(stop);
        loop {
            // Further clients wait in the queue of the system.
            let accept = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                accepted = accept => accepted,
                () = &mut stop => break,
            };
            match (permit, accepted) {
                (Ok(permit), Ok((stream, address))) => {
                    let connection = Connection {
                        address,
                        router: self.router.clone(),
                        state: Arc::clone(&self.state),
                        watcher: graceful.watcher(),
                        _permit: permit,
                    };
                    tokio::spawn(connection.open(stream, self.tls.clone()));
                }
                (_, Err(error)) => {
                    // Too many open files, for example. The connections that are open may end.
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
                (Err(error), _) => tracing::error!(%error, "no further connections are accepted"),
            }
        }
        drop(self.listener);
        self.state.shutdown.cancel();
        if tokio::time::timeout(self.state.limits.shutdown_time, graceful.shutdown()).await.is_err() {
            tracing::warn!("some answers were not finished when the server stopped");
        }
    }
}

/// A connection of a client.
struct Connection {
    address: SocketAddr,
    router: Router,
    state: Arc<AppState>,
    watcher: Watcher,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn open(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        let address = self.address;
        let Some(tls) = tls else { return self.answer(stream).await };
        match tokio::time::timeout(self.state.limits.header_time, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.answer(stream).await,
            Ok(Err(error)) => tracing::debug!(%error, %address, "a client did not speak TLS"),
            Err(_) => tracing::debug!(%address, "a client did not finish the handshake"),
        }
    }

    async fn answer(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { address, router, state, watcher, _permit } = self;
        let service = service_fn(move |request: Request<Incoming>| {
            let mut router = router.clone();
            async move { tower_service::Service::call(&mut router, request.map(Body::new)).await }
        });
        // A client that does not read what it asked for must not hold it for ever.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(state.limits.request_time));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(state.limits.header_time)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        state.metrics.connections.inc();
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, %address, "a connection failed");
        }
        state.metrics.connections.dec();
    }
}
