//! What is written is read, and what is damaged is refused: without a panic, without end, and without memory that the
//! file does not deserve.

use std::fs::File;
use std::io::Write;

use parquet::basic::{Compression, ZstdLevel};
use proptest::prelude::*;

use super::column::silence_decoder;
use super::error::CatalogError;
use super::facts::Facts;
use super::pages::{decompressed, is_flat};
use super::reader::Catalog;
use super::row::{Kind, Row, WholeDigest};
use super::schema::MOST;
use super::writer::Writer;
use crate::hash::{ContentDigest, SampleDigest};
use crate::tree::Special;

/// A row that owns what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    kind: Kind,
    dir: Vec<u8>,
    name: Vec<u8>,
    ints: [Option<i64>; 12],
    digests: [Option<[u8; 16]>; 2],
    content: Option<(bool, [u8; 32])>,
    texts: [Option<String>; 2],
}

impl Owned {
    fn row(&self) -> Row<'_> {
        let content = |(is_blake3, bytes)| match is_blake3 {
            true => WholeDigest::Blake3(ContentDigest::from_bytes(bytes)),
            false => WholeDigest::Sha256(bytes),
        };
        let [head, tail] = self.digests.map(|it| it.map(SampleDigest::from_bytes));
        let [volume, error] = [&self.texts[0], &self.texts[1]].map(Option::as_deref);
        let [
            size,
            allocated,
            mtime_ns,
            ctime_ns,
            inode,
            subvolume,
            links,
            mode,
            uid,
            gid,
            read_ns,
            verified_ns,
        ] = self.ints;
        Row {
            volume,
            kind: self.kind,
            dir: &self.dir,
            name: &self.name,
            target: Some(&self.name)
                .filter(|_| self.kind == Kind::Link)
                .map(|it| &it[..]),
            size,
            allocated,
            mtime_ns,
            ctime_ns,
            inode,
            subvolume,
            links,
            mode,
            uid,
            gid,
            head,
            tail,
            digest: self.content.map(content),
            error,
            read_ns,
            verified_ns,
            ..Row::default()
        }
    }
}

prop_compose! {
    fn owned()(
        kind in prop::sample::select(vec![Kind::File, Kind::Link, Kind::Folder, Kind::Special(Special::Fifo), Kind::Unknown]),
        dir in prop::collection::vec(any::<u8>(), 0..30),
        name in prop::collection::vec(any::<u8>(), 0..12),
        ints in any::<[Option<i64>; 12]>(),
        digests in any::<[Option<[u8; 16]>; 2]>(),
        content in any::<Option<(bool, [u8; 32])>>(),
        texts in any::<[Option<String>; 2]>(),
    ) -> Owned {
        Owned { kind, dir, name, ints, digests, content, texts }
    }
}

fn written(rows: &[Owned], compression: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    let facts = Facts::new("host".to_owned(), "2026-11-27T20:00:00Z".to_owned());
    let mut writer = Writer::with(&mut bytes, facts, compression).expect("begun");
    for owned in rows {
        writer.row(&owned.row()).expect("written");
    }
    writer.finish().expect("ended");
    bytes
}

fn opened(bytes: &[u8]) -> Result<Catalog, CatalogError> {
    let mut file: File = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    Catalog::of(file, bytes.len() as u64)
}

/// Reads all of it; returns how many rows equal these, one after the other.
fn read(bytes: &[u8], expected: &[Owned]) -> Result<usize, CatalogError> {
    let catalog = opened(bytes)?;
    let mut equal = 0;
    let mut expected = expected.iter();
    catalog.each(|row| {
        let (host, scan) = (None, None);
        let own = Row { host, scan, ..*row };
        equal += usize::from(expected.next().is_some_and(|it| it.row() == own));
    })?;
    Ok(equal)
}

const COMPRESSIONS: [fn() -> Compression; 2] = [
    || Compression::ZSTD(ZstdLevel::default()),
    || Compression::UNCOMPRESSED,
];

proptest! {
    #[test]
    fn every_row_comes_back(rows in prop::collection::vec(owned(), 0..40), which in 0..2_usize) {
        let bytes = written(&rows, COMPRESSIONS[which]());
        prop_assert_eq!(read(&bytes, &rows).expect("read"), rows.len());
    }

    /// Without compression, most damages reach the decoders.
    #[test]
    fn fuzz_damaged_catalogs(
        rows in prop::collection::vec(owned(), 1..12),
        which in 0..2_usize,
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6),
    ) {
        silence_decoder();
        let mut bytes = written(&rows, COMPRESSIONS[which]());
        for (place, byte, kind) in damages {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes.truncate(at.max(1)),
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes[at] = byte,
            }
            if bytes.is_empty() {
                break;
            }
        }
        // It says what is wrong, or nothing that is read was hit.
        let _ = read(&bytes, &rows);
    }

    #[test]
    fn fuzz_arbitrary_page_headers(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let taken = decompressed(&bytes, 100, 1000);
        prop_assert!(taken.is_none_or(|taken| taken <= 1000));
        is_flat(&bytes, 100);
    }
}

/// Thrift's compact protocol: a number, folded.
fn field(kind: u8, step: u8, number: i64) -> Vec<u8> {
    let mut bytes = vec![step << 4 | kind];
    let mut folded = (number << 1 ^ number >> 63).cast_unsigned();
    while folded >= 0x80 {
        bytes.push(folded as u8 | 0x80);
        folded >>= 7;
    }
    bytes.push(folded as u8);
    bytes
}

/// A page without bytes that claims this much.
fn page(kind: i64, size: i64, count: i64, encoding: i64) -> Vec<u8> {
    let inner = [field(5, 1, count), field(5, 1, encoding), vec![0]].concat();
    let step = if kind == 0 { 2 } else { 4 };
    let head = [field(5, 1, kind), field(5, 1, size), field(5, 1, 0)].concat();
    [head, vec![step << 4 | 12], inner, vec![0]].concat()
}

#[test]
fn a_page_that_claims_more_than_a_row_group_has_is_refused() {
    let most = MOST as i64;
    let is_taken = |bytes: &[u8]| decompressed(bytes, 1000, MOST).is_some();
    for (case, taken, bytes) in [
        ("a page", true, page(0, 100, 1000, 0)),
        ("a dictionary", true, page(2, 100, 1000, 0)),
        ("the largest page", true, page(0, most, 1000, 0)),
        ("a larger one", false, page(0, most + 1, 1000, 0)),
        (
            "two of half the size",
            true,
            [page(0, most / 2, 1, 0), page(0, most / 2, 1, 0)].concat(),
        ),
        (
            "and one more",
            false,
            [page(0, most, 1, 0), page(0, 1, 1, 0)].concat(),
        ),
        ("2 GiB", false, page(0, i32::MAX.into(), 1, 0)),
        ("less than nothing", false, page(0, -1, 1, 0)),
        ("too many values", false, page(0, 100, 1001, 0)),
        (
            "a dictionary of too many",
            false,
            page(2, 100, i32::MAX.into(), 0),
        ),
        ("fewer than no values", false, page(0, 100, -1, 0)),
        (
            "values that share their beginnings",
            false,
            page(0, 100, 1, 7),
        ),
        ("the second version of pages", false, page(3, 100, 1, 0)),
    ] {
        assert_eq!(is_taken(&bytes), taken, "{case}");
    }
}

/// The decoder would follow groups in groups until its stack ends.
#[test]
fn a_schema_of_groups_in_groups_is_refused() {
    let element = [field(5, 5, 1), vec![0]].concat();
    let footer = |groups: u8| {
        let elements = element.repeat(groups.into());
        [vec![0x29, 0xfc, groups], elements, vec![0]].concat()
    };
    assert!(is_flat(&footer(1), 100));
    assert!(!is_flat(&footer(2), 100));
    assert!(!is_flat(&footer(1), 0) || !is_flat(&footer(100), 10));
}
