//! Arguments of `memoir serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Subcommand;
use memoir_core::Right;

use super::one_of;

/// Where the server listens unless the user chooses.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7373";

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = DEFAULT_ADDRESS)]
    pub(crate) listen: SocketAddr,
    /// Further name under which programs reach the server; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Site whose pages may call the server from a browser, such as https://notes.example; may be repeated
    #[arg(long, value_name = "URL")]
    pub(crate) allow_origin: Vec<String>,
    /// Certificate chain for TLS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key for TLS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen to other machines without TLS, for example behind a proxy that adds it
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Print a systemd user unit that starts the server with the other options, and exit
    #[arg(long)]
    pub(crate) print_unit: bool,
    /// Maximum size of a request in megabytes
    #[arg(long, value_name = "MB", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) max_size: u16,
    /// Maximum time until the answer to a request begins, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_time: u16,
    /// Maximum number of requests that are answered at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_requests: u16,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    /// Print the link instead of opening the browser
    #[arg(long)]
    pub(crate) print: bool,
    /// Address and port to listen on, if no server is running
    #[arg(long, value_name = "ADDRESS:PORT", default_value = DEFAULT_ADDRESS)]
    pub(crate) listen: SocketAddr,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Print the token for programs on this machine, or manage others
    Token {
        #[command(subcommand)]
        command: Option<TokenCommand>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is shown only once
    Add {
        /// Name, by which it is listed and revoked
        name: String,
        /// Project that it is limited to, as a path; may be repeated; without any, it covers everything
        #[arg(long, value_name = "PATH")]
        project: Vec<String>,
        /// What it allows, separated by commas
        #[arg(long, value_delimiter = ',', default_value = "read", value_parser = one_of(Right::ALL, Right::as_str))]
        rights: Vec<Right>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List all tokens and what they allow
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    Revoke {
        /// Name of the token
        name: String,
    },
}
