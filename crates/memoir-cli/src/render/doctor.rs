//! Formats the report of `memoir doctor`.

use memoir_runtime::{
    operations::doctor::{CheckState, DoctorReport},
    printable,
};

/// Returns one line per check, followed by a line of advice if there is any.
pub(crate) fn report(report: &DoctorReport) -> String {
    let mut lines = Vec::new();
    for finding in &report.findings {
        let mark = match finding.state {
            CheckState::Good => "ok  ",
            CheckState::Note => "note",
            CheckState::Bad => "BAD ",
        };
        lines.push(format!("{mark}  {:<12} {}", finding.name, printable(&finding.detail)));
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
    fn advice_follows_its_finding() {
        let mut doctor = DoctorReport::default();
        doctor.add_good("disk", "1.00 GiB free");
        doctor.add_bad("server", "does not respond", "Start it.");
        let expected = "ok    disk         1.00 GiB free\nBAD   server       does not respond\n                   Start it.";
        assert_eq!(report(&doctor), expected);
    }
}
