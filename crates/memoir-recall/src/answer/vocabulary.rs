//! English words that show what a prompt asks for.

/// First words of a question or an instruction.
pub(super) const ASKING: [&str; 58] = [
    "what",
    "what's",
    "whats",
    "which",
    "who",
    "who's",
    "whose",
    "whom",
    "when",
    "when's",
    "where",
    "where's",
    "why",
    "how",
    "how's",
    "is",
    "are",
    "was",
    "were",
    "am",
    "do",
    "does",
    "did",
    "can",
    "could",
    "should",
    "would",
    "will",
    "has",
    "have",
    "had",
    "may",
    "might",
    "and",
    "but",
    "or",
    "any",
    "anything",
    "tell",
    "show",
    "list",
    "find",
    "give",
    "remind",
    "search",
    "explain",
    "quote",
    "describe",
    "summarize",
    "recall",
    "look",
    "write",
    "make",
    "help",
    "compare",
    "translate",
    "please",
    "at",
];

/// First words of a statement.
pub(super) const STATING: [&str; 24] = [
    "i",
    "i'm",
    "i've",
    "i'll",
    "my",
    "we",
    "we're",
    "we've",
    "we'll",
    "our",
    "he",
    "she",
    "it",
    "they",
    "the",
    "this",
    "that",
    "there",
    "his",
    "her",
    "their",
    "its",
    "today",
    "yesterday",
];

/// Verbs that make a sentence of a few words.
pub(super) const VERBS: [&str; 46] = [
    "is", "are", "was", "were", "am", "has", "have", "had", "do", "don't", "doesn't", "isn't", "aren't",
    "i'm", "we're", "it's", "he's", "she's", "they're", "will", "won't", "can", "can't", "lives", "live",
    "works", "work", "likes", "like", "love", "loves", "hate", "prefer", "prefers", "use", "uses", "need",
    "needs", "want", "wants", "bought", "got", "moved", "switched", "decided", "started",
];

/// Words of a question about a period that name no topic.
pub(super) const ABOUT_NOTHING: [&str; 30] = [
    "talk",
    "talked",
    "talking",
    "discuss",
    "discussed",
    "tell",
    "told",
    "say",
    "said",
    "happen",
    "happened",
    "chat",
    "chatted",
    "conversation",
    "conversations",
    "mention",
    "mentioned",
    "ask",
    "asked",
    "speak",
    "spoke",
    "cover",
    "covered",
    "up",
    "anything",
    "things",
    "thing",
    "go",
    "going",
    "went",
];

/// Words of a date expression, besides days and months.
pub(super) const DATE_WORDS: [&str; 22] = [
    "today",
    "tonight",
    "yesterday",
    "last",
    "past",
    "this",
    "week",
    "month",
    "year",
    "day",
    "days",
    "ago",
    "weeks",
    "months",
    "weekend",
    "morning",
    "evening",
    "afternoon",
    "during",
    "since",
    "early",
    "late",
];

/// Phrases that ask for what was true before.
pub(super) const FORMER: [&str; 15] = [
    "before that",
    "before the",
    "before we",
    "before i",
    "used to",
    "previously",
    "previous",
    "former",
    "formerly",
    "originally",
    "initially",
    "at first",
    "in the past",
    "prior to",
    "back then",
];

/// Words that are not enough for a question of their own.
pub(super) const FOLLOW_UP_WORDS: [&str; 48] = [
    "before", "after", "then", "earlier", "later", "again", "switch", "switched", "change", "changed",
    "move", "moved", "decide", "decided", "choose", "chose", "pick", "picked", "start", "started", "stop",
    "stopped", "end", "happen", "happened", "cost", "costs", "pay", "paid", "much", "many", "long", "often",
    "far", "big", "exactly", "else", "more", "now", "come", "leave", "drop", "dropped", "instead", "go",
    "went", "use", "used",
];

/// Words that refer to something said before.
pub(super) const REFERENCES: [&str; 15] = [
    "it", "that", "this", "there", "they", "them", "he", "him", "she", "her", "those", "these", "one",
    "then", "so",
];

/// First words of a question, also without a question mark.
pub(super) const QUESTION_WORDS: [&str; 13] = [
    "what", "what's", "whats", "which", "who", "who's", "whose", "whom", "where", "where's", "why", "how",
    "how's",
];

/// Second words of a statement that starts with a question word: "What I learned today", "How we make tea".
pub(super) const SUBJECTS: [&str; 9] = ["i", "we", "you", "he", "she", "they", "my", "a", "an"];

/// First words of a request to search memory.
pub(super) const SEARCHES: [&str; 6] = ["tell me", "show me", "give me", "find", "search for", "look up"];

/// Words of [`FORMER`] that say nothing about the topic.
pub(super) const FORMER_WORDS: [&str; 6] =
    ["previously", "formerly", "originally", "initially", "before", "earlier"];
