//! Kinds of files, such as images, and the roles of files that belong together, by the extension of the name.

use std::fmt;
use std::str::FromStr;

/// A kind of file that the user names by one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Photos and drawings, cameras' raw formats included.
    Image,
    /// Films and recordings.
    Video,
    /// Music and speech.
    Audio,
    /// Texts, tables, slides and books.
    Document,
    /// Packed files, disk images and installers.
    Archive,
}

/// The role of a file among files of the same name, such as a photo and what programs put beside it. The first is the
/// main file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A raw photo.
    Raw,
    /// A picture that anybody can open.
    Still,
    /// A film, or the moving part of a live photo.
    Film,
    /// Settings, edits, a small picture, or sound.
    Sidecar,
}

/// Extensions in lower case, without the dot, with their kind and their role. A new one is one word.
const EXTENSIONS: &[(Option<Kind>, Option<Role>, &[&str])] = &[
    (
        Some(Kind::Image),
        Some(Role::Raw),
        &[
            "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dng", "eip", "erf", "fff", "gpr", "iiq",
            "kdc", "mef", "mos", "mrw", "nef", "nrw", "orf", "pef", "raf", "raw", "rw2", "rwl",
            "sr2", "srf", "srw", "x3f",
        ],
    ),
    (
        Some(Kind::Image),
        Some(Role::Still),
        &[
            "ai", "apng", "avif", "bmp", "exr", "gif", "heic", "heif", "hif", "ico", "insp",
            "jfif", "jp2", "jpe", "jpeg", "jpg", "jxl", "pcx", "pgm", "png", "pnm", "ppm", "psb",
            "psd", "svg", "svgz", "tga", "tif", "tiff", "webp", "xcf",
        ],
    ),
    (
        Some(Kind::Video),
        Some(Role::Film),
        &[
            "360", "3g2", "3gp", "asf", "avi", "braw", "divx", "dv", "f4v", "flv", "insv", "m2ts",
            "m2v", "m4v", "mkv", "mod", "mov", "mp", "mp4", "mpe", "mpeg", "mpg", "mts", "mv",
            "mxf", "ogm", "ogv", "qt", "rm", "rmvb", "tod", "ts", "vob", "webm", "wmv",
        ],
    ),
    // The small copy of a film that cameras make, and what a drone or somebody says in it.
    (Some(Kind::Video), Some(Role::Sidecar), &["lrv", "srt"]),
    // The sound of a film, or what the photographer says about a photo. Cameras know it by its name alone (DCF).
    (Some(Kind::Audio), Some(Role::Sidecar), &["wav"]),
    (
        None,
        Some(Role::Sidecar),
        &["aae", "acr", "dop", "on1", "pp3", "thm", "vrd", "xmp"],
    ),
    (
        Some(Kind::Audio),
        None,
        &[
            "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "caf", "dff", "dsf",
            "dts", "flac", "m4a", "m4b", "m4p", "mid", "midi", "mka", "mp2", "mp3", "mpc", "oga",
            "ogg", "opus", "ra", "spx", "tak", "tta", "wma", "wv",
        ],
    ),
    (
        Some(Kind::Document),
        None,
        &[
            "azw", "azw3", "csv", "djv", "djvu", "doc", "docm", "docx", "dot", "dotx", "epub",
            "fb2", "htm", "html", "key", "md", "mobi", "numbers", "odg", "odp", "ods", "odt",
            "pages", "pdf", "pot", "potx", "pps", "ppsx", "ppt", "pptm", "pptx", "ps", "rst",
            "rtf", "tex", "tsv", "txt", "xls", "xlsb", "xlsm", "xlsx", "xps",
        ],
    ),
    (
        Some(Kind::Archive),
        None,
        &[
            "7z", "apk", "ar", "arj", "bz2", "cab", "cpio", "deb", "dmg", "gz", "img", "iso",
            "jar", "lha", "lz", "lz4", "lzh", "lzma", "lzo", "rar", "rpm", "tar", "tbz", "tbz2",
            "tgz", "tlz", "txz", "tzst", "war", "xz", "z", "zip", "zipx", "zst",
        ],
    ),
];

/// Longest extension in the table, bytes.
const LONGEST: usize = 8;

/// The part of a name before a known extension, and what the table says of the extension. Ignores case.
pub(super) fn known(name: &[u8]) -> Option<(&[u8], Option<Kind>, Option<Role>)> {
    // ".zip" is a hidden file called zip.
    let dot = name
        .iter()
        .rposition(|&byte| byte == b'.')
        .filter(|&dot| dot > 0)?;
    let (stem, extension) = (&name[..dot], &name[dot + 1..]);
    let mut lower = [0; LONGEST];
    let lower = lower.get_mut(..extension.len())?;
    lower.copy_from_slice(extension);
    lower.make_ascii_lowercase();
    let has = |row: &&[&str]| {
        row.binary_search_by(|known| known.as_bytes().cmp(lower))
            .is_ok()
    };
    let row = EXTENSIONS.iter().find(|(_, _, row)| has(row))?;
    Some((stem, row.0, row.1))
}

/// A name without its extension, if this is a known one.
pub fn stem(name: &[u8]) -> &[u8] {
    known(name).map_or(name, |(stem, ..)| stem)
}

impl Kind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::Image,
        Self::Video,
        Self::Audio,
        Self::Document,
        Self::Archive,
    ];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "document",
            Self::Archive => "archive",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word names no kind of file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a type of file: use image, video, audio, document or archive")]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_small_and_without_overlap() {
        let mut all = Vec::new();
        for (_, _, row) in EXTENSIONS {
            assert!(row.is_sorted(), "{row:?}");
            assert!(row.iter().all(|e| e.len() <= LONGEST), "{row:?}");
            assert!(row.iter().all(|e| e.to_ascii_lowercase() == *e), "{row:?}");
            all.extend_from_slice(row);
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
