//! Which of several files with the same content is the original, without a rule of the user's: among other things, the
//! one whose name does not look like that of a copy, as `IMG_1 (1).jpg` and `Copy of IMG_1.jpg` beside `IMG_1.jpg`.
//!
//! A name is compared without its extension and without regard to case. It loses against a name of the set to which it
//! only adds marks: a number of at most three digits, or words of [`WORDS`].

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// What desktops and browsers add to the name of a copy: a pattern a line.
const WORDS: &str = include_str!("copy_words.txt");

/// Maximum number of marks of one kind that count on one name: it bounds the work for a malicious name.
const MOST: usize = 12;

/// Maximum number of words that a mark consists of.
const WORDS_IN_A_MARK: usize = 5;

/// What stands between a name and a word.
fn is_joint(c: char) -> bool {
    c.is_whitespace() || "-_.–—～·".contains(c)
}

/// Brackets around a mark.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('（', '）')];

/// The words of marks, in lower case, with `#` for a number.
struct Words {
    before: HashSet<String>,
    after: HashSet<String>,
    /// Words that follow a name without anything between.
    attached: Vec<String>,
    /// The bytes with which a word before or after a name begins or ends, in either case.
    begins: [bool; 256],
    ends: [bool; 256],
}

static KNOWN: LazyLock<Words> = LazyLock::new(|| Words::parse(WORDS));

impl Words {
    fn parse(text: &str) -> Self {
        let mut words = Self {
            before: HashSet::new(),
            after: HashSet::new(),
            attached: Vec::new(),
            begins: [false; 256],
            ends: [false; 256],
        };
        let lines = text.lines().filter(|line| !line.starts_with("# "));
        for pattern in lines.filter_map(|line| line.split("  ").next()) {
            let Some((before, after)) = pattern.split_once('X') else {
                continue;
            };
            let [before, after] = [before, after].map(str::to_lowercase);
            if !before.is_empty() {
                set(&mut words.begins, before.chars().next());
                words.before.insert(normal(&before).to_owned());
            } else if after.starts_with(|c| is_joint(c) || BRACKETS.iter().any(|b| b.0 == c)) {
                set(&mut words.ends, bare(&after).chars().next_back());
                words.after.insert(bare(&after).to_owned());
            } else {
                words.attached.push(after);
            }
        }
        // The longest one counts.
        words
            .attached
            .sort_by_key(|word| std::cmp::Reverse(word.len()));
        words
    }
}

/// Marks the bytes of a character in both cases; only ASCII is looked up.
fn set(bytes: &mut [bool; 256], c: Option<char>) {
    if let Some(Ok(byte)) = c.map(u8::try_from) {
        bytes[usize::from(byte.to_ascii_lowercase())] = true;
        bytes[usize::from(byte.to_ascii_uppercase())] = true;
    }
}

/// Without joints and brackets around it.
fn bare(text: &str) -> &str {
    let outer = |c| is_joint(c) || BRACKETS.iter().any(|pair| c == pair.0 || c == pair.1);
    text.trim_matches(outer)
}

/// The stems of the names of a set, if any of them may be the name of a copy.
#[derive(Debug, Default)]
pub struct CopyMarks {
    /// Hashes, since a set may have millions of names.
    stems: HashSet<u64>,
}

impl CopyMarks {
    /// Takes the names of a set. Most sets have equal names, or none that may be marked.
    pub fn among<'n, I: Iterator<Item = &'n [u8]>>(names: impl Fn() -> I) -> Self {
        let first = names().next().unwrap_or_default();
        if names().all(|name| name == first) || !names().any(may_be_marked) {
            return Self::default();
        }
        let stems = names().map(|name| hash(normal(stem(&lower(name)))));
        Self {
            stems: stems.collect(),
        }
    }

    /// How many marks a name adds to the name of the set with which it has the least in common.
    pub fn on(&self, name: &[u8]) -> u8 {
        if self.stems.is_empty() || !may_be_marked(name) {
            return 0;
        }
        let name = lower(name);
        let mut most = 0;
        let whole_names = chain(&name, without_backup_mark);
        for (outside, whole) in whole_names.enumerate() {
            let stem = stem(whole);
            for (before, rest) in chain(stem, without_mark_before).enumerate() {
                for (after, rest) in chain(rest, without_mark_after).enumerate() {
                    let marks = outside + before + after;
                    if marks > most && self.has(rest, stem.len() == whole.len()) {
                        most = marks;
                    }
                }
            }
        }
        most as u8
    }

    /// True if a name of the set has this stem. `X.jpg (1)` has no extension, but `X.jpg` has one.
    fn has(&self, rest: &str, is_whole: bool) -> bool {
        let has = |stem| self.stems.contains(&hash(normal(stem)));
        has(rest) || is_whole && has(stem(rest))
    }
}

fn lower(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_lowercase()
}

fn normal(stem: &str) -> &str {
    stem.trim_end_matches(is_joint)
}

fn hash(stem: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    stem.hash(&mut hasher);
    hasher.finish()
}

/// The text, and what is left of it after each step.
fn chain(text: &str, step: fn(&str) -> Option<&str>) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(text), move |text| step(text)).take(MOST + 1)
}

/// The length of a name without its extension. A dot in front begins none.
fn stem_len(name: &[u8]) -> usize {
    let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else {
        return name.len();
    };
    let extension = &name[dot + 1..];
    let is_extension =
        (1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric);
    match &name[..dot] {
        [] => name.len(),
        _ if !is_extension => name.len(),
        [stem @ .., b'.', b't' | b'T', b'a' | b'A', b'r' | b'R'] if !stem.is_empty() => stem.len(),
        stem => stem.len(),
    }
}

fn stem(name: &str) -> &str {
    // The extension is ASCII.
    &name[..stem_len(name.as_bytes())]
}

/// False for most names that have no mark, at little cost.
fn may_be_marked(name: &[u8]) -> bool {
    let stem = &name[..stem_len(name)];
    let (Some(&first), Some(&last)) = (stem.first(), stem.last()) else {
        return false;
    };
    let digits = stem.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let is_after = match digits.count() {
        0 => last >= 0x80 || b")]~ ".contains(&last) || KNOWN.ends[usize::from(last)],
        count => count <= 3 && count < stem.len(),
    };
    let has_joint = || {
        stem.iter()
            .any(|&byte| byte >= 0x80 || !byte.is_ascii_alphanumeric())
    };
    let is_before = first >= 0x80 || KNOWN.begins[usize::from(first)];
    (is_after || is_before) && has_joint()
        || matches!(first, b'.' | b'~' | b'#')
        || matches!(name.last(), Some(b'~' | b'#'))
        || BACKUPS.iter().any(|end| {
            let at = name.len().checked_sub(end.len());
            at.is_some_and(|at| name[at..].eq_ignore_ascii_case(end.as_bytes()))
        })
}

/// Endings of backups.
const BACKUPS: [&str; 3] = [".bak", ".orig", ".old"];

/// Without the mark of an editor's backup, or of a companion that macOS or an office program makes.
fn without_backup_mark(name: &str) -> Option<&str> {
    let mut starts = ["._", ".~", "~$", ".#", "#"].into_iter();
    let mut ends = ["~", "#"].into_iter().chain(BACKUPS);
    let rest = starts.find_map(|start| name.strip_prefix(start));
    let rest = rest.or_else(|| ends.find_map(|end| name.strip_suffix(end)));
    rest.filter(|rest| !rest.is_empty())
}

fn without_mark_before(stem: &str) -> Option<&str> {
    let joints = stem.char_indices().filter(|&(_, c)| is_joint(c));
    let ends = joints.take(WORDS_IN_A_MARK).map(|(at, _)| at);
    let marks = ends.filter(|&at| KNOWN.before.contains(&pattern(&stem[..at])));
    // Names of cameras may begin with `_`.
    let rest = stem[marks.last()?..].trim_start_matches(|c| is_joint(c) && c != '_');
    (!rest.is_empty()).then_some(rest)
}

fn without_mark_after(stem: &str) -> Option<&str> {
    let stem = stem.trim_end();
    let rest = without_brackets(stem).or_else(|| without_number(stem));
    let rest = rest.or_else(|| without_words(stem));
    let rest = rest.or_else(|| stem.strip_suffix('~')).map(normal);
    rest.filter(|rest| !rest.is_empty())
}

/// `X (2)`, `X (copy)`, `X (copy 2)`.
fn without_brackets(stem: &str) -> Option<&str> {
    let mut pairs = BRACKETS.into_iter();
    let (rest, inside) = pairs.find_map(|(open, close)| {
        let inside = stem.strip_suffix(close)?;
        inside.rsplit_once(open)
    })?;
    let is_mark = digits_at_end(inside) == inside.len() && is_number(inside);
    let words = inside[..inside.len() - digits_at_end(inside)].trim_end();
    (is_mark || is_word(inside) || is_word(words)).then_some(rest)
}

/// `X 2`, `X-2`, `X copy2`. The number of a version or of a burst is longer, or has another separator.
fn without_number(stem: &str) -> Option<&str> {
    let (rest, number) = stem.split_at(stem.len() - digits_at_end(stem));
    let apart = rest.strip_suffix([' ', '-', '_', '~']);
    let rest = apart.or_else(|| without_words(rest).map(|_| rest));
    rest.filter(|_| is_number(number))
}

/// `X copy`, `X - Kopie`, `Xのコピー`. Without brackets, a number in front belongs to the name.
fn without_words(stem: &str) -> Option<&str> {
    let joints = stem.char_indices().rev().filter(|&(_, c)| is_joint(c));
    let tails = joints.map(|(at, c)| (&stem[..at], &stem[at + c.len_utf8()..]));
    let tails = tails.take(WORDS_IN_A_MARK);
    let marks =
        tails.filter(|(_, tail)| !tail.starts_with(|c: char| c.is_ascii_digit()) && is_word(tail));
    let mut attached = KNOWN.attached.iter();
    let rest = attached.find_map(|word| stem.strip_suffix(word.as_str()));
    rest.or_else(|| marks.last().map(|(rest, _)| rest))
}

/// True for the words of a mark.
fn is_word(text: &str) -> bool {
    KNOWN.after.contains(&pattern(text))
}

fn digits_at_end(text: &str) -> usize {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit);
    digits.count()
}

/// True for what counts copies: `2019` is a year.
fn is_number(text: &str) -> bool {
    (1..=3).contains(&text.len())
}

/// The text with `#` for each number.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if c != '#' || !pattern.ends_with('#') {
            pattern.push(c);
        }
    }
    pattern
}

/// The default preference for a name among the names of a set; the least is best. If two are equal, the path decides,
/// [part by part](ByParts). A file is preferred by the best of its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preference {
    /// It lies in a trash, and is lost when the trash is emptied.
    pub in_trash: bool,
    /// The file is hidden or a program manages it: actions leave it alone.
    pub is_managed: bool,
    /// The place of its folder among the given paths ([`DirTable::given`](super::DirTable::given)).
    pub given: u32,
    /// Marks of a copy on the name ([`CopyMarks`](super::CopyMarks)).
    pub marks: u8,
    /// Last modification of the file, nanoseconds since 1970.
    pub mtime_ns: i64,
}

impl Preference {
    /// Why one name is preferred to another one, in a few words.
    pub fn reason(&self, other: &Self) -> &'static str {
        match () {
            () if self.in_trash != other.in_trash => "not in a trash",
            () if self.is_managed != other.is_managed => "not hidden or managed by a program",
            () if self.given != other.given => "in the folder given first",
            () if self.marks != other.marks => "not named like a copy",
            () if self.mtime_ns != other.mtime_ns => "oldest",
            () => "first by path",
        }
    }
}

/// A path that is compared part by part, each byte by byte: what lies in `Photos` comes before what lies in
/// `Photos copy`, although a blank comes before a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByParts<'p>(pub &'p [u8]);

impl Ord for ByParts<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let equal = self.0.iter().zip(other.0).take_while(|(x, y)| x == y);
        let apart = equal.count();
        let next = |path: &[u8]| path.get(apart).map(|&byte| (byte != b'/', byte));
        next(self.0).cmp(&next(other.0))
    }
}

impl PartialOrd for ByParts<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(name: &[u8], others: &[&[u8]]) -> u8 {
        let marks = CopyMarks::among(|| others.iter().copied().chain([name]));
        marks.on(name)
    }

    #[test]
    fn marks_of_copies_are_counted() {
        for (name, expected) in [
            ("IMG_1234.jpg", 0),
            ("img_1234 (1).JPG", 1),
            ("IMG_1234(12).jpg", 1),
            ("IMG_1234 (2019).jpg", 0),
            ("IMG_1234 2.jpg", 1),
            ("IMG_1234-1.jpg", 1),
            ("IMG_1234_123.jpg", 1),
            ("IMG_1234_2019.jpg", 0),
            ("IMG_1234~2.jpg", 1),
            ("IMG_1234.1.jpg", 0),
            ("IMG_12345.jpg", 0),
            ("IMG_1234[1].jpg", 1),
            ("IMG_1234 (1) (1).jpg", 2),
            ("Copy of IMG_1234.jpg", 1),
            ("copy of Copy of IMG_1234.jpg", 2),
            ("Copy of IMG_1234 (2).jpg", 2),
            ("Copy (2) of IMG_1234.jpg", 1),
            ("IMG_1234-copy.jpg", 1),
            ("IMG_1234_copy.JPG", 1),
            ("IMG_1234 copy 2.jpg", 2),
            ("IMG_1234 copy2.jpg", 2),
            ("IMG_1234 (copy).jpg", 1),
            ("IMG_1234 (copy 2).jpg", 1),
            ("IMG_1234 (another copy).jpg", 1),
            ("IMG_1234 (3rd copy).jpg", 1),
            ("IMG_1234 - Copy (3).jpg", 2),
            ("IMG_1234 - Kopie.jpg", 1),
            ("IMG_1234 (weitere Kopie).jpg", 0),
            ("IMG_1234 (noch eine Kopie).jpg", 1),
            ("IMG_1234 (3. Kopie).jpg", 1),
            ("IMG_1234 (3e copie).jpg", 1),
            ("Копия IMG_1234.jpg", 1),
            ("IMG_1234 — копия.jpg", 1),
            ("IMG_1234のコピー.jpg", 1),
            ("IMG_1234 のコピー 2.jpg", 2),
            ("IMG_1234のコヒ\u{309a}ー.jpg", 1),
            ("IMG_1234（副本）.jpg", 1),
            ("복사본 IMG_1234.jpg", 1),
            ("IMG_1234.jpg~", 1),
            ("IMG_1234~.jpg", 1),
            ("IMG_1234.jpg.BAK", 1),
            ("._IMG_1234.jpg", 1),
            ("#IMG_1234.jpg#", 2),
            ("IMG_1234.jpg (1)", 1),
            ("IMG_1234 (1)", 1),
            ("IMG_1234 (1).tar.gz", 1),
            ("IMG_1234 Anna's birthday.jpg", 0),
            ("photocopy IMG_1234.jpg", 0),
            ("IMG_1234copy.jpg", 0),
            ("Copy of IMG_1235.jpg", 0),
            ("Copy of.jpg", 0),
            ("(2).jpg", 0),
            (".hidden", 0),
            ("", 0),
        ] {
            assert_eq!(on(name.as_bytes(), &[b"IMG_1234.jpg"]), expected, "{name}");
            // Nothing is a mark that adds nothing to another name.
            assert_eq!(on(name.as_bytes(), &[b"holiday.jpg"]), 0, "{name}");
            assert_eq!(on(b"IMG_1234.jpg", &[name.as_bytes()]), 0, "{name}");
        }
        assert_eq!(on(b"\xff (1).jpg", &[b"\xff.jpg"]), 1);
        assert_eq!(on(b"x copy 2", &[b"x copy"]), 1);
        assert_eq!(on(b"Copy of x (1)", &[b"x (1)", b"Copy of x"]), 1);
        assert_eq!(on(b"Copy of x (1)", &[b"x (1)", b"x"]), 2);
    }

    #[test]
    fn every_pattern_is_a_mark() {
        let patterns = WORDS.lines().filter(|line| !line.starts_with("# "));
        let patterns: Vec<_> = patterns.filter_map(|line| line.split_once("  ")).collect();
        assert!(patterns.len() > 300);
        for (pattern, languages) in patterns {
            let name = pattern.replace('#', "12").replacen('X', "IMG_1234", 1);
            let name = format!("{name}.jpg");
            assert_eq!(on(name.as_bytes(), &[b"IMG_1234.jpg"]), 1, "{name}");
            assert!(!languages.trim().is_empty(), "{pattern}");
        }
    }

    #[test]
    fn most_names_are_told_by_their_ends() {
        for name in [
            "IMG_1234.jpg",
            "main.rs",
            "DSC01234.ARW",
            "a.b.c",
            "libfoo.so",
            "mod.rs",
        ] {
            assert!(!may_be_marked(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_malicious_name_is_no_work() {
        let name = [&b"copy of "[..]; 15].concat();
        let name = [&name[..], b"x", &[&b"-1"[..]; 60].concat()[..]].concat();
        assert_eq!(on(&name, &[b"x"]), 0);
        assert!(may_be_marked(&name));
    }
}
