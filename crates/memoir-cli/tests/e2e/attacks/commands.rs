//! Commands that do something else than what the user was asked.

use serde_json::json;

use crate::{confinement::calls, home};

#[test]
fn python_does_not_import_modules_of_the_project() {
    let home = home();
    let module = "open('pwned', 'w').close()\ndef dumps(value): return 'fake'\n";
    for name in ["json.py", "sitecustomize.py", "usercustomize.py"] {
        std::fs::write(home.workspace().join(name), module).unwrap();
    }
    let code = "import json; print(json.dumps([1]))";
    let results = calls(&home, "full", &[("execute_python", json!({"code": code}))]);
    assert_eq!(results, ["[1]\n"]);
    assert!(!home.workspace().join("pwned").exists());
}
