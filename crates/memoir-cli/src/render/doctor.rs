//! The results of the doctor's checks as text.

use memoir_runtime::{
    operations::doctor::{CheckState, DoctorReport},
    printable,
};

/// Returns a line for each check, and a second one with what to do.
pub(crate) fn report(report: &DoctorReport) -> String {
    let mut lines = Vec::new();
    for finding in &report.findings {
        let mark = match finding.state {
            CheckState::Good => "ok  ",
            CheckState::Note => "note",
            CheckState::Bad => "BAD ",
        };
        lines.push(format!("{mark}  {:<12} {}", finding.what, printable(&finding.said)));
        if let Some(advice) = &finding.advice {
            lines.push(format!("                   {}", printable(advice)));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_stands_below_what_it_is_about() {
        let mut doctor = DoctorReport::default();
        doctor.add_good("disk", "1.00 GiB free");
        doctor.add_bad("server", "nobody listens", "Start it.");
        let expected = "ok    disk         1.00 GiB free\nBAD   server       nobody listens\n                   Start it.";
        assert_eq!(report(&doctor), expected);
    }
}
