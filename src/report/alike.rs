//! What tells files apart that show the same: their tags, and parts beside the picture.

use crate::decide::AlikeFile;
use crate::media::Tags;
use crate::units::{Bytes, counted};

/// A kind of tag: the words for a file that has none, and what a file has.
type Kind = (&'static str, fn(&Tags) -> Option<String>);

/// All kinds of tags, in the order in which they are shown.
const KINDS: [Kind; 10] = [
    ("no tags", |tags| {
        (tags.count > 0).then(|| counted(tags.count as u64, "tag", "tags"))
    }),
    ("no date", |tags| said("taken", &tags.date)),
    ("no place", |tags| {
        tags.place
            .map(|(lat, lon)| format!("place {lat:.5}, {lon:.5}"))
    }),
    ("no rating", |tags| said("rating", &tags.rating)),
    ("no faces", |tags| {
        (tags.faces > 0).then(|| counted(tags.faces as u64, "face", "faces"))
    }),
    ("no keywords", |tags| {
        let keywords = || format!("keywords {}", tags.keywords.join(", "));
        (!tags.keywords.is_empty()).then(keywords)
    }),
    ("no title", |tags| {
        tags.title
            .as_ref()
            .map(|title| format!("title \"{title}\""))
    }),
    ("no artist", |tags| said("by", &tags.artist)),
    ("no camera", |tags| said("camera", &tags.camera)),
    ("no software", |tags| said("written by", &tags.software)),
];

fn said(start: &str, value: &Option<String>) -> Option<String> {
    value.as_ref().map(|value| format!("{start} {value}"))
}

/// A line for each file: its size, the tags in which the files differ, and the parts in which it differs from the
/// first.
pub fn describe(files: &[&AlikeFile]) -> Vec<String> {
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| Bytes(file.size).to_string())
        .collect();
    for (none, value) in KINDS {
        let values: Vec<_> = files.iter().map(|file| value(&file.tags)).collect();
        if values.iter().all(|value| *value == values[0]) {
            continue;
        }
        for (line, value) in lines.iter_mut().zip(values) {
            line.push_str("; ");
            line.push_str(value.as_deref().unwrap_or(none));
        }
    }
    for (line, file) in lines.iter_mut().zip(files) {
        for part in files[0].parts.differences(&file.parts) {
            line.push_str("; ");
            line.push_str(part.words());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::PartDigests;

    #[test]
    fn only_what_differs_is_said() {
        let file = |size, rating: Option<&str>, keywords: &[&str], orientation| AlikeFile {
            size,
            parts: PartDigests {
                others: [[orientation; 16], [0; 16], [0; 16], [0; 16]],
                ..PartDigests::default()
            },
            tags: Tags {
                rating: rating.map(str::to_owned),
                keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
                camera: Some("X100".to_owned()),
                ..Tags::default()
            },
            ..AlikeFile::default()
        };
        let files = [
            file(2000, Some("4"), &["sea", "sun"], 1),
            file(1000, None, &[], 6),
        ];
        let expected = [
            "2.0 kB; rating 4; keywords sea, sun",
            "1.0 kB; no rating; no keywords; another orientation",
        ];
        let files: Vec<&AlikeFile> = files.iter().collect();
        assert_eq!(describe(&files), expected);
    }
}
