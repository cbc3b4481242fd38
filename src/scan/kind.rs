//! Kinds of files, such as images, by the extension of the name.

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

/// Longest extension in the tables, bytes.
const LONGEST: usize = 8;

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

    /// Extensions, in lower case, without the dot.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Image => &[
                "3fr", "ai", "apng", "arw", "avif", "bmp", "cr2", "cr3", "crw", "dcr", "dng",
                "erf", "exr", "gif", "heic", "heif", "hif", "ico", "iiq", "insp", "jfif", "jp2",
                "jpe", "jpeg", "jpg", "jxl", "kdc", "mef", "mos", "mrw", "nef", "nrw", "orf",
                "pcx", "pef", "pgm", "png", "pnm", "ppm", "psb", "psd", "raf", "raw", "rw2", "rwl",
                "sr2", "srf", "srw", "svg", "svgz", "tga", "tif", "tiff", "webp", "x3f", "xcf",
            ],
            Self::Video => &[
                "3g2", "3gp", "asf", "avi", "divx", "dv", "f4v", "flv", "insv", "lrv", "m2ts",
                "m2v", "m4v", "mkv", "mod", "mov", "mp4", "mpe", "mpeg", "mpg", "mts", "mxf",
                "ogm", "ogv", "qt", "rm", "rmvb", "tod", "ts", "vob", "webm", "wmv",
            ],
            Self::Audio => &[
                "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "caf", "dff",
                "dsf", "dts", "flac", "m4a", "m4b", "m4p", "mid", "midi", "mka", "mp2", "mp3",
                "mpc", "oga", "ogg", "opus", "ra", "spx", "tak", "tta", "wav", "wma", "wv",
            ],
            Self::Document => &[
                "azw", "azw3", "csv", "djv", "djvu", "doc", "docm", "docx", "dot", "dotx", "epub",
                "fb2", "htm", "html", "key", "md", "mobi", "numbers", "odg", "odp", "ods", "odt",
                "pages", "pdf", "pot", "potx", "pps", "ppsx", "ppt", "pptm", "pptx", "ps", "rst",
                "rtf", "tex", "tsv", "txt", "xls", "xlsb", "xlsm", "xlsx", "xps",
            ],
            Self::Archive => &[
                "7z", "apk", "ar", "arj", "bz2", "cab", "cpio", "deb", "dmg", "gz", "img", "iso",
                "jar", "lha", "lz", "lz4", "lzh", "lzma", "lzo", "rar", "rpm", "tar", "tbz",
                "tbz2", "tgz", "tlz", "txz", "tzst", "war", "xz", "z", "zip", "zipx", "zst",
            ],
        }
    }

    /// True if a file of this name is of this kind. Ignores case.
    pub fn fits(self, name: &[u8]) -> bool {
        let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else {
            return false;
        };
        let extension = &name[dot + 1..];
        // ".zip" is a hidden file called zip.
        if dot == 0 || extension.len() > LONGEST {
            return false;
        }
        let mut lower = [0; LONGEST];
        let lower = &mut lower[..extension.len()];
        lower.copy_from_slice(extension);
        lower.make_ascii_lowercase();
        let table = self.extensions();
        table
            .binary_search_by(|known| known.as_bytes().cmp(lower))
            .is_ok()
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
        for kind in Kind::ALL {
            let table = kind.extensions();
            assert!(table.is_sorted(), "{kind}");
            assert!(table.iter().all(|e| e.len() <= LONGEST), "{kind}");
            assert!(table.iter().all(|e| e.to_ascii_lowercase() == *e), "{kind}");
            all.extend_from_slice(table);
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn names_are_told_by_their_last_extension() {
        for (name, kind) in [
            (&b"a.jpg"[..], Some(Kind::Image)),
            (b"A.JPG", Some(Kind::Image)),
            (b"\xff\xfe.Mp4", Some(Kind::Video)),
            (b"song.flac", Some(Kind::Audio)),
            (b"x.tar.gz", Some(Kind::Archive)),
            (b"sheet.numbers", Some(Kind::Document)),
            (b"jpg", None),
            (b".jpg", None),
            (b"a.", None),
            (b"a.\xff", None),
            (b"a.jpgjpgjpgjpg", None),
            (b"", None),
        ] {
            let found = Kind::ALL.into_iter().find(|kind| kind.fits(name));
            assert_eq!(found, kind, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn words_are_read_back() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("picture".parse::<Kind>().is_err());
    }
}
