//! Charts as SVG, each with its figures as text for those who cannot see it.

use maud::{Markup, html};

/// A value with its label, such as a day, and the text that shows it.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) text: String,
}

/// Height of a chart in its own units.
const HEIGHT: f64 = 60.0;

/// Width of a bar with the gap to the next.
const STEP: f64 = 8.0;

/// Size of a day of a calendar with the gap to the next.
const CELL: usize = 12;

/// Draws values as bars.
pub(super) fn bars(title: &str, bars: &[Bar]) -> Markup {
    let maximum = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred at most")]
    let width = bars.len() as f64 * STEP;
    let height = |bar: &Bar| if maximum > 0.0 { (bar.value / maximum * HEIGHT).max(0.0) } else { 0.0 };
    let highest = bars.iter().find(|bar| bar.value >= maximum && maximum > 0.0);
    html! {
        figure {
            figcaption {
                (title)
                @match highest {
                    Some(bar) => { ", at most " (bar.text) " on " (bar.label) }
                    None => { ": none" }
                }
            }
            @if highest.is_some() {
                svg.bars viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(title) {
                    @for (index, bar) in bars.iter().enumerate() {
                        @if bar.value > 0.0 {
                            rect x=(format!("{:.0}", index_to_x(index))) y=(format!("{:.1}", HEIGHT - height(bar)))
                                width=(STEP - 2.0) height=(format!("{:.1}", height(bar))) {
                                title { (bar.label) ": " (bar.text) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are a few hundred at most")]
fn index_to_x(index: usize) -> f64 {
    index as f64 * STEP
}

/// Draws values as a calendar: a column per week, from Monday to Sunday. `first_weekday` is that of the first value, with 0
/// for Monday.
pub(super) fn calendar(title: &str, days: &[Bar], first_weekday: usize) -> Markup {
    let maximum = days.iter().map(|day| day.value).fold(0.0, f64::max);
    let weeks = (days.len() + first_weekday).div_ceil(7);
    html! {
        figure {
            figcaption { (title) }
            svg.calendar viewBox={ "0 0 " (weeks * CELL) " " (7 * CELL) } role="img" aria-label=(title) {
                @for (index, day) in days.iter().enumerate() {
                    @let position = index + first_weekday;
                    rect.{ "level" (level(day.value, maximum)) } x=(position / 7 * CELL) y=(position % 7 * CELL)
                        width=(CELL - 2) height=(CELL - 2) rx="2" {
                        title { (day.label) ": " (day.text) }
                    }
                }
            }
        }
    }
}

/// Returns how dark a day is: 0 to 4.
fn level(value: f64, maximum: f64) -> u8 {
    match value / maximum {
        share if share > 0.6 => 4,
        share if share > 0.3 => 3,
        share if share > 0.1 => 2,
        share if share > 0.0 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64) -> Bar {
        Bar { label: "2026-05-01".into(), value, text: format!("{value} messages") }
    }

    #[test]
    fn the_highest_bar_fills_the_chart_and_nothing_divides_by_zero() {
        let drawn = bars("Messages", &[bar(5.0), bar(0.0), bar(10.0)]).into_string();
        assert!(drawn.contains("height=\"60.0\"") && drawn.contains("height=\"30.0\""), "{drawn}");
        assert_eq!(drawn.matches("<rect").count(), 2);
        assert!(!bars("None", &[bar(0.0)]).into_string().contains("NaN"));
        assert!(calendar("None", &[bar(0.0)], 6).into_string().contains("level0"));
        assert_eq!((level(10.0, 10.0), level(0.5, 10.0)), (4, 1));
    }
}
