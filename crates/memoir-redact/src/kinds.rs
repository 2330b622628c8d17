//! The list of secret kinds. To add one, add an entry to `KINDS` and an example to the tests.

/// A kind of secret.
pub(crate) struct SecretKind {
    /// Name shown to the user and in the marker.
    pub(crate) name: &'static str,
    /// Why a match is considered a secret.
    pub(crate) reason: &'static str,
    /// Regular expression whose group `secret` is redacted.
    pub(crate) pattern: &'static str,
    check: Check,
}

/// Which values are not secrets, although the pattern matches them.
#[derive(Clone, Copy)]
enum Check {
    /// Every match is a secret.
    Anything,
    /// Placeholders are not secrets.
    NoPlaceholder,
    /// Placeholders, names and numbers are not secrets.
    NoName,
}

impl SecretKind {
    /// Returns whether a matched value is a secret.
    pub(crate) fn accepts(&self, value: &str) -> bool {
        match self.check {
            Check::Anything => true,
            Check::NoPlaceholder => !is_placeholder(value),
            Check::NoName => !is_placeholder(value) && !is_name(value),
        }
    }
}

/// Returns whether a value is a placeholder for a secret or a well-known default.
fn is_placeholder(value: &str) -> bool {
    const PREFIXES: [&str; 14] = [
        "changeme",
        "password",
        "passwort",
        "example",
        "your",
        "placeholder",
        "undefined",
        "environ",
        "getenv",
        "process.env",
        "null",
        "none",
        "true",
        "false",
    ];
    let lower = value.to_lowercase();
    let is_one_letter_repeated = value.chars().all(|letter| value.starts_with(letter));
    is_one_letter_repeated || PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}

/// Returns whether a value looks like a number or an identifier.
fn is_name(value: &str) -> bool {
    let has_only = |accepts: fn(char) -> bool| {
        value.chars().all(|letter| accepts(letter) || letter == '_' || letter == '.')
    };
    has_only(|letter| letter.is_ascii_digit())
        || has_only(|letter| letter.is_ascii_lowercase())
        || has_only(|letter| letter.is_ascii_uppercase())
}

const FORMAT: &str = "matches the issuer's format";
const POSITION: &str = "found where a secret is expected";

/// A key or token with a recognizable format.
const fn token(name: &'static str, pattern: &'static str) -> SecretKind {
    SecretKind { name, reason: FORMAT, pattern, check: Check::Anything }
}

/// A value whose position alone makes it a secret.
const fn positional(name: &'static str, pattern: &'static str) -> SecretKind {
    SecretKind { name, reason: POSITION, pattern, check: Check::Anything }
}

/// A literal value, which may still be a placeholder.
const fn literal(name: &'static str, pattern: &'static str) -> SecretKind {
    SecretKind { name, reason: POSITION, pattern, check: Check::NoPlaceholder }
}

/// An assigned value, which may be a placeholder, a variable name or a number.
const fn assigned(name: &'static str, pattern: &'static str) -> SecretKind {
    SecretKind { name, reason: POSITION, pattern, check: Check::NoName }
}

/// All kinds, most reliable first. Text redacted by one kind is not matched by later ones.
pub(crate) const KINDS: &[SecretKind] = &[
    token(
        "private key",
        r"(?<secret>-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z))",
    ),
    token("age key", r"\b(?<secret>AGE-SECRET-KEY-1[0-9A-Z]{40,})"),
    token("Anthropic key", r"\b(?<secret>sk-ant-[A-Za-z0-9_-]{20,})"),
    token("OpenRouter key", r"\b(?<secret>sk-or-[A-Za-z0-9_-]{20,})"),
    token("OpenAI key", r"\b(?<secret>sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})"),
    token("Google key", r"\b(?<secret>AIza[0-9A-Za-z_-]{35})"),
    token("Google OAuth token", r"\b(?<secret>ya29\.[0-9A-Za-z_-]{20,})"),
    token("Google OAuth secret", r"\b(?<secret>GOCSPX-[0-9A-Za-z_-]{20,})"),
    token("xAI key", r"\b(?<secret>xai-[A-Za-z0-9]{20,})"),
    token("Groq key", r"\b(?<secret>gsk_[A-Za-z0-9]{20,})"),
    token("Hugging Face token", r"\b(?<secret>hf_[A-Za-z0-9]{30,})"),
    token("AWS access key", r"\b(?<secret>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    token(
        "AWS secret key",
        r#"(?i)aws_?(?:secret)?_?(?:access)?_?key["']?\s*[:=]\s*["']?(?<secret>[A-Za-z0-9/+=]{40})\b"#,
    ),
    token("Azure storage key", r"AccountKey=(?<secret>[A-Za-z0-9+/=]{40,})"),
    token("DigitalOcean token", r"\b(?<secret>do[opr]_v1_[a-f0-9]{32,})"),
    token("GitHub token", r"\b(?<secret>gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    token("GitLab token", r"\b(?<secret>gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_.-]{20,})"),
    token("Slack token", r"\b(?<secret>xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
    token("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/_+-]{20,})"),
    token("Discord webhook", r"discord(?:app)?\.com/api/webhooks/(?<secret>[0-9]+/[A-Za-z0-9_-]{30,})"),
    token("Discord token", r"\b(?<secret>[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})"),
    token("Telegram token", r"\b(?<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{32,})"),
    token("Stripe key", r"\b(?<secret>(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    token("SendGrid key", r"\b(?<secret>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"),
    token("Mailgun key", r"\b(?<secret>key-[a-f0-9]{32})\b"),
    token("Twilio key", r"\b(?<secret>SK[a-f0-9]{32})\b"),
    token("npm token", r"\b(?<secret>npm_[A-Za-z0-9]{30,})"),
    token("PyPI token", r"\b(?<secret>pypi-[A-Za-z0-9_-]{50,})"),
    token("crates token", r"\b(?<secret>cio[A-Za-z0-9]{32})\b"),
    token("Docker token", r"\b(?<secret>dckr_pat_[A-Za-z0-9_-]{20,})"),
    token("Shopify token", r"\b(?<secret>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"),
    token("Linear key", r"\b(?<secret>lin_(?:api|oauth)_[A-Za-z0-9]{30,})"),
    token("Notion token", r"\b(?<secret>ntn_[A-Za-z0-9]{30,})"),
    token("Databricks token", r"\b(?<secret>dapi[a-f0-9]{32})"),
    token("Vault token", r"\b(?<secret>hv[sbr]\.[A-Za-z0-9_-]{20,})"),
    token("web token", r"\b(?<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    positional(
        "password in an address",
        r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/?#@'"<>]*:(?<secret>[^\s/?#@'"<>\[\]]+)@"#,
    ),
    positional(
        "authorization",
        r#"(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+(?<secret>[A-Za-z0-9._~+/=-]{8,})"#,
    ),
    assigned("bearer token", r"\b[Bb]earer\s+(?<secret>[A-Za-z0-9._~+/-]{20,}=*)"),
    // A quoted value is a literal and not a variable name.
    literal(
        "password",
        r#"(?i)\b[a-z0-9_.-]*(?:password|passwd|passphrase|pwd)["']?\s*[:=]\s*["'](?<secret>[^"'\s\[\]]{6,})["']"#,
    ),
    // The value of a shell variable is a literal too.
    literal(
        "password",
        r#"\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|PWD)=(?<secret>[^\s"'`$<>(){}\[\]*,;]{6,})"#,
    ),
    assigned(
        "password",
        r#"(?i)\b[a-z0-9_.-]*(?:password|passwd|passphrase|pwd)["']?\s*(?:=|:\s)\s*(?<secret>[^\s"'`,;(){}\[\]<>$*]{8,})(?:[\s,;"'`]|$)"#,
    ),
    assigned(
        "secret",
        r#"(?i)\b[a-z0-9_.-]*(?:api[_-]?key|secret[_-]?key|access[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token|refresh[_-]?token|secret|token)["']?\s*[:=]\s*["']?(?<secret>[A-Za-z0-9_+/=.~-]{12,})(?:[\s,;"'`]|$)"#,
    ),
];

#[cfg(test)]
mod tests {
    use crate::redact;

    use super::*;

    /// Fictitious examples (name, text, secret), assembled at run time so that scanners do not flag this file.
    fn examples() -> Vec<(&'static str, String, String)> {
        let letters =
            |count: usize| "aB3dE6gH9jKmN2pQ5rStU8wXyZ4".chars().cycle().take(count).collect::<String>();
        let hex = |count: usize| "0a1b2c3d4e5f6789".chars().cycle().take(count).collect::<String>();
        let upper = |count: usize| "ABCD2345EFGH67".chars().cycle().take(count).collect::<String>();
        let key = |name: &str| {
            format!("-----BEGIN {name}-----\n{}\n{}\n-----END {name}-----", letters(64), letters(40))
        };
        let plain = |name, secret: String| (name, secret.clone(), secret);
        vec![
            plain("private key", key("RSA PRIVATE KEY")),
            plain("private key", key("OPENSSH PRIVATE KEY")),
            plain("private key", key("PGP PRIVATE KEY BLOCK")),
            plain("age key", format!("AGE-SECRET-KEY-1{}", upper(58))),
            plain("Anthropic key", format!("sk-ant-api03-{}", letters(90))),
            plain("OpenRouter key", format!("sk-or-v1-{}", hex(64))),
            plain("OpenAI key", format!("sk-proj-{}", letters(60))),
            plain("OpenAI key", format!("sk-{}", letters(48))),
            plain("Google key", format!("AIza{}", letters(35))),
            plain("Google OAuth token", format!("ya29.{}", letters(60))),
            plain("Google OAuth secret", format!("GOCSPX-{}", letters(28))),
            plain("xAI key", format!("xai-{}", letters(80))),
            plain("Groq key", format!("gsk_{}", letters(52))),
            plain("Hugging Face token", format!("hf_{}", letters(34))),
            plain("AWS access key", format!("AKIA{}", upper(16))),
            ("AWS secret key", format!("aws_secret_access_key = {}", letters(40)), letters(40)),
            ("Azure storage key", format!("AccountName=x;AccountKey={}==", letters(86)), letters(86)),
            plain("DigitalOcean token", format!("dop_v1_{}", hex(64))),
            plain("GitHub token", format!("ghp_{}", letters(36))),
            plain("GitHub token", format!("github_pat_{}", letters(60))),
            plain("GitLab token", format!("glpat-{}", letters(20))),
            plain("Slack token", format!("xoxb-{}-{}", "1234567890", letters(24))),
            (
                "Slack webhook",
                format!("https://hooks.slack.com/services/T00/B00/{}", letters(24)),
                letters(24),
            ),
            ("Discord webhook", format!("https://discord.com/api/webhooks/123/{}", letters(60)), letters(60)),
            plain("Discord token", format!("M{}.{}.{}", letters(23), letters(6), letters(27))),
            plain("Telegram token", format!("123456789:AA{}", letters(33))),
            plain("Stripe key", format!("sk_live_{}", letters(24))),
            plain("Stripe key", format!("whsec_{}", letters(32))),
            plain("SendGrid key", format!("SG.{}.{}", letters(22), letters(43))),
            plain("Mailgun key", format!("key-{}", hex(32))),
            plain("Twilio key", format!("SK{}", hex(32))),
            plain("npm token", format!("npm_{}", letters(36))),
            plain("PyPI token", format!("pypi-{}", letters(160))),
            plain("crates token", format!("cio{}", letters(32))),
            plain("Docker token", format!("dckr_pat_{}", letters(27))),
            plain("Shopify token", format!("shpat_{}", hex(32))),
            plain("Linear key", format!("lin_api_{}", letters(40))),
            plain("Notion token", format!("ntn_{}", letters(46))),
            plain("Databricks token", format!("dapi{}", hex(32))),
            plain("Vault token", format!("hvs.{}", letters(90))),
            plain("web token", format!("eyJ{}.eyJ{}.{}", letters(30), letters(60), letters(43))),
            ("password in an address", "mysql://root:swordfish@db/x".into(), "swordfish".into()),
            ("password in an address", "https://:p%40ss@host/".into(), "p%40ss".into()),
            ("authorization", "curl -H 'Authorization: Basic dXNlcjpwYXNz'".into(), "dXNlcjpwYXNz".into()),
            ("bearer token", format!("Bearer {}", letters(40)), letters(40)),
            ("password", "{\"password\": \"swordfish\"}".into(), "swordfish".into()),
            ("password", "db_password = 'correct-horse'".into(), "correct-horse".into()),
            ("password", "export DB_PASSWORD=swordfish".into(), "swordfish".into()),
            ("password", "password: hunter2hunter2".into(), "hunter2hunter2".into()),
            ("secret", format!("client_secret={}", letters(30)), letters(30)),
            ("secret", format!("\"api_key\": \"{}\"", hex(32)), hex(32)),
        ]
    }

    #[test]
    fn every_example_is_redacted_in_any_context() {
        for (name, text, secret) in examples() {
            for text in [text.clone(), format!("see:\n{text}\nand go on"), format!("`{text}`, thanks")] {
                let redacted = redact(&text);
                assert!(!redacted.text.contains(&secret), "{name}: {}", redacted.text);
                assert!(
                    redacted.findings.iter().any(|finding| finding.kind == name),
                    "{name}: {:?}",
                    redacted
                );
            }
        }
    }

    #[test]
    fn every_kind_has_an_example() {
        let examples = examples();
        for kind in KINDS {
            assert!(examples.iter().any(|(name, ..)| *name == kind.name), "{}", kind.name);
        }
    }
}
