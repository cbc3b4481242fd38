//! Files that are made to take time or memory, or to end a program.

use std::cell::Cell;
use std::io;

use proptest::prelude::*;

use super::super::blocks::irb;
use super::super::payload::Draft;
use super::super::source::Reader;
use super::super::span::Span;
use super::super::{LookError, Source, look, look_at_headers, tags};
use super::made::{self, Made, directory, iso, jpeg, long, made, made_part};

/// Bytes, and how many of them were read.
struct Counted<'a>(&'a [u8], Cell<u64>);

impl Source for Counted<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.1.set(self.1.get() + buffer.len() as u64);
        self.0.read_at(offset, buffer)
    }
}

/// Looks at bytes; whatever they are, it ends, and what it returns can be hashed.
fn survives(bytes: &[u8]) {
    let source = Counted(bytes, Cell::new(0));
    if let Ok(Some(media)) = look(&source) {
        let parts = &media.parts;
        for part in parts.all() {
            part.digest(&media.format.domain(), &source)
                .expect("all spans lie inside");
        }
        assert!(parts.picture.from_file() <= 2 * bytes.len() as u64 + 1);
    }
    assert!(source.1.get() <= 65 << 20);
    let read = [look_at_headers(&source).is_err(), tags(&source).is_err()];
    assert!(
        read.iter()
            .all(|is_refused| *is_refused == look(&source).is_err())
    );
}

/// First bytes of the formats.
const STARTS: [&[u8]; 10] = [
    b"\xFF\xD8\xFF",
    b"\x89PNG\r\n\x1A\n",
    b"II*\0\x08\0\0\0",
    b"MM\0*\0\0\0\x08",
    b"RIFF\x40\0\0\0WEBP",
    b"ID3\x03\0\0\0\0\0\0",
    b"fLaC",
    b"\0\0\0\x0Cftypheic",
    b"\0\0\0\x10moov",
    b"",
];

fn any_made() -> impl Strategy<Value = Vec<u8>> {
    let all = made::all().into_iter().map(|(_, made)| made.bytes);
    prop::sample::select(all.collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn fuzz_damaged_media(
        mut bytes in any_made(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0), Just(0xFF), any::<u8>()]), 1..12),
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn fuzz_damaged_media_of_two(
        one in any_made(),
        other in any_made(),
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
    ) {
        survives(&[&one[..at.index(one.len())], &other[from.index(other.len())..]].concat());
    }

    #[test]
    fn fuzz_arbitrary_media(
        start in prop::sample::select(&STARTS[..]),
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        survives(&[start, &rest].concat());
    }
}

#[test]
fn files_that_end_anywhere_are_survived() {
    for (_, made) in made::all() {
        for end in 0..made.bytes.len() {
            survives(&made.bytes[..end]);
        }
    }
}

fn refused(made: &Made) -> LookError {
    look(&&made.bytes[..]).expect_err("it is not sound")
}

#[test]
fn lengths_beyond_all_files_are_refused() {
    let huge = made()
        .part([0, 0, 0, 1])
        .part(b"mdat")
        .part((1_u64 << 63).to_be_bytes());
    let film = iso(b"ftyp", &[made_part(b"isom\0\0\0\0")]).with(&huge);
    assert!(matches!(refused(&film), LookError::Damaged(_)));
    let tags = [
        long(0x0100, 1),
        made::Tag(0x0111, made::LONG, vec![0xFF; 4], false),
    ];
    let tiff = made_part(b"II*\0\x08\0\0\0").with(&directory(8, &tags, 0));
    survives(&tiff.bytes);
    let id3 = made_part(b"ID3\x03\0\0\x7F\x7F\x7F\x7F rest");
    assert!(matches!(refused(&id3), LookError::Damaged(_)));
}

#[test]
fn directories_that_point_to_each_other_are_refused() {
    let next = made_part(b"II*\0\x08\0\0\0").with(&directory(8, &[long(0x0100, 1)], 8));
    assert!(matches!(refused(&next), LookError::Damaged(_)));
    let sub = made_part(b"II*\0\x08\0\0\0").with(&directory(8, &[long(0x014A, 8)], 0));
    assert!(matches!(refused(&sub), LookError::Damaged(_)));
}

#[test]
fn boxes_in_boxes_without_end_are_refused_or_left() {
    let mut inner = made_part(b"x");
    for _ in 0..2000 {
        inner = iso(b"moov", &[inner]);
    }
    let bytes = iso(b"ftyp", &[made_part(b"isom\0\0\0\0")]).with(&inner);
    assert!(matches!(refused(&bytes), LookError::Damaged(_)));
}

#[test]
fn a_table_that_promises_more_than_there_is_takes_no_memory() {
    for (name, made) in made::all() {
        for at in 0..made.bytes.len().saturating_sub(4) {
            let mut bytes = made.bytes.clone();
            bytes[at..at + 4].fill(0xFF);
            survives(&bytes);
            bytes[at] = 0x7F;
            survives(&bytes);
        }
        assert!(!name.is_empty());
    }
}

/// A HEIF file of so many items, each in so many pieces, which take no bytes in the list or two; then boxes of data.
fn pieces(items: u16, pieces: u16, sizes: [u8; 2], boxes: usize) -> Made {
    let infe = iso(b"infe", &[made_part(b"\x02\0\0\0\0\x01\0\0hvc1\0")]);
    let piece = if sizes == [0, 0] { &[][..] } else { &[0, 1] };
    let one = [
        &[0, 1, 0, 0][..],
        &pieces.to_be_bytes(),
        &piece.repeat(pieces.into()),
    ]
    .concat();
    let head = [&[0; 4][..], &sizes, &items.to_be_bytes()].concat();
    let iloc = [&head[..], &one.repeat(items.into())].concat();
    let meta = [
        made_part(&[0; 4]),
        iso(b"pitm", &[made_part(&[0, 0, 0, 0, 0, 1])]),
        iso(b"iinf", &[made_part(&[0, 0, 0, 0, 0, 1]), infe]),
        iso(b"iloc", &[made_part(&iloc)]),
        iso(b"iprp", &[iso(b"ipco", &[])]),
    ];
    let data = iso(b"mdat", &[]).bytes.repeat(boxes);
    let ftyp = iso(b"ftyp", &[made_part(b"heic\0\0\0\0")]);
    ftyp.with(&iso(b"meta", &meta)).part(data)
}

#[test]
fn pictures_in_millions_of_pieces_are_not_put_together() {
    let few = pieces(1, 2, [0x11, 0], 1);
    assert!(look(&&few.bytes[..]).expect("sound").is_some());
    for many in [
        pieces(60_000, 60_000, [0, 0], 1),
        pieces(1, 60_000, [0x11, 0], 1000),
    ] {
        assert!(matches!(refused(&many), LookError::Unsupported(_)));
    }
}

#[test]
fn strips_that_share_their_bytes_are_not_hashed_without_end() {
    let many = |start: u32, count: u32| {
        (0..count)
            .flat_map(|_| start.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let tags = [
        made::Tag(0x0111, made::LONG, many(0, 500), false),
        made::Tag(0x0117, made::LONG, many(400, 500), false),
    ];
    let tiff = made_part(b"II*\0\x08\0\0\0").with(&directory(8, &tags, 0));
    survives(&tiff.bytes);
}

#[test]
fn hundreds_of_thousands_of_image_resources_are_one_piece() {
    for (resources, pieces) in [(1000, 3000), (300_000, 2)] {
        let block = b"8BIM\x77\x77\0\0\0\0\0\x01X\0".repeat(resources);
        let mut draft = Draft::default();
        let source = &block[..];
        let mut reader = Reader::new(&source).expect("bytes");
        irb::take(&mut reader, &[Span::new(0, block.len() as u64)], &mut draft).expect("bytes");
        assert_eq!(draft.parts.picture.pieces().count(), pieces);
    }
}

/// What is kept of each would take 100 bytes.
#[test]
fn hundreds_of_thousands_of_small_parts_are_refused() {
    let many = |start: &[u8], part: &[u8]| [start, &part.repeat(300_000)].concat();
    for file in [
        many(b"\xFF\xD8", b"\xFF\xE7\0\x03x"),
        many(b"\x89PNG\r\n\x1A\n", b"\0\0\0\0abCd...."),
        many(
            b"RIFF\x16\x9F\x24\0WEBPVP8X\x0A\0\0\0..........",
            b"ANMF\0\0\0\0",
        ),
        many(b"fLaC", b"\x02\0\0\0"),
    ] {
        assert!(matches!(look(&&file[..]), Err(LookError::Unsupported(_))));
    }
}

#[test]
fn a_plain_photo_is_known_by_its_head_and_its_end() {
    let mut photo = jpeg(&[], b"").bytes;
    let end = photo.split_off(photo.len() - 2);
    photo.extend(vec![7; 8 << 20]);
    photo.extend(end);
    let source = Counted(&photo, Cell::new(0));
    assert!(look(&source).expect("sound").is_some());
    assert!(source.1.get() <= 68 << 10);
}
