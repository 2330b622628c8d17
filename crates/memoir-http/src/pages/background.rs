//! Work in the background: workers, scheduled tasks and their reports.

use axum::response::Response;
use maud::{Markup, html};
use memoir_core::{Run, Task};
use memoir_runtime::{
    Failure,
    operations::{
        tasks,
        workers::{self, QueueReport},
    },
};

use super::{conversations::count, markdown, navigation::Section, text::plain, visitor::Visitor};
use crate::problem::Problem;

/// Number of reports that are shown.
const MAX_RUNS: u32 = 20;

pub(super) async fn show(visitor: Visitor) -> Result<Response, Problem> {
    let runtime = &visitor.state.runtime;
    let queues = workers::list_queues(runtime).await?;
    let tasks = tasks::list(runtime.store().as_ref()).await?;
    let runs = runtime.store().runs(None, MAX_RUNS).await.map_err(Failure::from)?;
    let content = html! {
        h1 { "Background" }
        h2 { "Workers" }
        (show_queues(&queues))
        h2 { "Schedules" }
        (show_tasks(&visitor, &tasks.tasks))
        h2 { "Inbox" }
        @if runs.is_empty() { p { "There are no reports." } }
        @for run in &runs { (show_run(&visitor, run)) }
    };
    Ok(visitor.page(Section::Background, "Background", &content))
}

fn show_queues(report: &QueueReport) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Workers" {
            table {
                thead { tr { th { "Worker" } th { "State" } th { "Waiting" } } }
                tbody {
                    @for queue in &report.queues {
                        tr {
                            td { (queue.worker.as_str()) }
                            td { @if queue.is_on { "on" } @else { "off" } }
                            td { (count(queue.pending, "job")) }
                        }
                    }
                }
            }
        }
        p { "Spent today: " (report.spent_today) "." }
        @if report.failed > 0 {
            p.problem { (count(report.failed, "job")) " failed for good. The latest:" }
            ul {
                @for job in &report.failures {
                    li { (job.worker.as_str()) ": " (plain(job.last_error.as_deref().unwrap_or("unknown error"))) }
                }
            }
            p { code { "/worker retry" } " in a session tries them again." }
        }
    }
}

fn show_tasks(visitor: &Visitor, tasks: &[Task]) -> Markup {
    html! {
        @if tasks.is_empty() { p { "There are no tasks. " code { "memoir schedule add" } " adds one." } }
        ol.items {
            @for task in tasks {
                li.line data-item {
                    strong { (plain(&task.definition.name)) }
                    p.meta {
                        @match (task.paused, task.next_due) {
                            (true, _) => { "paused" }
                            (false, Some(due)) => { "due " (visitor.time(due)) }
                            (false, None) => { "done" }
                        }
                        " · " (plain(&task.definition.scope))
                    }
                    p.excerpt dir="auto" { (plain(&task.definition.prompt)) }
                }
            }
        }
    }
}

fn show_run(visitor: &Visitor, run: &Run) -> Markup {
    html! {
        details.card open[!run.is_read] data-item {
            summary {
                (plain(&run.task)) " · " (visitor.time(run.started)) " · " (run.outcome.state.as_str())
                @if !run.is_read { " · new" }
            }
            @if let Some(error) = &run.outcome.error { p.problem { (plain(error)) } }
            (markdown::render(&run.outcome.report))
        }
    }
}
