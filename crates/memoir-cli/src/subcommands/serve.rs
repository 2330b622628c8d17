//! `memoir serve`: serves memory over HTTP, and manages the tokens that let programs in.

use std::{io::Write as _, path::Path, time::Duration};

use memoir_core::TokenScope;
use memoir_http::{Limits, ServeOptions, Server, TlsFiles};
use memoir_runtime::{
    Care, Failure, Runtime,
    home::Home,
    operations::{
        browser::{self, Announcement},
        tokens::{self, AddToken},
    },
};
use tokio::signal::unix::{SignalKind, signal};

use super::print_notices;
use crate::{
    args::{OpenArgs, ServeArgs, ServeCommand, TokenCommand},
    render::{self, print, print_raw, print_report},
};

pub(super) async fn run(
    arguments: ServeArgs,
    command: Option<ServeCommand>,
    runtime: &Runtime,
) -> Result<(), Failure> {
    match command {
        Some(ServeCommand::Token { command }) => manage_tokens(command, runtime).await,
        None => serve(&options(arguments), runtime, |_| Ok(())).await,
    }
}

/// Opens the page of the running server, or starts one first.
pub(super) async fn open(arguments: &OpenArgs, runtime: &Runtime) -> Result<(), Failure> {
    let home = runtime.home();
    if let Some(url) = browser::find_server(home)? {
        return open_page(&url, arguments.print, home);
    }
    let options = ServeOptions {
        listen: arguments.listen,
        hosts: Vec::new(),
        origins: Vec::new(),
        tls: None,
        is_insecure: false,
        limits: Limits::default(),
    };
    serve(&options, runtime, |url| open_page(url, arguments.print, home)).await
}

/// Opens the page with a link that logs the user in.
fn open_page(url: &str, only_prints: bool, home: &Home) -> Result<(), Failure> {
    let link = format!("{url}/login?code={}", browser::issue_code(home)?);
    if only_prints {
        print(&link)?;
        return Ok(std::io::stdout().flush()?);
    }
    match open::that_detached(&link) {
        Ok(()) => print(&format!("Opening {url} in your browser.")),
        Err(error) => {
            note!("Could not open a browser: {error}. Open this link, which works once, within two minutes:");
            print(&link)
        }
    }
}

/// Returns the arguments with which a unit starts the server. It has another working directory, so paths are absolute.
///
/// # Errors
///
/// Fails if the working directory is unknown.
pub(super) fn unit_arguments(options: &ServeArgs) -> Result<Vec<String>, Failure> {
    let mut arguments = vec!["--listen".to_owned(), options.listen.to_string()];
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    options.host.iter().for_each(|host| add("--host", host.clone()));
    options.allow_origin.iter().for_each(|origin| add("--allow-origin", origin.clone()));
    for (name, path) in [("--tls-cert", &options.tls_cert), ("--tls-key", &options.tls_key)] {
        if let Some(path) = path {
            add(name, std::path::absolute(path)?.display().to_string());
        }
    }
    add("--max-size", options.max_size.to_string());
    add("--max-time", options.max_time.to_string());
    add("--max-requests", options.max_requests.to_string());
    if options.insecure {
        arguments.push("--insecure".to_owned());
    }
    Ok(arguments)
}

/// Serves until the user or the system stops it. Calls `announce` with the address of the page before.
async fn serve(
    options: &ServeOptions,
    runtime: &Runtime,
    announce: impl FnOnce(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut notices = Vec::new();
    let server = Server::bind(runtime, options, &mut notices).await?;
    print_notices(&notices);
    tokens::local_secret(runtime.store().as_ref(), runtime.home()).await?;
    print(&format!("Memoir is serving at {}. Press Ctrl-C to stop.", server.url()?))?;
    // A program that starts the server waits for this line.
    std::io::stdout().flush()?;
    let page = server.page_url()?;
    // `memoir open` finds the server by this.
    let _announcement = Announcement::publish(&page, runtime.home())?;
    announce(&page)?;
    note!("Programs need a token: `memoir serve token` prints the one for this machine.");
    let mut care = Care::new(runtime.clone());
    care.start();
    let mut terminate = signal(SignalKind::terminate())?;
    server
        .run(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            note!("Finishing answers that have begun. Press Ctrl-C again to stop at once.");
            tokio::spawn(async {
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(130);
                }
            });
        })
        .await;
    care.stop().await;
    Ok(())
}

fn options(arguments: ServeArgs) -> ServeOptions {
    let tls = arguments.tls_cert.zip(arguments.tls_key);
    let request_time = Duration::from_secs(arguments.max_time.into());
    let limits = Limits::default();
    ServeOptions {
        listen: arguments.listen,
        hosts: arguments.host,
        origins: arguments.allow_origin,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        is_insecure: arguments.insecure,
        limits: Limits {
            body_bytes: usize::from(arguments.max_size) << 20,
            request_time,
            header_time: limits.header_time.min(request_time),
            requests: arguments.max_requests.into(),
            ..limits
        },
    }
}

async fn manage_tokens(command: Option<TokenCommand>, runtime: &Runtime) -> Result<(), Failure> {
    let store = runtime.store().as_ref();
    match command {
        None => print_raw(&tokens::local_secret(store, runtime.home()).await?),
        Some(TokenCommand::Add { name, project, rights, json }) => {
            let projects: Result<Vec<String>, Failure> =
                project.iter().map(|path| project_at(path, runtime)).collect();
            let projects = projects?;
            let scope = if projects.is_empty() { TokenScope::All } else { TokenScope::Projects(projects) };
            let issued = tokens::add(&AddToken { name, scope, rights }, store).await?;
            if !json {
                note!("This is the only time that the token is shown:");
            }
            print_report(&issued, json, |issued| issued.secret.clone())
        }
        Some(TokenCommand::List { json }) => {
            print_report(&tokens::list(store).await?, json, render::tokens::list)
        }
        Some(TokenCommand::Revoke { name }) => {
            tokens::revoke(&name, store, runtime.home()).await?;
            print(&format!("Revoked the token {name}. Servers refuse it from now on."))
        }
    }
}

/// Returns the project that contains a directory of this machine. Any other path is that of a project elsewhere.
fn project_at(path: &str, runtime: &Runtime) -> Result<String, Failure> {
    match Path::new(path).canonicalize() {
        Ok(directory) => Ok(runtime.find_scope(&directory)),
        Err(_) if Path::new(path).is_absolute() => Ok(path.to_owned()),
        Err(error) => Err(Failure::usage(format!("could not find the project {path}: {error}"))
            .hint("Give the whole path of a project on another machine.")),
    }
}
