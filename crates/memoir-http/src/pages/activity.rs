//! How much was said, and what it cost: a calendar, charts and sums.

use axum::response::Response;
use jiff::civil::Date;
use maud::{Markup, html};
use memoir_core::{Clock as _, SystemClock, Usd};
use memoir_runtime::operations::{
    activity::{self, DayActivity},
    costs::{self, CostBreakdown, CostRequest},
};

use super::{
    chart::{Bar, bars, calendar},
    conversations::count,
    navigation::Section,
    text::plain,
    visitor::Visitor,
};
use crate::problem::Problem;

/// Number of days of the calendar: a year of whole weeks.
const CALENDAR_DAYS: u16 = 371;

/// Number of days of the charts.
const CHART_DAYS: usize = 90;

pub(super) async fn show(visitor: Visitor) -> Result<Response, Problem> {
    let (store, now) = (visitor.state.runtime.store().as_ref(), SystemClock.now());
    let days = activity::list_days(CALENDAR_DAYS, store, now, visitor.zone()).await?;
    let costs = costs::add_up(&CostRequest { conversation: None }, store, now, visitor.zone()).await?;
    let latest = &days[days.len().saturating_sub(CHART_DAYS)..];
    let content = html! {
        h1 { "Activity" }
        (calendar("Messages per day in the last year", &messages(&days), first_weekday(&days)))
        h2 { "The last " (CHART_DAYS) " days" }
        (bars("Messages per day", &messages(latest)))
        (bars("Tokens per day", &draw(latest, |day| (to_float(day.tokens), count(day.tokens, "token")))))
        (bars("Cost per day", &draw(latest, |day| (day.cost.as_dollars(), day.cost.to_string()))))
        (table(latest))
        h2 { "Costs" }
        p { "Today: " (costs.today.total.cost) ". In total: " (costs.all.total.cost) "." }
        (lines(&costs.all))
    };
    Ok(visitor.page(Section::Activity, "Activity", &content))
}

fn messages(days: &[DayActivity]) -> Vec<Bar> {
    draw(days, |day| (to_float(day.messages), count(day.messages, "message")))
}

fn draw(days: &[DayActivity], value: impl Fn(&DayActivity) -> (f64, String)) -> Vec<Bar> {
    let bar = |day: &DayActivity| {
        let (value, text) = value(day);
        Bar { label: day.date.clone(), value, text }
    };
    days.iter().map(bar).collect()
}

#[expect(clippy::cast_precision_loss, reason = "the chart is less exact")]
fn to_float(number: u64) -> f64 {
    number as f64
}

fn first_weekday(days: &[DayActivity]) -> usize {
    let date = days.first().and_then(|day| day.date.parse::<Date>().ok());
    date.map_or(0, |date| usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0))
}

/// Lists the days with any activity, newest first.
fn table(days: &[DayActivity]) -> Markup {
    let is_active = |day: &&DayActivity| day.messages > 0 || day.tokens > 0 || day.cost > Usd::ZERO;
    html! {
        details {
            summary { "Figures" }
            div.scroll tabindex="0" role="region" aria-label="Figures per day" {
                table {
                    thead { tr { th { "Day" } th { "Exchanges" } th { "Messages" } th { "Tokens" } th { "Cost" } } }
                    tbody {
                        @for day in days.iter().rev().filter(is_active) {
                            tr {
                                td { (day.date) } td { (day.exchanges) } td { (day.messages) }
                                td { (day.tokens) } td { (day.cost) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn lines(costs: &CostBreakdown) -> Markup {
    html! {
        @if !costs.lines.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Costs by purpose and model" {
                table {
                    thead { tr { th { "Purpose" } th { "Model" } th { "Calls" } th { "Tokens" } th { "Cost" } } }
                    tbody {
                        @for line in &costs.lines {
                            tr {
                                td { (line.purpose) } td { (plain(&line.model)) } td { (line.total.calls) }
                                td { (line.total.usage.input_tokens + line.total.usage.output_tokens) }
                                td { (line.total.cost) }
                            }
                        }
                    }
                }
            }
        }
    }
}
