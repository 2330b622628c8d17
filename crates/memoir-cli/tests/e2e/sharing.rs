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
    let exchanges = home.exchanges();
    assert_eq!(exchanges.len(), 2 * EACH);
    for writer in ["left", "right"] {
        for number in 0..EACH {
            let prompt = format!("{writer} {number}");
            let count = exchanges.iter().filter(|exchange| exchange.user_message == prompt).count();
            assert_eq!(count, 1, "{prompt}");
        }
    }
    assert!(exchanges.iter().all(|exchange| exchange.messages.len() == 2), "{exchanges:?}");
    assert_eq!(home.count("command_history"), 2 * EACH as u64);
}
