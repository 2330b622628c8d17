//! Several processes on one memory.

use memoir_testkit::{Reply, ScriptedProvider};

use crate::home;

#[test]
fn two_processes_writing_at_once_lose_nothing() {
    const EACH: usize = 15;
    let home = home();
    let provider = ScriptedProvider::start((0..2 * EACH).map(|_| Reply::text("noted")));
    // Both start on a memory that does not exist yet.
    std::thread::scope(|scope| {
        for writer in ["left", "right"] {
            let (home, provider) = (&home, &provider);
            scope.spawn(move || {
                for number in 0..EACH {
                    home.memoir(["-p", &format!("{writer} {number}")]).provider(provider).succeed();
                }
            });
        }
    });
    let exchanges = home.rows("exchanges");
    assert_eq!(exchanges.len(), 2 * EACH);
    for writer in ["left", "right"] {
        for number in 0..EACH {
            let prompt = format!("'{writer} {number}'");
            assert_eq!(exchanges.iter().filter(|row| row.contains(&prompt)).count(), 1, "{prompt}");
        }
    }
    assert_eq!(home.rows("messages").len(), 4 * EACH);
    assert_eq!(home.rows("command_history").len(), 2 * EACH);
}
