//! Documents are added, recalled into prompts, and deleted without a trace.

use std::{fs, path::PathBuf};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, wait_until};
use serde_json::{Value, json};

use crate::home;

const GREENHOUSE: &str = "---\ntitle: The greenhouse\ndate: 2025-04-12\ntags: [garden, building]\n---\n\
    # The greenhouse\n\nThe greenhouse behind the shed has a vent that opens at twenty-six degrees; the wax cylinder was \
    replaced by the Marquardt brothers.\n\n\
    ## Watering\n\nThe rain barrel holds three hundred litres, which lasts the tomatoes nine days in July.\n";

fn write(home: &TestHome, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = home.workspace().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn docs<'a>(home: &TestHome, arguments: impl IntoIterator<Item = &'a str>) -> String {
    home.memoir(["docs"].into_iter().chain(arguments)).succeed()
}

#[test]
fn document_passages_are_recalled_with_their_source() {
    let home = home();
    write(&home, "greenhouse.md", GREENHOUSE);
    let output = docs(&home, ["add", "greenhouse.md"]);
    assert_eq!(output, "Added the-greenhouse (1 chunk)\n");
    let provider = ScriptedProvider::always(Reply::text("The Marquardt brothers."));
    home.memoir(["-p", "Who changed the wax cylinder of our greenhouse vent?"]).provider(&provider).succeed();
    let sent = provider.requests()[0].messages().pop().unwrap().1;
    assert!(sent.contains("## Related Documents\n"), "{sent}");
    assert!(
        sent.contains(
            "### \"The greenhouse\" (Document: the-greenhouse, Date: 2025-04-12, Tags: garden, building,"
        ) && sent.contains("the wax cylinder was replaced by the Marquardt brothers"),
        "{sent}"
    );
    assert!(!sent.contains("title: The greenhouse"), "front matter is not quoted");
    assert_eq!(home.count("recall_log"), 1, "recalled passages are logged");
    // By meaning alone: only function words are shared.
    home.memoir(["-p", "How long does the water supply for my plants last in summer?"])
        .provider(&provider)
        .succeed();
    let sent = provider.requests()[1].messages().pop().unwrap().1;
    assert!(sent.contains("The rain barrel holds three hundred litres"), "{sent}");
    // An unrelated prompt recalls nothing.
    home.memoir(["-p", "Please translate \"good night\" into Finnish."]).provider(&provider).succeed();
    let sent = provider.requests()[2].messages().pop().unwrap().1;
    assert!(!sent.contains("Related Documents"), "{sent}");
}

#[test]
fn documents_are_quoted_without_a_model() {
    let home = home();
    write(&home, "greenhouse.md", GREENHOUSE);
    docs(&home, ["add", "greenhouse.md"]);
    let answer =
        home.memoir(["-p", "What do I know about the rain barrel?", "--model", "memoir/recall"]).succeed();
    assert!(answer.contains("2025-04-12, \"The greenhouse\" (document the-greenhouse):"), "{answer}");
    assert!(answer.contains("three hundred litres"), "{answer}");
    let results = home.memoir(["search", "rain barrel", "--json"]).succeed();
    let results: Value = serde_json::from_str(&results).unwrap();
    let document = results.as_array().unwrap().last().unwrap();
    assert_eq!((&document["kind"], &document["slug"]), (&json!("document"), &json!("the-greenhouse")));
    let results = home.memoir(["search", "rain barrel", "--since", "2026-01-01"]).succeed();
    assert!(!results.contains("document"), "the document is older: {results}");
}

#[test]
fn a_model_can_read_the_rest_of_a_document() {
    let home = home();
    let long: String =
        (0..900).map(|number| format!("Paragraph {number} is about the well in the yard.\n\n")).collect();
    write(&home, "well.md", long);
    home.write_config("[workers]\nembedding_generator = \"off\"\n");
    docs(&home, ["add", "well.md"]);
    let provider = ScriptedProvider::start([
        Reply::tool_call("1", "fetch_document", &json!({"name": "well"})),
        Reply::tool_call("2", "fetch_document", &json!({"name": "well", "from_chunk": 4})),
        Reply::text("Read."),
    ]);
    home.memoir(["-p", "Read my notes on the well."]).provider(&provider).succeed();
    let results: Vec<String> = provider.requests()[2]
        .messages()
        .into_iter()
        .filter(|(role, _)| role == "tool")
        .map(|(_, text)| text)
        .collect();
    assert!(
        results[0].contains("<memory>\nwell (") && results[0].contains("Paragraph 1 is"),
        "{}",
        results[0].len()
    );
    assert!(results[0].contains("To read on, use from_chunk 4."), "{}", results[0].len());
    assert!(!results[1].contains("Paragraph 1 is") && results[1].contains("Paragraph 899 is"));
}

#[test]
fn unchanged_files_and_chunks_are_not_processed_again() {
    let home = home();
    for number in 0..30 {
        write(
            &home,
            &format!("notes/{number}.txt"),
            format!("Note {number}: the key of box {number} is blue."),
        );
    }
    write(&home, "notes/.hidden.md", "hidden");
    write(&home, "notes/picture.png", [0xff, 0xd8]);
    let output = docs(&home, ["add", "notes"]);
    assert_eq!(output, "30 added, 0 changed, 0 unchanged, 0 duplicates, 0 moved; 30 new chunks.\n");
    let before = home.snapshot();
    let output = docs(&home, ["add", "notes"]);
    assert_eq!(output, "0 added, 0 changed, 30 unchanged, 0 duplicates, 0 moved; 0 new chunks.\n");
    assert_eq!(home.snapshot(), before, "nothing was changed");
    // A copy is recognized, a renamed file stays the same document, and only changed chunks of a file are new.
    write(&home, "copy.txt", "Note 7: the key of box 7 is blue.");
    assert_eq!(docs(&home, ["add", "copy.txt"]), "copy.txt is a duplicate of 7\n");
    fs::rename(home.workspace().join("notes/8.txt"), home.workspace().join("eight.txt")).unwrap();
    assert_eq!(docs(&home, ["add", "eight.txt"]), "8 has moved to eight.txt\n");
    let long = |end: &str| {
        (0..400).map(|number| format!("Line {number} of a long text.\n\n")).collect::<String>() + end
    };
    write(&home, "long.txt", long("The end."));
    home.write_config("[embedder]\nmodel = \"text-embedding-3-small\"\n");
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    home.memoir(["docs", "add", "long.txt"]).provider(&provider).succeed();
    home.memoir(["worker", "run", "--until-idle"]).provider(&provider).succeed();
    let vectors = home.count("chunk_embeddings");
    let before = provider.other_requests().len();
    write(&home, "long.txt", long("Another end."));
    let output = home.memoir(["docs", "add", "long.txt"]).provider(&provider).succeed();
    assert_eq!(output, "Updated long (1 new chunk)\n");
    home.memoir(["worker", "run", "--until-idle"]).provider(&provider).succeed();
    let requests = provider.other_requests();
    let embedded: Vec<&str> = requests[before..]
        .iter()
        .filter(|request| request.path.ends_with("/embeddings"))
        .flat_map(|request| request.body["input"].as_array().unwrap())
        .map(|text| text.as_str().unwrap())
        .collect();
    assert_eq!(embedded.len(), 1, "only the changed chunk is embedded again: {embedded:?}");
    assert!(embedded[0].contains("Another end."), "{embedded:?}");
    assert_eq!(home.count("chunk_embeddings"), vectors);
}

#[test]
fn removing_a_document_leaves_no_trace() {
    let home = home();
    let path = write(
        &home,
        "secret-garden.md",
        "# Garden\n\nThe quibblewort grows behind the hedge of the neighbours.",
    );
    docs(&home, ["add", "secret-garden.md"]);
    let provider = ScriptedProvider::always(Reply::text("Behind the hedge."));
    home.memoir(["-p", "Where does the quibblewort grow?"]).provider(&provider).succeed();
    assert!(provider.requests()[0].messages().pop().unwrap().1.contains("behind the hedge"));
    let output = docs(&home, ["remove", "garden"]);
    assert_eq!(output, "Deleted garden (1 chunk). Its file was kept.\n");
    assert!(path.exists());
    let counts = home.counts();
    for kind in ["documents", "chunks", "chunk_embeddings", "recall_log"] {
        assert_eq!(counts[kind], 0, "{kind}");
    }
    for entry in fs::read_dir(home.memoir_home()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        let traces = bytes.windows(16).filter(|bytes| bytes.eq_ignore_ascii_case(b"behind the hedge"));
        // The prompt and the answer belong to a conversation and stay.
        assert!(traces.count() <= 3, "{}", path.display());
        assert!(!bytes.windows(10).any(|bytes| bytes == b"neighbours"), "{}", path.display());
    }
    home.memoir(["-p", "Where does the quibblewort grow now?"]).provider(&provider).succeed();
    assert!(!provider.requests()[1].messages().pop().unwrap().1.contains("Related Documents"));
}

#[test]
fn a_document_is_shown_and_chunked_again() {
    let home = home();
    let text: String =
        (0..300).map(|number| format!("Sentence {number} is about the old mill.\n\n")).collect();
    write(
        &home,
        "mill.md",
        format!("---\ntitle: \"The mill\"\nslug: old-mill\ndate: 2024-02-03\n---\n{text}"),
    );
    docs(&home, ["add", "mill.md"]);
    let list = docs(&home, ["list"]);
    assert!(list.starts_with("2024-02-03  old-mill  The mill (2 chunks)"), "{list}");
    let document_text = docs(&home, ["show", "old-mill"]);
    assert!(document_text.contains("Sentence 0 is") && document_text.contains("Sentence 299 is"));
    assert_eq!(document_text.matches("Sentence 170 is").count(), 1, "overlapping text is shown once");
    home.write_config("[rag]\nchunk_tokens = 200\nchunk_overlap = 20\n");
    assert!(docs(&home, ["reindex", "old-mill"]).starts_with("Reindexed 1 document."));
    let json: Value = serde_json::from_str(&docs(&home, ["show", "old-mill", "--json"])).unwrap();
    let chunks = json["chunks"].as_array().unwrap();
    assert!(chunks.len() > 12 && chunks.iter().all(|chunk| chunk["tokens"].as_u64().unwrap() <= 200));
    assert!(chunks[1]["overlap"].as_u64().unwrap() > 0);
    fs::remove_file(home.workspace().join("mill.md")).unwrap();
    let output = docs(&home, ["reindex"]);
    assert!(output.contains("no longer exists on disk, so its stored text was used."), "{output}");
    assert_eq!(docs(&home, ["show", "old-mill"]).matches("Sentence 170 is").count(), 1);
}

#[test]
fn invalid_files_are_named_and_the_others_are_added() {
    let home = home();
    write(&home, "good.md", "# Good\n\nThis one is well.");
    write(&home, "bad.md", "---\ntitle: [never closed\n---\nText");
    write(&home, "binary.txt", [0xff, 0xfe, 0x00, 0x41]);
    write(&home, "empty.txt", "  \n");
    let run = home.memoir(["docs", "add", "good.md", "bad.md", "binary.txt", "empty.txt"]);
    let output = run.output();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout, "Added good (1 chunk)\n");
    for fault in [
        "bad.md: its front matter could not be parsed",
        "binary.txt: it is not text (UTF-8).",
        "empty.txt: it is empty.",
    ] {
        assert!(stderr.contains(fault), "{stderr}");
    }
    assert!(stderr.contains("3 files were skipped. Fix them"), "{stderr}");
    let stderr = home.memoir(["docs", "add", "nowhere.md"]).fail(1);
    assert!(stderr.contains("nowhere.md: file not found."), "{stderr}");
    fs::create_dir(home.workspace().join("void")).unwrap();
    assert!(
        home.memoir(["docs", "add", "void"])
            .fail(1)
            .contains("it contains no text files (.md, .markdown, .txt, .text, .html, .htm, .pdf)")
    );
    assert!(home.memoir(["docs", "show", "nothing"]).fail(2).contains("there is no document \"nothing\"."));
    assert!(home.memoir(["docs", "remove", "good", "nothing"]).fail(2).contains("no document \"nothing\""));
    assert_eq!(home.documents().len(), 1, "a misspelled name removes nothing");
    home.write_config("[rag]\nnprobe = 8\n");
    let stderr = home.memoir(["docs", "list"]).fail(1);
    assert!(stderr.contains("there is no setting \"nprobe\": it applies to IVF indexes"), "{stderr}");
}

#[test]
fn secrets_in_a_document_are_not_stored() {
    let home = home();
    let key = format!("ghp_{}", "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z9Q");
    write(&home, "keys.md", format!("# Keys\n\nThe token for the robot is {key}, do not lose it."));
    docs(&home, ["add", "keys.md"]);
    let document_text = docs(&home, ["show", "keys"]);
    assert!(document_text.contains("[redacted: ") && !document_text.contains(&key), "{document_text}");
    assert_eq!(home.count("redactions"), 1);
    assert_eq!(docs(&home, ["add", "keys.md"]), "keys is unchanged\n");
}

#[test]
fn the_repl_embeds_documents_in_the_background() {
    let home = home();
    write(&home, "my notes.md", GREENHOUSE);
    let provider = ScriptedProvider::always(Reply::text("Nine days."));
    let terminal = Terminal::open(&home, Some(&provider), (40, 120), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    terminal.submit("/docs add my notes.md");
    terminal.wait_for("Added the-greenhouse (1 chunk)");
    wait_until("the document is embedded", || home.count("chunk_embeddings") > 0);
    terminal.submit("How long does the rain barrel last?");
    terminal.wait_for("Nine days.");
    terminal.submit("/why");
    terminal.wait_for("document the-greenhouse");
    terminal.submit("/docs");
    terminal.wait_for("2025-04-12  the-greenhouse");
}

/// Returns a PDF file with a line of text on each page.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: String = (0..pages.len()).map(|index| format!("{} 0 R ", 4 + 2 * index)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (index, text) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * index
        ));
        let stream = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let (mut file, mut offsets) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(&objects) {
        offsets.push(file.len());
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let start = file.len();
    let entries: String = offsets.iter().map(|offset| format!("{offset:010} 00000 n \n")).collect();
    let size = objects.len() + 1;
    file.push_str(&format!(
        "xref\n0 {size}\n0000000000 65535 f \n{entries}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    ));
    file.into_bytes()
}

#[test]
fn pdf_and_html_files_are_read_and_the_losses_are_named() {
    let home = home();
    let file = |name: &str, bytes: &[u8]| fs::write(home.workspace().join(name), bytes).unwrap();
    file("report.pdf", &pdf(&["The Boskoop tree yielded 38 kilograms.", ""]));
    let page =
        "<html><head><title>Gate</title></head><body><p>The gate code is <b>peregrine</b>.</p></body></html>";
    file("gate.html", page.as_bytes());
    let output = home.memoir(["docs", "add", "."]).succeed();
    assert!(
        output
            .contains("Added report (1 chunk), without images, layout and 1 of 2 pages, which have no text"),
        "{output}"
    );
    assert!(
        output.contains("Added gate (1 chunk), without images, forms, navigation and scripts"),
        "{output}"
    );
    assert!(home.memoir(["search", "Boskoop"]).succeed().contains("38 kilograms"));
    let text = home.memoir(["docs", "show", "gate"]).succeed();
    assert!(text.contains("The gate code is **peregrine**.") && !text.contains("<p>"), "{text}");
    file("damaged.pdf", b"%PDF-1.7\n1 0 obj << /Length 9999999 >> stream\ntrailer << /Root 1 0 R >>");
    file("scan.pdf", &pdf(&[""]));
    let output = home.memoir(["docs", "add", "damaged.pdf", "scan.pdf"]).fail(1);
    assert!(output.contains("damaged.pdf: it could not be read as PDF"), "{output}");
    assert!(output.contains("scan.pdf: its pages have no text"), "{output}");
    assert!(!output.contains("panicked"), "{output}");
}
