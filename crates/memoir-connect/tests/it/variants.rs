//! Generates texts that users may have in their configuration.

use crate::expected::{Expected, Shape};

/// A text, and whether it has an entry of Memoir already.
pub(crate) struct Variant {
    pub(crate) text: String,
    pub(crate) has_old_entry: bool,
}

/// Returns JSON texts in several layouts.
pub(crate) fn json_variants(expected: &Expected) -> Vec<Variant> {
    let mut variants = Vec::new();
    for (text, has_old_entry) in json_texts(expected) {
        for text in layouts(&text) {
            variants.push(Variant { text, has_old_entry });
        }
    }
    variants
}

/// Returns a text with other indentation, line endings, byte order mark and end.
pub(crate) fn layouts(text: &str) -> Vec<String> {
    let indented = |unit: &str| -> String {
        let line = |line: &str| {
            let body = line.trim_start_matches(' ');
            format!("{}{body}", unit.repeat((line.len() - body.len()) / 2))
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    };
    let mut layouts = vec![
        text.to_owned(),
        indented("\t"),
        indented("    "),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
        text.trim_end().to_owned(),
        format!("\u{feff}{}", indented("\t").replace('\n', "\r\n")),
        format!("{text}\n\n"),
    ];
    layouts.sort();
    layouts.dedup();
    layouts
}

fn json_texts(expected: &Expected) -> Vec<(String, bool)> {
    let servers = expected.servers;
    let mut texts: Vec<(String, bool)> = [
        "", "  \n", "// only a comment\n", "/* a block */\n", "{}\n", "{ }\n", "{\n}\n",
        "{\n  // nothing yet\n}\n", "// above\n{} // behind\n// below\n", "{\"theme\":\"dark\",\"n\":1}\n",
        "{ \"theme\": \"dark\", \"list\": [ 1, 2 ] }\n",
        "{\n  \"größe\": \"ünïcödé ✓ \\u00e9 \\\" \\\\\",\n  \"n\": [1.0, 1e5, -0.25, null, true]\n}\n",
        "{\n  // a comment\n  \"a\": 1, // behind a\n  /* before b */ \"b\": { \"c\": [] }, /* behind b */\n\n  \
         \"d\": {\n    \"e\": \"x\" // last\n  }\n  // at the end\n}\n",
        "{\"a\": 1 /* same line */}\n",
    ]
    .map(|text| (text.to_owned(), false))
    .into();
    let others = [
        "{}",
        "{ }",
        "{\n    // none\n  }",
        "{\"gh\": {\"command\": \"gh-mcp\"}}",
        "{\n    \"gh\": {\n      \"command\": \"gh-mcp\", // GitHub\n      \"env\": { \"TOKEN\": \"s3cr3t\" }\n    }\n  }",
    ];
    for other in others {
        texts.push((format!("{{\n  \"a\": 1,\n  \"{servers}\": {other},\n  \"z\": []\n}}\n"), false));
        texts.push((format!("{{\"{servers}\": {other}}}\n"), false));
    }
    let old = "{ \"command\": \"/old/memoir\", \"args\": [\"mcp\"], \"env\": {\"K\": \"V\"} }";
    texts.push((format!("{{\n  \"{servers}\": {{\n    \"memoir\": {old}\n  }}\n}}\n"), true));
    texts.push((format!("{{\"{servers}\":{{\"gh\":{{}},\"memoir\":{old},\"x\":{{}}}},\"k\":0}}\n"), true));
    texts.extend(hook_texts(expected));
    if expected.allows_trailing_commas {
        texts.push(("{\n  \"a\": 1,\n}\n".to_owned(), false));
        texts.push((format!("{{\n  \"a\": 1,\n  \"{servers}\": {{\n    \"gh\": {{}},\n  }},\n}}\n"), false));
        texts.push((format!("{{\n  \"a\": [1,],\n  \"{servers}\": {{}},}}\n"), false));
        texts.push((format!("{{\n  \"{servers}\": {{\n    \"memoir\": {old},\n  }},\n}}\n"), true));
    }
    texts
}

fn hook_texts(expected: &Expected) -> Vec<(String, bool)> {
    let Some((event, tag, _)) = expected.events.get(3) else { return Vec::new() };
    let handler = |command: &str| format!("{{\"type\": \"command\", \"command\": \"{command}\"}}");
    let group = |handlers: &[String]| match expected.shape {
        Shape::Flat => handlers.join(", "),
        _ => format!("{{\"matcher\": \"*\", \"hooks\": [{}]}}", handlers.join(", ")),
    };
    let own = handler(&format!("/old/memoir hook --host {} {tag}", expected.host.tag()));
    let user = handler("say done");
    let file = |hooks: &str| format!("{{\n  \"hooks\": {hooks},\n  \"model\": \"x\"\n}}\n");
    let with_event = |array: &str| file(&format!("{{\n    \"{event}\": {array}\n  }}"));
    vec![
        (file("{}"), false),
        (with_event("[]"), false),
        (with_event("[\n      // none yet\n    ]"), false),
        (with_event(&format!("[{}]", group(std::slice::from_ref(&user)))), false),
        (with_event(&format!("[\n      {} // mine\n    ]", group(std::slice::from_ref(&user)))), false),
        (
            file(&format!("{{ \"Other\": [{}], \"{event}\": [{0}] }}", group(std::slice::from_ref(&user)))),
            false,
        ),
        (with_event(&format!("[{}]", group(std::slice::from_ref(&own)))), true),
        (with_event(&format!("[{}]", group(&[user.clone(), own.clone()]))), true),
        (with_event(&format!("[{}, {}]", group(&[own]), group(&[user]))), true),
        (format!("{{\"version\": 1, \"hooks\": {{\"{event}\": []}}}}\n"), false),
    ]
}

/// Returns TOML texts in several layouts.
pub(crate) fn toml_variants() -> Vec<Variant> {
    let texts = [
        ("", false),
        ("\n\n", false),
        ("# only a comment\n", false),
        ("model = \"gpt\"\n", false),
        ("model = \"gpt\" # best\nnotify = [\n  \"a\", # first\n  \"b\",\n]\n", false),
        (
            "\"größe\" = \"ünïcödé ✓\"\n\n[projects.\"/home/ä\"]\ntrust_level = \"trusted\"\n\n# the end\n",
            false,
        ),
        ("[mcp_servers]\n", false),
        ("[mcp_servers.gh]\ncommand = \"gh-mcp\" # GitHub\nenv = { TOKEN = \"s3cr3t\" }\n", false),
        ("[mcp_servers.gh]\ncommand = \"gh\"\n[mcp_servers.gh.env]\nA = \"b\"\n\n[other]\nx = 1\n", false),
        ("mcp_servers = {}\nx = 1\n", false),
        ("mcp_servers = { gh = { command = \"gh\" } } # inline\n\n[other]\nx = 1\n", false),
        ("mcp_servers.gh.command = \"gh\"\nx = 1\n\n[other]\ny = 2\n", false),
        ("text = \"\"\"\na\n[mcp_servers.memoir]\n\"\"\"\n", false),
        ("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n", false),
        (
            "[mcp_servers.memoir]\ncommand = \"/old/memoir\" # old\nargs = [\"mcp\"]\nenv = { K = \"V\" }\n\n[z]\na=1\n",
            true,
        ),
        ("a = 1\n[mcp_servers]\nmemoir = { command = \"/old\", args = [] }\n", true),
        ("mcp_servers.memoir.command = \"/old\" # old\nmcp_servers.memoir.args = []\n", true),
        ("[mcp_servers.memoir]\n# later\n[mcp_servers.memoir.env]\nK = \"V\"\n# end\n", true),
    ];
    let mut variants = Vec::new();
    for (text, has_old_entry) in texts {
        variants.extend(layouts(text).into_iter().map(|text| Variant { text, has_old_entry }));
    }
    // Mixed line endings.
    variants.push(Variant { text: "a = 1\r\nb = 2\n[c]\nd = 3\r\n".to_owned(), has_old_entry: false });
    variants
        .push(Variant { text: "mcp_servers = {}\r\nb = 2\n[c]\nd = 3\r\n".to_owned(), has_old_entry: false });
    variants
}
