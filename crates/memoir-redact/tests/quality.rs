//! Redaction finds secrets and leaves other text alone.

#[path = "../eval/mod.rs"]
mod eval;

#[test]
fn precision_and_recall_reach_their_bars() {
    let mut mistakes = Vec::new();
    let halves =
        eval::measure(|mistake, text, value| mistakes.push(format!("{mistake}: {} | {value}", text.note)));
    let sum = |count: fn(&eval::Figures) -> usize| halves.values().map(count).sum::<usize>();
    let all = eval::Figures {
        secrets: sum(|figures| figures.secrets),
        found: sum(|figures| figures.found),
        findings: sum(|figures| figures.findings),
        right: sum(|figures| figures.right),
        harmless: sum(|figures| figures.harmless),
        unchanged: sum(|figures| figures.unchanged),
    };
    assert_eq!(all.harmless, 150);
    assert!(
        all.precision() >= 99.0 && all.unchanged == all.harmless,
        "{:.1} %\n{}",
        all.precision(),
        mistakes.join("\n")
    );
    assert!(all.recall() >= 95.0, "{:.1} %\n{}", all.recall(), mistakes.join("\n"));
}

#[test]
fn a_redacted_text_contains_no_secrets() {
    for text in eval::texts() {
        let (original, _) = text.assemble();
        let once = memoir_redact::redact(&original).text.into_owned();
        assert_eq!(memoir_redact::redact(&once).text, once, "{}", text.note);
    }
}
