//! Opens a home directory, asks a question, and prints the answer with its sources:
//! `cargo run -p memoir-runtime --example ask -- HOME QUESTION`
#![expect(clippy::print_stdout, reason = "a command-line program")]

use std::path::Path;

use memoir_runtime::{
    Runtime, RuntimeOptions, SessionOptions, environment::Environment, failure::Failure, home::Home,
};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [home, question] => {
            println!("{}", ask(home.as_ref(), Environment::new(std::env::vars_os()), question).await?);
        }
        _ => println!("Usage: ask HOME QUESTION"),
    }
    Ok(())
}

/// Returns the answer, followed by one line per recalled passage.
pub(crate) async fn ask(home: &Path, environment: Environment, question: &str) -> Result<String, Failure> {
    let runtime = Runtime::open(RuntimeOptions::new(Home::in_directory(home), environment, home)).await?;
    let mut session = runtime.session(SessionOptions::default()).await?;
    let report = session.turn(question, &mut |_| {}, &CancellationToken::new()).await?;
    let mut answer = report.text;
    for passage in &report.recalled.passages {
        let time = passage.created.format_minute(runtime.zone());
        answer.push_str(&format!("\n[conversation {}, {time}]", passage.conversation_id));
    }
    session.close().await;
    runtime.close().await;
    Ok(answer)
}
