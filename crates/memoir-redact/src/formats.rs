//! Rules for secrets that are recognized by their form or by a fixed phrase around them. To add one, add an entry to
//! `RULES` and an example to the tests.

use crate::values::{Strength, is_placeholder, is_template, judge};

/// A rule that finds secrets with a regular expression.
pub(crate) struct Rule {
    /// Name shown to the user and in the marker.
    pub(crate) name: &'static str,
    /// Why a match is considered a secret.
    pub(crate) reason: &'static str,
    /// Regular expression whose group `secret` is redacted.
    pub(crate) pattern: &'static str,
    /// Words of which a text must contain one, in lowercase. Most texts contain none, and looking for words is faster.
    pub(crate) needs: &'static [&'static str],
    check: Check,
}

/// Which values are secrets, given that the pattern matches them.
#[derive(Clone, Copy)]
enum Check {
    /// All but those with few different characters.
    Anything,
    /// Those with the checksum of the issuer, or that look random. A token in a manual has neither.
    Checksum,
    /// Those that are not placeholders.
    NoPlaceholder,
    /// Those that can be a password in an address: no variables and no ports.
    Address,
    /// Those that look at least like this.
    AtLeast(Strength),
}

impl Rule {
    /// Limits the rule to texts that contain one of these words.
    const fn near(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    /// Returns whether a matched value is a secret.
    pub(crate) fn accepts(&self, value: &str) -> bool {
        match self.check {
            Check::Anything => count_different(value) >= 3,
            Check::Checksum => has_checksum(value) || count_different(value) >= 5,
            Check::NoPlaceholder => !is_placeholder(value),
            Check::Address => {
                let digits = value.chars().take_while(char::is_ascii_digit).count();
                let is_port =
                    (1..=5).contains(&digits) && matches!(value.as_bytes().get(digits), None | Some(b'/'));
                !is_placeholder(value) && !is_template(value) && !is_port
            }
            Check::AtLeast(strength) => judge(value) >= strength,
        }
    }
}

/// Returns whether a token ends with the checksum of its other letters, as those of GitHub and npm do.
fn has_checksum(token: &str) -> bool {
    let Some((_, body)) = token.split_once('_') else { return false };
    let Some((letters, checksum)) = body.len().checked_sub(6).and_then(|end| body.split_at_checked(end))
    else {
        return false;
    };
    let mut number = crc32fast::hash(letters.as_bytes());
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(BASE62[(number % 62) as usize]);
        number /= 62;
    }
    digits.reverse();
    digits == checksum.as_bytes()
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the number of different characters in the last part of a token. A token in a manual has few.
fn count_different(token: &str) -> usize {
    let mut letters: Vec<u8> = token.bytes().rev().take(24).collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len()
}

const FORMAT: &str = "matches the issuer's format";
const POSITION: &str = "found where a secret is expected";

/// A key or token with a recognizable format.
const fn token(name: &'static str, pattern: &'static str) -> Rule {
    Rule { name, reason: FORMAT, pattern, needs: &[], check: Check::Anything }
}

/// A token with a checksum.
const fn checked(name: &'static str, pattern: &'static str) -> Rule {
    Rule { name, reason: FORMAT, pattern, needs: &[], check: Check::Checksum }
}

/// A value whose position makes it a secret, unless it is a placeholder.
const fn positional(name: &'static str, pattern: &'static str) -> Rule {
    Rule { name, reason: POSITION, pattern, needs: &[], check: Check::NoPlaceholder }
}

/// A value at a position where other values occur too.
const fn likely(name: &'static str, strength: Strength, pattern: &'static str) -> Rule {
    Rule { name, reason: POSITION, pattern, needs: &[], check: Check::AtLeast(strength) }
}

/// All rules, most reliable first. Text redacted by one rule is not matched by later ones.
pub(crate) const RULES: &[Rule] = &[
    // A key is a block of armored lines. Without its end, only such lines belong to it.
    token(
        "private key",
        r"(?<secret>-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|\s|[A-Z][A-Za-z-]+: [^\n]{1,80}\n)*[A-Za-z0-9+/=]{40,}(?:(?:\\[nr]|\s|[A-Za-z0-9+/=])*-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\\[nr]|\n|\r)+[ \t]*[A-Za-z0-9+/=]{16,})*))",
    ).near(&["-----begin"]),
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
    ).near(&["aws"]),
    token("Azure storage key", r"AccountKey=(?<secret>[A-Za-z0-9+/=]{40,})").near(&["accountkey="]),
    token("DigitalOcean token", r"\b(?<secret>do[opr]_v1_[a-f0-9]{32,})"),
    checked("GitHub token", r"\b(?<secret>gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    token("Memoir token", r"\b(?<secret>mmr1_[A-Za-z0-9_-]{43})"),
    token("GitLab token", r"\b(?<secret>gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_.-]{20,})"),
    token("Slack token", r"\b(?<secret>xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
    token("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/_+-]{20,})"),
    token("Discord webhook", r"discord(?:app)?\.com/api/webhooks/(?<secret>[0-9]+/[A-Za-z0-9_-]{30,})"),
    token("Discord token", r"\b(?<secret>[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})"),
    token("Telegram token", r"(?:\b|bot)(?<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{32,})"),
    token("Stripe key", r"\b(?<secret>(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    token("SendGrid key", r"\b(?<secret>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"),
    token("Mailgun key", r"\b(?<secret>key-[a-f0-9]{32})\b"),
    token("Twilio key", r"\b(?<secret>SK[a-f0-9]{32})\b"),
    checked("npm token", r"\b(?<secret>npm_[A-Za-z0-9]{30,})"),
    token("PyPI token", r"\b(?<secret>pypi-[A-Za-z0-9_-]{50,})"),
    token("crates token", r"\b(?<secret>cio[A-Za-z0-9]{32})\b"),
    token("Docker token", r"\b(?<secret>dckr_pat_[A-Za-z0-9_-]{20,})"),
    token("Shopify token", r"\b(?<secret>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"),
    token("Linear key", r"\b(?<secret>lin_(?:api|oauth)_[A-Za-z0-9]{30,})"),
    token("Notion token", r"\b(?<secret>ntn_[A-Za-z0-9]{30,})"),
    token("Databricks token", r"\b(?<secret>dapi[a-f0-9]{32})"),
    token("Vault token", r"\b(?<secret>hv[sbr]\.[A-Za-z0-9_-]{20,})"),
    token("web token", r"\b(?<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    token("Notion token", r"\b(?<secret>secret_[A-Za-z0-9]{40,})"),
    token("Doppler token", r"\b(?<secret>dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,})"),
    token("private key", r"\b(?<secret>LS0tLS1CRUdJTi[A-Za-z0-9+/=]{60,})"),
    Rule {
        name: "password in an address",
        reason: POSITION,
        needs: &["://"],
        check: Check::Address,
        pattern: r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/?#@'"<>`]*:(?<secret>[^\s'"<>`\[\]]+)@[A-Za-z0-9_\[]"#,
    },
    positional(
        "authorization",
        r#"(?i)\bauthorization\\?["']?\s*[:=,]\s*\\?["']?(?:bearer|basic|token)\s+(?<secret>[A-Za-z0-9._~+/=-]{8,})"#,
    ).near(&["authorization"]),
    likely("bearer token", Strength::Fair, r"\b[Bb]earer\s+(?<secret>[A-Za-z0-9._~+/-]{20,}=*)").near(&["bearer"]),
    // Options of programs.
    likely(
        "password",
        Strength::Fair,
        r#"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b[^\n|;]*?\s-p\s?(?:'(?<secret>[^'\n]{4,})'|"[^"]+"|\S+)"#,
    ).near(&["mysql", "mariadb", "sshpass"]),
    likely(
        "password",
        Strength::Fair,
        r#"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b[^\n|;]*?\s-p"?(?<secret>[^\s'"]{4,})"#,
    ).near(&["mysql", "mariadb", "sshpass"]),
    likely(
        "password",
        Strength::Weak,
        r#"(?:\s|^)(?:-u|--user|--proxy-user|-U)[ =]?['"]?[A-Za-z0-9_.@\\-]+[:%](?<secret>[^\s'"]{6,})"#,
    ).near(&[" -u", "--user", "--proxy-user"]),
    likely(
        "password",
        Strength::Fair,
        r#"\b(?:ldap[a-z]+|redis-cli|smbclient|htpasswd|kinit|keytool)\b[^\n|;]*?\s-(?:w|a|b[A-Z]*|storepass|keypass)\s+['"]?(?<secret>[^\s'"]{6,})"#,
    ).near(&["ldap", "redis-cli", "smbclient", "htpasswd", "kinit", "keytool"]),
    likely("password", Strength::Fair, r"(?i)\bnet use\b[^\n]*?\\\\\S+\s+(?<secret>[^\s/*]\S{5,})").near(&["net use"]),
    likely("password", Strength::Fair, r"(?m)^[\w.*-]+:(?:\d{2,5}|\*):[^:\s]+:[^:\s]+:(?<secret>\S{6,})$").near(&["pgpass", ":5432:", ":*:"]),
    positional("Wi-Fi password", r"\bWIFI:[^\n]*?P:(?<secret>[^;\n]{6,});").near(&["wifi:"]),
    positional(
        "app password",
        r"(?i)app[ -]?pass(?:word|wort)\b[^\n]{0,30}?(?<secret>\b[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}\b)",
    ).near(&["app pass", "app-pass", "apppass"]),
    positional(
        "authenticator key",
        r"(?i)\b(?:setup key|secret key|authenticator|totp|2fa|otp|seed)\b[^\n]{0,80}?(?<secret>\b(?:[a-z2-7]{4}[ -]){3,}[a-z2-7]{2,4}\b)",
    ).near(&["setup key", "secret key", "authenticator", "totp", "2fa", "otp", "seed"]),
    likely(
        "session cookie",
        Strength::Strong,
        r"(?i)\b(?:set-)?cookie['\x22]?\s*[:=]\s*['\x22]?[^\n=;]{1,40}=(?<secret>[^;\s'\x22]{16,})",
    ).near(&["cookie"]),
    likely(
        "session cookie",
        Strength::Strong,
        r"(?im)^\S+\t(?:TRUE|FALSE)\t[^\t]*\t(?:TRUE|FALSE)\t\d+\t[^\t]*(?:sess|sid|auth|token)[^\t]*\t(?<secret>\S{16,})",
    ).near(&["\ttrue\t", "\tfalse\t"]),
    token("Mailgun key", r"\b(?<secret>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b").near(&["mailgun"]),
    token("AWS signature", r"X-Amz-(?:Signature|Security-Token)=(?<secret>[A-Za-z0-9%]{64,})").near(&["x-amz-"]),
    positional(
        "password",
        r#"(?:\s|^)(?:-u|--user|--proxy-user)[ =]["'][^\s:"']+:(?<secret>[^"'\n]{6,})["']"#,
    ).near(&[" -u", "--user", "--proxy-user"]),
    positional("password", r"\s-pass(?:in|out)?\s+pass:(?<secret>[^\s'\x22]{4,})").near(&["pass:"]),
    positional("password", r#"ConvertTo-SecureString\s+(?:-String\s+)?["'](?<secret>[^"'\n$]{6,})["']"#).near(&["securestring"]),
    likely(
        "secret",
        Strength::Fair,
        r#"variable\s+"[^"\n]*(?:password|pw|pass|secret|token|key)[^"\n]*"\s*\{[^}]{0,300}?default\s*=\s*"(?<secret>[^"\n]+)""#,
    ).near(&["variable"]),
    positional("password", r"jdbc:oracle:thin:[^/\s]+/(?<secret>[^@\s'\x22]+)@").near(&["jdbc:oracle"]),
    // The server asks for the password of a mail account, in base64.
    token("password", r"\bUGFzc3dvcmQ6\s+(?:C: )?(?<secret>[A-Za-z0-9+/]{8,}={0,2})").near(&["ugfzc3dvcmq6"]),
    token(
        "session cookie",
        r#"\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|laravel_session|sessionid)=(?<secret>[^;\s'"]{16,})"#,
    ).near(&["sessionid", "phpsessid", "connect.sid", "laravel_session"]),
    token(
        "private key",
        r#"(?i)\b(?:accounts|private_?keys?)["']?\s*[:=]\s*\[\s*["'](?<secret>(?:0x)?[0-9a-f]{64})\b"#,
    ).near(&["accounts", "private"]),
    likely(
        "password",
        Strength::Strong,
        r"(?i)\b(?:log-?in|credentials|creds|zugangsdaten|account)\b[^\n]{0,60}?\S+ / (?<secret>\S{8,})",
    ).near(&[" / "]),
    token("Twilio token", r#"\bAC[0-9a-f]{32}\b[^\n]{0,60}?\b(?<secret>[0-9a-f]{32})\b"#).near(&["twilio", "client(", "auth token"]),
    token(
        "AWS secret key",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b[\s\S]{0,120}?[^A-Za-z0-9/+](?<secret>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
    ).near(&["akia", "asia"]),
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
            plain("Memoir token", format!("mmr1_{}", letters(43))),
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
            plain("Doppler token", format!("dp.st.prd.{}", letters(40))),
            ("AWS signature", format!("X-Amz-Signature={}", hex(64)), hex(64)),
            ("session cookie", format!("Set-Cookie: id={}; Path=/", letters(32)), letters(32)),
            ("Wi-Fi password", "WIFI:T:WPA;S:home;P:Walrus!ember7;;".into(), "Walrus!ember7".into()),
            ("app password", "app password kugf vqyo btqf ebtm".into(), "kugf vqyo btqf ebtm".into()),
            ("authenticator key", "setup key: lofp rdz7 pscz aaxu".into(), "lofp rdz7 pscz aaxu".into()),
            ("Twilio token", format!("Client(AC{}, {})", hex(32), &hex(33)[1..]), hex(33)[1..].to_owned()),
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
    fn every_rule_has_an_example() {
        let examples = examples();
        for rule in RULES {
            assert!(examples.iter().any(|(name, ..)| *name == rule.name), "{}", rule.name);
        }
    }
}
