//! Which characters may be shown as they are: all that can be seen.
//!
//! Two different names must not look the same, and no name may change what stands beside it. So whatever a terminal
//! obeys, turns the direction of writing, or shows as nothing or as a blank is unprintable, except the space. The
//! properties are those of Unicode 16, from `regex-syntax` and `unicode-joining-type`.
//!
//! Three invisible characters stay where they change what is seen, since real names need them:
//!
//! - U+FE0F, after a character that it makes an emoji (❤️), and in keycaps (1️⃣);
//! - the zero-width joiner, between two emoji (👩‍🚀) and after a virama (ශ්‍රී), and
//! - the zero-width non-joiner, where it keeps two letters apart that would join (می‌خواهم) and after a virama. For both
//!   joiners these are the rules of internationalized domain names (RFC 5892, appendix A).

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use unicode_joining_type::{JoiningType, get_joining_type};

const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';

/// Control and format characters, what is no character (yet) or private, everything that may be ignored, and what is
/// blank. Of the format characters, some are visible marks before a number.
static HIDDEN: LazyLock<Ranges> = LazyLock::new(|| {
    Ranges::of(
        r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}
            \u{2800}            # Braille pattern blank
            \u{1107f}           # Brahmi number joiner
            \u{13441}\u{13442}  # Egyptian hieroglyph blanks
            \u{16fe4}           # Khitan small script filler
            \u{1d159}           # Musical symbol null notehead
            \u{fffc}            # Object replacement character, which stands for no object here
        ]--[\x20\p{Prepended_Concatenation_Mark}]]",
    )
});

/// The characters that U+FE0F applies to, except keycaps: `emoji-variation-sequences.txt` of Unicode 16 has all emoji
/// of the first plane, all others that are text without it, and these.
static TAKES_EMOJI_STYLE: LazyLock<Ranges> = LazyLock::new(|| {
    Ranges::of(
        r"[[[\p{Emoji}--\p{Emoji_Presentation}][\p{Emoji}&&[\u{0}-\u{ffff}]]
            \u{1f004}\u{1f21a}\u{1f22f}\u{1f30d}-\u{1f30f}\u{1f315}\u{1f31c}\u{1f378}\u{1f393}\u{1f3a7}
            \u{1f3ac}-\u{1f3ae}\u{1f3c2}\u{1f3c4}\u{1f3c6}\u{1f3ca}\u{1f3e0}\u{1f3ed}\u{1f408}\u{1f415}\u{1f41f}
            \u{1f426}\u{1f442}\u{1f446}-\u{1f449}\u{1f44d}\u{1f44e}\u{1f453}\u{1f46a}\u{1f47d}\u{1f4a3}\u{1f4b0}
            \u{1f4b3}\u{1f4bb}\u{1f4bf}\u{1f4cb}\u{1f4da}\u{1f4df}\u{1f4e4}-\u{1f4e6}\u{1f4ea}-\u{1f4ed}\u{1f4f7}
            \u{1f4f9}-\u{1f4fb}\u{1f508}\u{1f50d}\u{1f512}\u{1f513}\u{1f550}-\u{1f567}\u{1f610}\u{1f687}\u{1f68d}
            \u{1f691}\u{1f694}\u{1f698}\u{1f6ad}\u{1f6b2}\u{1f6b9}\u{1f6ba}\u{1f6bc}
        ]--[0-9\#*]]",
    )
});

/// The characters that a joiner can join, with skin tones.
static PICTOGRAPH: LazyLock<Ranges> =
    LazyLock::new(|| Ranges::of(r"[\p{Emoji}&&[\p{Extended_Pictographic}\p{Emoji_Modifier}]]"));

static MARK: LazyLock<Ranges> = LazyLock::new(|| Ranges::of(r"\p{M}"));
static LETTER: LazyLock<Ranges> = LazyLock::new(|| Ranges::of(r"\p{Lo}"));
static VIRAMA: LazyLock<Ranges> = LazyLock::new(|| Ranges::of(r"\p{Grapheme_Link}"));

/// True if every character of the text may be shown as it is.
pub fn is_printable(text: &str) -> bool {
    // Most names are plain ASCII, and this is an inner loop of every report: it has no branch for each byte.
    let is_ascii = text
        .bytes()
        .fold(true, |all, b| all & matches!(b, b' '..=b'~'));
    is_ascii || characters(text).all(|(_, _, stays)| stays)
}

/// Each character with its place, and whether it may be shown as it is.
///
/// A space at the end of a name cannot be seen either; only who shows the name knows where it ends.
pub fn characters(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let mut is_base = false;
    text.char_indices().map(move |(at, c)| {
        let stays = match c {
            ' '..='~' => true,
            // A mark without a character below it is drawn onto something else.
            c if !HIDDEN.has(c) => is_base || !MARK.has(c),
            // What is escaped itself has nothing to be changed.
            c => is_base && is_seen(&text[..at], c, &text[at + c.len_utf8()..]),
        };
        is_base = stays && c != ' ';
        (at, c, stays)
    })
}

/// True if a character that is nothing by itself changes what is seen of its neighbours.
fn is_seen(before: &str, c: char, after: &str) -> bool {
    let last = before.chars().next_back();
    let next = after.chars().next();
    let is_virama = last.is_some_and(|c| VIRAMA.has(c));
    match c {
        EMOJI_STYLE => last.is_some_and(|last| match last {
            '0'..='9' | '#' | '*' => next == Some(KEYCAP),
            last => TAKES_EMOJI_STYLE.has(last),
        }),
        JOINER => is_virama || (ends_in_pictograph(before) && next.is_some_and(is_pictograph)),
        NON_JOINER => (is_virama && next.is_some_and(|c| LETTER.has(c))) || parts(before, after),
        _ => false,
    }
}

fn is_pictograph(c: char) -> bool {
    PICTOGRAPH.has(c)
}

fn ends_in_pictograph(text: &str) -> bool {
    match text.strip_suffix(EMOJI_STYLE) {
        Some(text) => text.ends_with(|c| TAKES_EMOJI_STYLE.has(c)),
        None => text.ends_with(is_pictograph),
    }
}

/// True if the letters at these ends would join. Marks on them count for nothing.
fn parts(before: &str, after: &str) -> bool {
    let joining = |c: char| {
        if HIDDEN.has(c) {
            JoiningType::NonJoining
        } else {
            get_joining_type(c)
        }
    };
    let letter = |joining: &JoiningType| *joining != JoiningType::Transparent;
    let one = before.chars().rev().map(joining).find(letter);
    let other = after.chars().map(joining).find(letter);
    use JoiningType::{DualJoining, LeftJoining, RightJoining};
    matches!(one, Some(LeftJoining | DualJoining))
        && matches!(other, Some(RightJoining | DualJoining))
}

/// Characters as ranges, in order.
struct Ranges(Vec<(char, char)>);

impl Ranges {
    /// All that a pattern for one character matches. The patterns above are constants and right, which a test shows.
    fn of(pattern: &str) -> Self {
        let hir = regex_syntax::ParserBuilder::new()
            .ignore_whitespace(true)
            .build()
            .parse(pattern);
        let ranges = match hir.as_ref().map(|hir| hir.kind()) {
            Ok(HirKind::Class(Class::Unicode(class))) => class.ranges(),
            _ => &[],
        };
        Self(ranges.iter().map(|r| (r.start(), r.end())).collect())
    }

    fn has(&self, c: char) -> bool {
        let place = self.0.partition_point(|&(_, end)| end < c);
        self.0.get(place).is_some_and(|&(start, _)| start <= c)
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn every_pattern_is_understood() {
        for (ranges, has) in [
            (&HIDDEN, '\u{3164}'),
            (&TAKES_EMOJI_STYLE, '❤'),
            (&PICTOGRAPH, '🚀'),
            (&MARK, '\u{301}'),
            (&LETTER, 'क'),
            (&VIRAMA, '\u{94d}'),
        ] {
            assert!(ranges.has(has), "{has}");
            assert!(!ranges.has('a'), "{has}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_unprintable_wherever_it_stands() {
        let alone = "\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}\u{34f}\u{e0001}\u{e0020}\u{e0041}\u{e007f}\u{e0100}\
                     \u{e01ef}\u{fe00}\u{fe0e}\u{ad}\u{61c}\u{180b}\u{180e}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\
                     \u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{206f}\u{feff}\u{fff9}\u{fffb}\u{fff0}\u{17b4}\
                     \u{1d159}\u{fffc}\u{1d173}\u{1bca0}\u{13430}\u{13441}\u{16fe4}\u{a0}\u{1680}\u{2000}\u{2007}\u{200a}\
                     \u{202f}\u{205f}\u{3000}\u{85}\u{9b}\u{7f}\u{1b}\n\t\r\0\u{e000}\u{f8ff}\u{f0000}\u{10ffff}\
                     \u{fdd0}\u{ffff}\u{378}\u{e0fff}";
        let around = [
            "",
            "a",
            "❤",
            "👩",
            "1",
            "न",
            "क\u{94d}",
            "ب",
            " ",
            "\u{301}",
            "\u{fe0f}",
            "\u{200d}",
        ];
        for c in alone.chars() {
            for (before, after) in around
                .iter()
                .flat_map(|one| around.map(|other| (*one, other)))
            {
                let text = format!("{before}{c}{after}");
                let at = before.len();
                let found = characters(&text).find(|&(place, ..)| place == at);
                assert_eq!(found, Some((at, c, false)), "{}", text.escape_unicode());
            }
        }
    }

    #[test]
    fn names_as_people_write_them_are_printable() {
        for name in [
            "❤️.jpg",
            "1️⃣ #️⃣ *️⃣",
            "☎️ ⌚️ ⭐️ ©️ 🏳️‍🌈 🏴‍☠️ ❤️‍🔥 👁️‍🗨️",
            "👩‍🚀 👩🏽‍🚀 🧑🏽‍❤️‍🧑🏻 👨‍👩‍👧‍👦 🏃🏽‍♀️‍➡️ 🇩🇪",
            "می‌خواهم نامه‌ها",
            "क्‍ष क्‌ष ශ්‍රී ക്‍",
            "e\u{301} Tiếng Việt 日本語 한국어 ภาษาไทย עִבְרִית العَرَبِيَّة",
            "Größe ½ € – … “x” ‹y› \u{fffd}",
            "\u{600}١٢",
        ] {
            let hidden: Vec<_> = characters(name).filter(|&(_, _, stays)| !stays).collect();
            assert!(hidden.is_empty(), "{name}: {hidden:?}");
        }
    }

    #[test]
    fn what_shapes_its_neighbours_is_unprintable_where_it_shapes_nothing() {
        for name in [
            "a\u{fe0f}",
            "\u{fe0f}",
            " \u{fe0f}",
            "1\u{fe0f}",
            "1\u{fe0f}x",
            "❤️\u{fe0f}",
            "😀\u{fe0f}",
            "日\u{fe0f}",
            "a\u{200d}b",
            "\u{200d}",
            "👩\u{200d}",
            "\u{200d}👩",
            "👩\u{200d}a",
            "👩\u{200d}\u{200d}🚀",
            "ب\u{200d}ب",
            "a\u{200c}b",
            "د\u{200c}ا",
            "ب\u{200c}",
            "ب\u{200c}.jpg",
            "ب\u{200c}\u{200c}ب",
            "ب\u{200c}\u{61c}ب",
            "क\u{94d}\u{200c}.jpg",
            "\u{301}a",
            "a \u{301}",
            "\u{200b}\u{301}",
            "1\u{200d}\u{20e3}",
            "\u{94d}\u{200d}",
        ] {
            assert!(!is_printable(name), "{}", name.escape_unicode());
        }
    }

    /// Another crate's table of the same sequences: with U+FE0F a character is as wide as an emoji, with U+FE0E as
    /// narrow as text.
    #[test]
    fn emoji_style_is_taken_where_the_sequences_say_so() {
        let wide = "\u{303d}\u{3030}\u{3297}\u{3299}\u{1f202}\u{1f21a}\u{1f22f}\u{1f237}";
        for c in ('\u{80}'..=char::MAX).filter(|&c| !HIDDEN.has(c)) {
            let alone = c.to_string().width();
            let has_style = |style| format!("{c}{style}").width() != alone;
            let is_known = has_style('\u{fe0f}') || has_style('\u{fe0e}') || wide.contains(c);
            assert_eq!(TAKES_EMOJI_STYLE.has(c), is_known, "{:x}", u32::from(c));
        }
    }
}
