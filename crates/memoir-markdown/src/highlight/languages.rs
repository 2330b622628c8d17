//! The table of supported languages. To support another one, add an entry.

pub(super) struct Language {
    /// Names used after a fence.
    pub(super) names: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Longer quotes must come before shorter ones.
    pub(super) quotes: &'static [Quote],
    /// Separated by spaces.
    pub(super) keywords: &'static str,
    pub(super) case: Case,
    pub(super) keys: Keys,
}

/// The meaning of upper and lower case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Types start with a capital letter.
    Types,
    /// Keywords are case-sensitive, and case has no other meaning.
    Plain,
    /// Keywords are case-insensitive.
    Ignored,
}

/// The syntax of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    None,
    /// `"key": value`.
    Quoted,
    /// `key: value`, at the start of a line.
    Colon,
    /// `key = value`, at the start of a line.
    Equals,
    /// `<key>`.
    Tags,
}

/// The delimiters of a string.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    /// Whether a backslash escapes the next character.
    pub(super) escapes: bool,
    pub(super) extent: Extent,
}

/// The maximum extent of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Character,
    Line,
    Lines,
}

const fn quote(mark: &'static str, extent: Extent) -> Quote {
    Quote { start: mark, end: mark, escapes: true, extent }
}

const fn raw(start: &'static str, end: &'static str) -> Quote {
    Quote { start, end, escapes: false, extent: Extent::Lines }
}

const DOUBLE: Quote = quote("\"", Extent::Line);
const SINGLE: Quote = quote("'", Extent::Line);
const DOUBLE_LINES: Quote = quote("\"", Extent::Lines);
const CHARACTER: Quote = quote("'", Extent::Character);
const TEMPLATE: Quote = quote("`", Extent::Lines);
const TRIPLE: Quote = quote("\"\"\"", Extent::Lines);
const SINGLE_TRIPLE: Quote = quote("'''", Extent::Lines);

const SLASHES: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
const STARS: Option<(&str, &str)> = Some(("/*", "*/"));

/// Base entry for languages with C-like comments and strings.
const C_LIKE: Language = Language {
    names: &[],
    line_comments: SLASHES,
    block_comment: STARS,
    quotes: &[DOUBLE, SINGLE],
    keywords: "",
    case: Case::Types,
    keys: Keys::None,
};

/// Base entry for languages with `#` comments.
const SCRIPT: Language = Language {
    line_comments: HASH,
    block_comment: None,
    quotes: &[DOUBLE, SINGLE],
    case: Case::Plain,
    ..C_LIKE
};

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        quotes: &[raw("r##\"", "\"##"), raw("r#\"", "\"#"), raw("r\"", "\""), DOUBLE_LINES, CHARACTER],
        keywords: "\
            as async await break const continue crate dyn else enum extern fn for if impl in let loop match \
            mod move mut pub ref return self Self static struct super trait type union unsafe use where while",
        ..C_LIKE
    },
    Language {
        names: &["python", "py", "python3", "starlark", "bzl"],
        quotes: &[TRIPLE, SINGLE_TRIPLE, DOUBLE, SINGLE],
        keywords: "\
            and as assert async await break case class continue def del elif else except finally for from \
            global if import in is lambda match nonlocal not or pass raise return self try while with yield",
        case: Case::Types,
        ..SCRIPT
    },
    Language {
        names: &["javascript", "js", "mjs", "cjs", "jsx", "typescript", "ts", "tsx", "mts"],
        quotes: &[DOUBLE, SINGLE, TEMPLATE],
        keywords: "\
            abstract as async await break case catch class const continue declare default delete do else enum \
            export extends finally for from function get if implements import in instanceof interface keyof \
            let namespace new of private protected public readonly return satisfies set static super switch \
            this throw try type typeof var void while with yield",
        ..C_LIKE
    },
    Language {
        names: &["go", "golang"],
        quotes: &[DOUBLE, SINGLE, raw("`", "`")],
        keywords: "\
            break case chan const continue default defer else fallthrough for func go goto if import interface \
            map package range return select struct switch type var",
        ..C_LIKE
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "cxx", "hpp", "objc", "cuda", "glsl", "arduino", "ino"],
        keywords: "\
            auto bool break case catch char class co_await co_return concept const constexpr continue default \
            define delete do double else endif enum explicit extern final float for friend goto if ifdef \
            ifndef include inline int long mutable namespace new noexcept operator override pragma private \
            protected public requires return short signed sizeof static struct switch template this throw try \
            typedef typename union unsigned using virtual void volatile while",
        ..C_LIKE
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "gradle"],
        quotes: &[TRIPLE, DOUBLE, CHARACTER, SINGLE],
        keywords: "\
            abstract as assert boolean break by byte case catch char class companion const continue data def \
            default do double else enum extends final finally float for fun given if implements import in init \
            inline instanceof int interface internal is lateinit lazy long match native new object open \
            operator override package private protected public record return sealed short static super suspend \
            switch synchronized this throw throws trait try type val var void volatile when while with yield",
        ..C_LIKE
    },
    Language {
        names: &["csharp", "cs", "c#"],
        quotes: &[TRIPLE, raw("@\"", "\""), DOUBLE, SINGLE],
        keywords: "\
            abstract as async await base bool break byte case catch char class const continue decimal default \
            delegate do double else enum event explicit extern finally float for foreach get goto if implicit \
            in init int interface internal is lock long namespace new object operator out override params \
            private protected public readonly record ref required return sealed set short static string struct \
            switch this throw try typeof using var virtual void when where while yield",
        ..C_LIKE
    },
    Language {
        names: &["swift", "dart", "zig"],
        quotes: &[TRIPLE, SINGLE_TRIPLE, DOUBLE, SINGLE],
        keywords: "\
            actor as async await break case catch class comptime const continue default defer deinit do else \
            enum errdefer export extends extension extern factory final fn for func guard if implements import \
            in init inline is late let mixin mutating new orelse override private protocol pub public required \
            return self some static struct super switch test this throw throws try typealias union unreachable \
            var void where while with yield",
        ..C_LIKE
    },
    Language {
        names: &["php"],
        line_comments: &["//", "#"],
        quotes: &[DOUBLE_LINES, quote("'", Extent::Lines)],
        keywords: "\
            abstract array as break case catch class const continue declare default do echo else elseif enum \
            extends final finally fn for foreach function global if implements include instanceof interface \
            isset match namespace new php print private protected public readonly require require_once return \
            static switch throw trait try unset use var while yield",
        ..C_LIKE
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "crystal"],
        quotes: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "\
            after alias and begin break case class cond def defimpl defmodule defp defstruct do else elsif end \
            ensure fn for if import in module next not or private raise redo require rescue retry return self \
            super then unless until use when while with yield",
        case: Case::Types,
        ..SCRIPT
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "fish", "ksh", "dockerfile", "docker", "containerfile"],
        quotes: &[DOUBLE_LINES, raw("'", "'")],
        keywords: "\
            ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN USER VOLUME WORKDIR alias begin break \
            case continue declare do done elif else end esac eval exec exit export fi for function if in local \
            readonly return select set shift source sudo switch then trap unset until while",
        ..SCRIPT
    },
    Language {
        names: &["powershell", "ps1", "pwsh"],
        block_comment: Some(("<#", "#>")),
        quotes: &[Quote { escapes: false, ..DOUBLE }, Quote { escapes: false, ..SINGLE }],
        keywords: "\
            begin break catch class continue do else elseif end exit filter finally for foreach function if in \
            param process return switch throw trap try until using while",
        case: Case::Ignored,
        ..SCRIPT
    },
    Language {
        names: &["sql", "sqlite", "mysql", "postgresql", "postgres", "plsql", "tsql"],
        line_comments: &["--"],
        quotes: &[
            Quote { escapes: false, extent: Extent::Lines, ..SINGLE },
            Quote { escapes: false, ..DOUBLE },
        ],
        keywords: "\
            add all alter and as asc begin between by cascade case check column commit conflict constraint \
            create cross database default delete desc distinct do drop else end except exists foreign from \
            full grant group having if in index inner insert intersect into is join key left like limit not \
            nothing null offset on or order outer over partition pragma primary recursive references replace \
            returning right rollback select set table then to transaction trigger union unique update using \
            values view when where with",
        case: Case::Ignored,
        ..C_LIKE
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "geojson"],
        quotes: &[DOUBLE],
        case: Case::Plain,
        keys: Keys::Quoted,
        ..C_LIKE
    },
    Language { names: &["yaml", "yml"], keys: Keys::Colon, ..SCRIPT },
    Language {
        names: &[
            "toml",
            "ini",
            "conf",
            "cfg",
            "properties",
            "env",
            "dotenv",
            "hcl",
            "terraform",
            "tf",
            "nix",
        ],
        quotes: &[TRIPLE, SINGLE_TRIPLE, DOUBLE, Quote { escapes: false, ..SINGLE }],
        keywords: "in inherit let rec with",
        keys: Keys::Equals,
        ..SCRIPT
    },
    Language {
        names: &["html", "xml", "svg", "xhtml", "vue", "svelte", "plist"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &[Quote { escapes: false, ..DOUBLE }],
        case: Case::Plain,
        keys: Keys::Tags,
        ..C_LIKE
    },
    Language { names: &["css", "scss", "less", "sass"], case: Case::Plain, keys: Keys::Colon, ..C_LIKE },
    Language {
        names: &["lua"],
        line_comments: &["--"],
        block_comment: Some(("--[[", "]]")),
        quotes: &[raw("[[", "]]"), DOUBLE, SINGLE],
        keywords: "\
            and break do else elseif end for function goto if in local not or repeat return then until while",
        case: Case::Plain,
        ..C_LIKE
    },
    Language {
        names: &["haskell", "hs", "elm", "purescript"],
        line_comments: &["--"],
        block_comment: Some(("{-", "-}")),
        quotes: &[DOUBLE, CHARACTER],
        keywords: "\
            case class data deriving do else forall if import in infixl infixr instance let module newtype of \
            then type where",
        ..C_LIKE
    },
    Language {
        names: &["makefile", "make", "mk", "cmake", "r", "perl", "pl", "julia", "jl", "nginx", "awk"],
        keywords: "\
            break do else elseif elsif end endif export for foreach function if ifdef ifeq ifndef import in \
            include local module my next our package repeat return struct sub unless use using while",
        ..SCRIPT
    },
    Language {
        names: &["proto", "protobuf", "graphql", "gql", "thrift"],
        line_comments: &["//", "#"],
        keywords: "\
            enum extend fragment implements import input interface message mutation on oneof option optional \
            package query repeated required returns rpc scalar schema service subscription syntax type union",
        ..C_LIKE
    },
];
