//! Damage to the database is reported, nothing is written to it, and a repair or a daily backup brings the memory back.

use std::{fs, path::PathBuf};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, wait_until};

use crate::{helpers::import_exchanges, home};

const PAGE: usize = 4096;

/// Creates a home with exchanges about numbered harbors.
fn home_with_harbors() -> TestHome {
    let home = home();
    let exchanges: Vec<(String, String)> = (0..120)
        .map(|number| {
            let filler = "with tall ships and a long pier ".repeat(number % 5);
            (format!("Where is harbor{number:03}?"), format!("harbor{number:03} is far away {filler}."))
        })
        .collect();
    import_exchanges(&home, "/p", "2026-01-01T00:00:00Z", &exchanges);
    home
}

/// Overwrites the page on which a text is stored with zeros.
fn zero_page_with(home: &TestHome, text: &str) {
    let mut bytes = fs::read(home.database()).unwrap();
    let offset = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let page = offset / PAGE * PAGE;
    bytes[page..page + PAGE].fill(0);
    fs::write(home.database(), bytes).unwrap();
}

/// Returns the directories of the daily backups that are complete.
fn backups(home: &TestHome) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.memoir_home().join("backups")).into_iter().flatten();
    let is_complete = |path: &PathBuf| path.extension().is_none() && path.join("memoir.db").is_file();
    entries.map(|entry| entry.unwrap().path()).filter(is_complete).collect()
}

#[test]
fn damage_is_found_while_idle_and_stops_all_writing() {
    let home = home_with_harbors();
    zero_page_with(&home, "harbor060 is far away");
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = Terminal::open(&home, Some(&provider), (24, 120), &[]);
    terminal.wait_for_prompt();
    wait_until("the damage is found", || home.memoir_home().join("memoir.db-damaged").exists());
    terminal.submit("Remember the numbat");
    terminal.wait_for("the database is damaged");
    terminal.wait_for("memoir repair");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    terminal.wait_for_exit();
    assert_eq!(provider.requests().len(), 0, "an answer that cannot be stored is not paid for");
    assert!(backups(&home).is_empty(), "damage is not backed up");
    let stderr = home.memoir(["-p", "Remember the quokka"]).provider(&provider).fail(1);
    assert!(stderr.contains("the database is damaged") && stderr.contains("`memoir repair`"), "{stderr}");
    assert_eq!(home.files_containing("numbat"), [""; 0]);
    // What is readable can still be read.
    assert!(home.memoir(["memory", "show", "1"]).succeed().contains("harbor000 is far away"));
    assert!(home.memoir(["search", "harbor001"]).succeed().contains("the database is damaged"));
    let stdout = home.memoir(["doctor"]).output().stdout;
    assert!(String::from_utf8_lossy(&stdout).contains("BAD   memory"));

    let output = home.memoir(["repair"]).succeed();
    assert!(output.contains("Repaired the memory: it has 240 messages in 1 conversation."), "{output}");
    assert!(output.contains("The previous file is kept in"), "{output}");
    let export = home.memoir(["export"]).succeed();
    for number in 0..120 {
        assert!(export.contains(&format!("harbor{number:03} is far away")), "{number}");
    }
    home.memoir(["-p", "Remember the quokka"]).provider(&provider).succeed();
    home.memoir(["doctor"]).succeed();
}

#[test]
fn a_zeroed_header_is_called_damage_and_repaired() {
    let home = home_with_harbors();
    let mut bytes = fs::read(home.database()).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(home.database(), &bytes).unwrap();
    let stderr = home.memoir(["export"]).fail(1);
    assert!(stderr.contains("the database is damaged: its header is unreadable"), "{stderr}");
    assert_eq!(fs::read(home.database()).unwrap(), bytes, "the file is left alone");
    let report: serde_json::Value = home.memoir(["repair", "--json"]).json();
    let salvaged = |name: &str| {
        let tables = report["tables"].as_array().unwrap();
        tables.iter().find(|table| table["name"] == name).unwrap()["salvaged"].as_u64().unwrap()
    };
    assert_eq!((salvaged("messages"), salvaged("exchanges"), salvaged("conversations")), (240, 120, 1));
    assert!(home.memoir(["search", "harbor119"]).succeed().contains("harbor119"));
}

#[test]
fn repairing_nothing_or_a_memory_in_use_changes_nothing() {
    let home = home();
    let stderr = home.memoir(["repair"]).fail(2);
    assert!(stderr.contains("there is no memory at"), "{stderr}");
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = Terminal::open(&home, Some(&provider), (24, 120), &[]);
    terminal.submit("The quokka lives on Rottnest");
    terminal.wait_for("Noted.");
    let stderr = home.memoir(["repair"]).fail(1);
    assert!(stderr.contains("another process has the database open"), "{stderr}");
    terminal.submit("/exit");
    terminal.wait_for_exit();
    let output = home.memoir(["repair"]).succeed();
    assert!(output.contains("2 messages in 1 conversation. Nothing is known to be missing."), "{output}");
}

#[test]
fn a_session_backs_up_the_memory_once_a_day_and_forgetting_includes_the_backup() {
    let home = home_with_harbors();
    let mut terminal = Terminal::open(&home, None, (24, 120), &["--model", "memoir/recall"]);
    wait_until("a backup", || !backups(&home).is_empty());
    terminal.submit("/exit");
    terminal.wait_for_exit();
    let copies = backups(&home);
    assert_eq!(copies.len(), 1);
    assert!(home.memoir(["doctor"]).succeed().contains("1 backup, the newest in"));
    let word = "harbor044 is far away";
    assert_eq!(home.files_containing(word).len(), 2, "the memory and its backup");
    home.memoir(["memory", "forget", "--exchange", "45", "--yes"]).succeed();
    assert_eq!(home.files_containing(word), [""; 0]);
    // The rest of the backup can be restored, and replaces the memory that was lost.
    fs::write(home.database(), "the disk ate it").unwrap();
    let output = home.memoir(["restore", "--yes"]).succeed();
    assert!(output.contains("Restored the backup."), "{output}");
    let export = home.memoir(["export"]).succeed();
    assert!(export.contains("harbor045 is far away") && !export.contains(word));
}

#[test]
fn what_is_undone_in_incognito_mode_is_not_deleted_from_backups() {
    let home = home_with_harbors();
    let mut terminal = Terminal::open(&home, None, (24, 120), &["--model", "memoir/recall"]);
    wait_until("a backup", || !backups(&home).is_empty());
    terminal.submit("/exit");
    terminal.wait_for_exit();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = Terminal::open(&home, Some(&provider), (24, 120), &["--incognito"]);
    terminal.submit("The quokka lives on Rottnest");
    terminal.wait_for("Noted.");
    terminal.submit("/undo");
    terminal.wait_for("Deleted the last exchange");
    terminal.submit("/exit");
    terminal.wait_for_exit();
    // The exchange that was undone and the first one of the memory have the same id.
    assert_eq!(home.files_containing("harbor000 is far away").len(), 2, "the memory and its backup");
}

#[test]
fn a_single_prompt_backs_up_a_memory_that_exists_for_a_while() {
    let home = home_with_harbors();
    let ask = ["-p", "Where is harbor001?", "--model", "memoir/recall"];
    home.memoir(ask).succeed();
    assert!(backups(&home).is_empty(), "the memory is new");
    let two_days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 60 * 60);
    let lock = fs::File::open(home.memoir_home().join("memoir.db.lock")).unwrap();
    lock.set_modified(two_days_ago).unwrap();
    home.memoir(ask).succeed();
    let copies = backups(&home);
    assert_eq!(copies.len(), 1);
    home.memoir(["restore", copies[0].to_str().unwrap(), "--yes"]).succeed();
}

/// Copies the memory of a session that is still running, as a crash would leave it: with a log.
fn crashed_home() -> TestHome {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = Terminal::open(&home, Some(&provider), (24, 120), &[]);
    terminal.submit("The quokka lives on Rottnest");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    let crashed = crate::home();
    fs::create_dir_all(crashed.memoir_home()).unwrap();
    for name in ["memoir.db", "memoir.db-wal"] {
        fs::copy(home.memoir_home().join(name), crashed.memoir_home().join(name)).unwrap();
    }
    terminal.submit("/exit");
    terminal.wait_for_exit();
    assert!(fs::metadata(crashed.memoir_home().join("memoir.db-wal")).unwrap().len() > 0);
    crashed
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_read_only_disk_does_not_keep_the_user_from_the_memory() {
    use memoir_testkit::torture::BadDisk;
    let closed = home();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    closed.memoir(["-p", "The quokka lives on Rottnest"]).provider(&provider).succeed();
    for home in [closed, crashed_home()] {
        for disk in [BadDisk::full(), BadDisk::read_only()] {
            let before = fs::read(home.database()).unwrap();
            let found = disk.apply(&home, home.memoir(["search", "quokka"])).succeed();
            assert!(found.contains("Rottnest"), "{disk}: {found}");
            let export = disk.apply(&home, home.memoir(["export"])).succeed();
            assert!(export.contains("Rottnest"), "{disk}: {export}");
            assert_eq!(fs::read(home.database()).unwrap(), before, "{disk}");
            let stderr = disk.apply(&home, home.memoir(["-p", "hello"]).provider(&provider)).fail(1);
            assert!(stderr.contains("disk") || stderr.contains("cannot write"), "{disk}: {stderr}");
        }
    }
}
