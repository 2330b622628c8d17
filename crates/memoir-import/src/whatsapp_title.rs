//! Names of exported WhatsApp chats. The file is named after the chat, in the phone's language.

use unicode_normalization::UnicodeNormalization as _;

/// Text before and after the name of the chat, longest first, so that a pattern comes before its own beginning.
const PATTERNS: [(&str, &str); 65] = [
    ("WhatsApp-keskustelu henkilön ", " kanssa"),
    ("WhatsApp'i vestlus kontaktiga ", ""),
    ("WhatsApp chat s používateľom ", ""),
    ("Chat WhatsApp s uživatelem ", ""),
    ("", " മായുള്ള WhatsApp ചാറ്റുകൾ"),
    ("WhatsApp-Unterhaltung mit ", ""),
    ("Discussion WhatsApp avec ", ""),
    ("Conversa no WhatsApp com ", ""),
    ("Conversa do WhatsApp com ", ""),
    ("", " کے ساتھ WhatsApp بات چیت"),
    ("Чат WhatsApp с контактом ", ""),
    ("WhatsApp csevegés vele: ", ""),
    ("", " सोबतच्या WhatsApp गप्पा"),
    ("Sembang WhatsApp dengan ", ""),
    ("Conversație WhatsApp cu ", ""),
    ("Trò chuyện WhatsApp với ", ""),
    ("", " এর সাথে WhatsApp চ্যাট"),
    ("", " உடன் WhatsApp உரையாடல்"),
    ("Συνομιλία WhatsApp με ", ""),
    ("", " ಜೊತೆ WhatsApp ಸಂಭಾಷಣೆ"),
    ("Biseda me ", " në WhatsApp"),
    ("WhatsApp Gesprek met ", ""),
    ("", " ilə WhatsApp Söhbəti"),
    ("Chat de WhatsApp con ", ""),
    ("Chat WhatsApp dengan ", ""),
    ("WhatsApp pokalbis su ", ""),
    ("WhatsApp sarakste ar ", ""),
    ("WhatsApp разговор со ", ""),
    ("WhatsApp-samtale med ", ""),
    ("", " ile WhatsApp Sohbeti"),
    ("", " bilan WhatsApp chati"),
    ("WhatsApp-gesprek met ", ""),
    ("Chat di WhatsApp con ", ""),
    ("Xat de WhatsApp amb ", ""),
    ("", " સાથેની WhatsApp વાત"),
    ("", " के साथ WhatsApp चैट"),
    ("WhatsApp razgovor s ", ""),
    ("", " ਨਾਲ WhatsApp ਗੱਲਬਾਤ"),
    ("WhatsApp Ћаскање са ", ""),
    ("Soga za WhatsApp na ", ""),
    ("WhatsApp Chat with ", ""),
    ("گفتگوی WhatsApp با ", ""),
    ("WhatsApp-chatt med ", ""),
    ("", " తో WhatsApp సంభాషణ"),
    ("WhatsApp chat med ", ""),
    ("WhatsApp Chat mit ", ""),
    ("Chat WhatsApp con ", ""),
    ("WhatsApp-chat met ", ""),
    ("WhatsApp klepet z ", ""),
    ("WhatsApp Chat kay ", ""),
    ("Бесіда WhatsApp з ", ""),
    ("WhatsApp-Chat mit ", ""),
    ("צ'אט WhatsApp עם ", ""),
    ("แชท WhatsApp กับ ", ""),
    ("دردشة واتساب مع ", ""),
    ("Czat WhatsApp z ", ""),
    ("WhatsApp Chat - ", ""),
    ("Czat WhatsApp - ", ""),
    ("WhatsApp Чат с ", ""),
    ("", "님과의 WhatsApp 대화"),
    ("Чат WhatsApp с ", ""),
    ("WhatsApp 与 ", " 的对话"),
    ("WhatsApp 與 ", " 的對話"),
    ("", "とのWhatsAppチャット"),
    ("WhatsApp чат: ", ""),
];

/// Name of a chat whose file does not name it.
const UNKNOWN_CHAT: &str = "WhatsApp";

/// Returns the name of a chat, given the name of its file without the extension, such as "WhatsApp Chat with Anna".
pub fn whatsapp_chat_name(file_stem: &str) -> String {
    let is_mark = |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    // macOS stores accents as separate characters.
    let title: String = file_stem.nfc().filter(|letter| !is_mark(*letter)).collect();
    let title = strip_download_number(title.trim());
    let name = PATTERNS.iter().find_map(|(before, after)| {
        let name = strip_suffix(strip_prefix(title, before)?, after)?.trim();
        Some(name).filter(|name| !name.is_empty())
    });
    match name.unwrap_or(title) {
        "" => UNKNOWN_CHAT.to_owned(),
        name => name.to_owned(),
    }
}

/// Removes the number that browsers append to repeated downloads of the same file.
fn strip_download_number(title: &str) -> &str {
    match title.strip_suffix(')').and_then(|title| title.rsplit_once(" (")) {
        Some((base, number)) if number.parse::<u32>().is_ok() => base,
        _ => title,
    }
}

fn is_same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

/// Removes a prefix regardless of its case.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    prefix
        .chars()
        .all(|letter| rest.next().is_some_and(|other| is_same_letter(letter, other)))
        .then_some(rest.as_str())
}

/// Removes a suffix regardless of its case.
fn strip_suffix<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let mut letters = suffix.chars().rev();
    letters
        .all(|letter| rest.next_back().is_some_and(|other| is_same_letter(letter, other)))
        .then_some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_yields_the_name() {
        for (before, after) in PATTERNS {
            for name in ["Anna", "Class of 2024", "Äpfel & Birnen"] {
                assert_eq!(
                    whatsapp_chat_name(&format!("{before}{name}{after}")),
                    name,
                    "{before}{{}}{after}"
                );
            }
        }
    }

    #[test]
    fn names_are_found_despite_marks_numbers_and_decomposed_letters() {
        for (stem, name) in [
            ("WhatsApp Chat with Anna (2)", "Anna"),
            ("whatsapp chat with Anna", "Anna"),
            ("\u{200e}WhatsApp Chat - The family", "The family"),
            ("Conversat\u{326}ie WhatsApp cu Ana", "Ana"),
            ("WhatsApp klepet z Ana", "Ana"),
            ("Чат WhatsApp с контактом Аня", "Аня"),
            ("Ana ile WhatsApp Sohbeti", "Ana"),
            ("Biseda me Ana në WhatsApp", "Ana"),
            ("talk", "talk"),
            ("", "WhatsApp"),
        ] {
            assert_eq!(whatsapp_chat_name(stem), name, "{stem}");
        }
    }
}
