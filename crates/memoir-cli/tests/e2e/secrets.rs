//! Secrets in prompts, tool calls, tool results and answers are not stored.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal};
use serde_json::json;

use crate::home;

#[test]
fn secrets_never_reach_the_database() {
    let home = home();
    let letters =
        |count: usize| "aB3dE6gH9jKmN2pQ5rStU8wXyZ4".chars().cycle().take(count).collect::<String>();
    let secrets = [
        format!("sk-ant-api03-{}", letters(80)),
        format!("sk-proj-{}", letters(60)),
        format!("AIza{}", letters(35)),
        format!("xai-{}", letters(60)),
        format!("ghp_{}", letters(36)),
        format!("github_pat_{}", letters(50)),
        format!("glpat-{}", letters(20)),
        format!("xoxb-1234567890-{}", letters(24)),
        format!("AKIA{}", "ABCD2345EFGH6723"),
        format!("sk_live_{}", letters(24)),
        format!("SG.{}.{}", letters(22), letters(43)),
        format!("npm_{}", letters(36)),
        format!("pypi-{}", letters(100)),
        format!("hf_{}", letters(34)),
        format!("dckr_pat_{}", letters(27)),
        format!("hvs.{}", letters(60)),
        format!("ya29.{}", letters(60)),
        format!("eyJ{}.eyJ{}.{}", letters(30), letters(60), letters(43)),
        format!("lin_api_{}", letters(40)),
        format!("123456789:AA{}", letters(33)),
        "swordfish-in-an-address".to_owned(),
        "swordfish-in-quotes".to_owned(),
    ];
    let in_context = |secret: &String| match secret.as_str() {
        "swordfish-in-an-address" => format!("postgres://me:{secret}@db/x"),
        "swordfish-in-quotes" => format!("password = \"{secret}\""),
        secret => secret.to_owned(),
    };
    let text: String = secrets.iter().map(|secret| format!("{}\n", in_context(secret))).collect();
    fs::write(home.workspace().join("env.txt"), &text).unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "file_read", &json!({"path": "env.txt"})),
        Reply::tool_call(
            "c2",
            "execute_bash",
            &json!({"command": format!("echo '{}'", in_context(&secrets[4]))}),
        ),
        Reply::text(&format!("I read {} in it.", in_context(&secrets[5]))),
    ]);
    let prompt = format!("What is in env.txt? My own key is {}.", in_context(&secrets[0]));
    // The write-ahead log exists only while another process has the database open.
    let session = Terminal::open(&home, None, (24, 80), &["--model", "memoir/recall"]);
    session.wait_for_prompt();
    home.memoir(["-p", &prompt, "--approval", "full"]).provider(&provider).succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    assert!(fs::metadata(home.memoir_home().join("memoir.db-wal")).unwrap().len() > 0);
    assert!(provider.requests()[1].body.to_string().contains(&secrets[1]), "the model sees the secrets");
    for secret in &secrets {
        // Not even the first 20 characters may be stored.
        let part: String = secret.chars().take(20).collect();
        assert_eq!(home.files_containing(&part), [""; 0], "{secret}");
    }
    // Secrets in tool calls are not shown either.
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "execute_bash", &json!({"command": format!("echo {}", secrets[4])})),
        Reply::text("Done."),
    ]);
    let output = home
        .memoir(["-p", "again", "--approval", "full", "-vv", "--output-format", "stream-json"])
        .provider(&provider)
        .output();
    let output_text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output_text.contains("[redacted: GitHub token]") && !output_text.contains(&secrets[4]),
        "{output_text}"
    );
    assert!(home.count("redactions") >= secrets.len() as u64);
    let terminal = Terminal::open(&home, None, (60, 140), &["--model", "memoir/recall"]);
    terminal.wait_for_prompt();
    terminal.submit("/redaction");
    terminal.wait_for("GitHub token in exchange 2, tool result: matches the issuer's format");
}

#[test]
fn a_redaction_can_be_seen_and_undone_until_the_session_ends() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 120), &[]);
    terminal.submit("The theater group has the password: Zebra!lantern42 and meets in the harbor");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    assert_eq!(home.files_containing("Zebra!lantern42"), [""; 0]);
    terminal.submit("/redaction --undo 7");
    terminal.wait_for("there is no redaction 7 in this session");
    terminal.wait_for_prompt();
    terminal.submit("/redaction");
    terminal.wait_for("1  password in exchange 1, prompt: Zebra!lantern42");
    terminal.wait_for_prompt();
    terminal.submit("/redaction --undo 1");
    terminal.wait_for("Restored.");
    terminal.wait_for_prompt();
    // From now on it is an ordinary text.
    terminal.submit("Is the password: Zebra!lantern42 right?");
    terminal.wait_until("the second answer", |screen| screen.matches("Noted.").count() == 2);
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    terminal.wait_for_exit();
    let messages: Vec<String> = home.messages().into_iter().map(|message| message.text).collect();
    assert_eq!(messages.iter().filter(|text| text.contains("Zebra!lantern42")).count(), 2, "{messages:?}");
    assert!(home.memoir(["search", "lantern"]).succeed().contains("Zebra!lantern42"));
    home.memoir(["doctor"]).succeed();
    // The next session knows nothing about it.
    home.memoir(["-p", "The password: Zebra!lantern43 is new"]).provider(&provider).succeed();
    assert_eq!(home.files_containing("Zebra!lantern43"), [""; 0]);
}
