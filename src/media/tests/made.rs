//! Tiny files of each format, which know of each byte what it is.

use std::ops::Range;

/// Bytes of a file that is put together, and what they are. All others belong to a part.
#[derive(Clone, Default)]
pub struct Made {
    pub bytes: Vec<u8>,
    /// Any value is the same file.
    pub harmless: Vec<Range<usize>>,
    /// Lengths and offsets: another value is another file, a damaged one, or says the same in another way.
    pub structure: Vec<Range<usize>>,
}

impl Made {
    pub fn part(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.bytes.extend_from_slice(bytes.as_ref());
        self
    }

    pub fn harmless(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let start = self.bytes.len();
        self = self.part(bytes);
        self.harmless.push(start..self.bytes.len());
        self
    }

    pub fn structure(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let start = self.bytes.len();
        self = self.part(bytes);
        self.structure.push(start..self.bytes.len());
        self
    }

    pub fn with(mut self, other: &Self) -> Self {
        let start = self.bytes.len();
        let moved = |range: &Range<usize>| range.start + start..range.end + start;
        self.harmless.extend(other.harmless.iter().map(moved));
        self.structure.extend(other.structure.iter().map(moved));
        self.part(&other.bytes)
    }

    /// The same, with every byte a matter of structure.
    pub fn all_structure(bytes: impl AsRef<[u8]>) -> Self {
        Self::default().structure(bytes)
    }

    pub fn is_harmless(&self, at: usize) -> bool {
        self.harmless.iter().any(|range| range.contains(&at))
    }

    pub fn is_structure(&self, at: usize) -> bool {
        self.structure.iter().any(|range| range.contains(&at))
    }
}

pub fn made() -> Made {
    Made::default()
}

// ---- JPEG

/// A segment whose bytes are harmless after a name.
pub fn harmless_segment(marker: u8, name: &[u8], harmless: &[u8]) -> Made {
    let length = (2 + name.len() + harmless.len()) as u16;
    made()
        .structure([0xFF, marker])
        .structure(length.to_be_bytes())
        .structure(name)
        .harmless(harmless)
}

pub fn segment(marker: u8, body: &[u8]) -> Made {
    let length = (2 + body.len()) as u16;
    made()
        .structure([0xFF, marker])
        .structure(length.to_be_bytes())
        .part(body)
}

pub fn exif_segment(exif: &Made) -> Made {
    let length = (2 + 6 + exif.bytes.len()) as u16;
    made()
        .structure([0xFF, 0xE1])
        .structure(length.to_be_bytes())
        .structure(b"Exif\0\0")
        .with(exif)
}

/// The segments that a decoder needs, and the data; with some segments before them and bytes after them.
pub fn jpeg(before: &[Made], after: &[u8]) -> Made {
    let start = made().structure([0xFF, 0xD8]);
    let made = before.iter().fold(start, Made::with);
    let quantisation: Vec<u8> = (0..65).collect();
    let made = made.with(&segment(0xDB, &quantisation));
    let made = made.with(&segment(
        0xC0,
        &[8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0],
    ));
    let made = made.with(&segment(0xC4, &[0; 18]));
    let made = made.with(&segment(0xDA, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]));
    made.part(b"entropy coded data \xFF\x00\xFF\xD0 goes on")
        .structure([0xFF, 0xD9])
        .part(after)
}

// ---- TIFF

pub const SHORT: u16 = 3;
pub const LONG: u16 = 4;
pub const BYTES: u16 = 7;

/// A tag with its value, and if that is harmless.
pub struct Tag(pub u16, pub u16, pub Vec<u8>, pub bool);

pub fn short(tag: u16, value: u16) -> Tag {
    Tag(tag, SHORT, value.to_le_bytes().to_vec(), false)
}

pub fn long(tag: u16, value: u32) -> Tag {
    Tag(tag, LONG, value.to_le_bytes().to_vec(), false)
}

pub fn text(tag: u16, value: &str) -> Tag {
    Tag(tag, 2, value.into(), true)
}

/// A directory that begins at an offset, with the values outside of it after it.
pub fn directory(at: usize, tags: &[Tag], next: u32) -> Made {
    let mut made = Made::all_structure((tags.len() as u16).to_le_bytes());
    let mut values = Made::default();
    let values_at = at + 2 + 12 * tags.len() + 4;
    for Tag(tag, kind, value, is_harmless) in tags {
        let size = match *kind {
            SHORT => 2,
            LONG => 4,
            _ => 1,
        };
        let count = (value.len() / size) as u32;
        let head = [
            &tag.to_le_bytes()[..],
            &kind.to_le_bytes(),
            &count.to_le_bytes(),
        ]
        .concat();
        made = made.structure(head);
        let is_pointer = matches!(*tag, 0x8769 | 0x8825 | 0x0111);
        if value.len() <= 4 {
            made = match (is_pointer, is_harmless) {
                (true, _) => made.structure(value),
                (_, true) => made.harmless(value),
                _ => made.part(value),
            };
            // No decoder asks for it.
            made = made.harmless(vec![0; 4 - value.len()]);
        } else {
            made = made.structure(((values_at + values.bytes.len()) as u32).to_le_bytes());
            values = if *is_harmless {
                values.harmless(value)
            } else {
                values.part(value)
            };
        }
    }
    made.structure(next.to_le_bytes()).with(&values)
}

/// EXIF with a person, an orientation, a thumbnail, a maker's note and a place.
pub fn exif(orientation: u16, note: &[u8]) -> Made {
    let mut tags = vec![
        text(0x010F, "A Maker"),
        short(0x0112, orientation),
        text(0x013B, "A Person"),
    ];
    tags.push(long(0x8769, 0));
    let at = 8 + directory(8, &tags, 0).bytes.len();
    tags[3] = long(0x8769, at as u32);
    let mut sub = vec![text(0x9003, "2020:01:02 03:04:05")];
    if !note.is_empty() {
        sub.push(Tag(0x927C, BYTES, note.to_vec(), false));
    }
    let sub = directory(at, &sub, 0);
    let next = at + sub.bytes.len();
    let thumbnail = directory(next, &[Tag(0x0111, BYTES, b"thumbnail".to_vec(), true)], 0);
    let first = directory(8, &tags, next as u32);
    Made::all_structure(b"II*\0\x08\0\0\0")
        .with(&first)
        .with(&sub)
        .with(&thumbnail)
}

/// A picture of eight pixels in one strip; a gap that something unknown may point to.
pub fn tiff() -> Made {
    let tags = |strip: usize| {
        vec![
            short(0x0100, 8),
            short(0x0101, 1),
            text(0x010E, "description"),
            long(0x0111, strip as u32),
            text(0x0132, "2020:01:02 03:04:05"),
            long(0x0117, 8),
            Tag(0x7777, BYTES, b"unknown".to_vec(), false),
        ]
    };
    let end = 8 + directory(8, &tags(0), 0).bytes.len();
    let made = Made::all_structure(b"II*\0\x08\0\0\0").with(&directory(8, &tags(end), 0));
    made.part(b"8 pixels").part(b"a gap, not empty")
}

// ---- chunks

pub fn png_chunk(kind: &[u8; 4], data: &Made) -> Made {
    let length = (data.bytes.len() as u32).to_be_bytes();
    let chunk = made().structure(length).structure(kind).with(data);
    let checksum = checksum(&chunk.bytes[4..]).to_be_bytes();
    chunk.structure(checksum)
}

/// CRC-32.
fn checksum(bytes: &[u8]) -> u32 {
    let bits = |byte: &u8| [0, 1, 2, 3, 4, 5, 6, 7].map(|n| u32::from(byte >> n & 1));
    !bytes.iter().flat_map(bits).fold(u32::MAX, |sum, bit| {
        sum >> 1 ^ if sum & 1 == bit { 0 } else { 0xEDB8_8320 }
    })
}

/// Gives each chunk of a PNG file the checksum that it must have. Other files stay as they are.
pub fn mend_checksums(file: &mut [u8]) {
    let mut at = 8;
    while file.starts_with(b"\x89PNG")
        && let Some(length) = file.get(at..at + 4)
    {
        let length = length
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let end = at + 8 + length;
        let Some(named) = file.get(at + 4..end) else {
            break;
        };
        let checksum = checksum(named).to_be_bytes();
        if let Some(place) = file.get_mut(end..end + 4) {
            place.copy_from_slice(&checksum);
        }
        at = end + 4;
    }
}

pub fn png(before: &[Made]) -> Made {
    let made = Made::all_structure(b"\x89PNG\r\n\x1A\n");
    let made = made.with(&png_chunk(
        b"IHDR",
        &made_part(b"\0\0\0\x01\0\0\0\x01\x08\0\0\0\0"),
    ));
    let made = before.iter().fold(made, Made::with);
    let made = made.with(&png_chunk(b"IDAT", &made_part(b"compressed")));
    made.with(&png_chunk(b"IEND", &Made::default()))
}

pub fn made_part(bytes: &[u8]) -> Made {
    made().part(bytes)
}

pub fn riff_chunk(kind: &[u8; 4], data: &Made) -> Made {
    let padding = vec![0; data.bytes.len() % 2];
    let length = (data.bytes.len() as u32).to_le_bytes();
    made()
        .structure(kind)
        .structure(length)
        .with(data)
        .harmless(padding)
}

pub fn webp(chunks: &[Made]) -> Made {
    let body = chunks.iter().fold(Made::default(), Made::with);
    let length = (body.bytes.len() as u32 + 4).to_le_bytes();
    Made::all_structure(b"RIFF")
        .structure(length)
        .structure(b"WEBP")
        .with(&body)
}

pub fn vp8() -> Made {
    riff_chunk(
        b"VP8 ",
        &made_part(b"\x10\0\0\x9D\x01\x2A\x08\0\x04\0data of a picture"),
    )
}

// ---- sound

/// Two frames of 96 bytes.
fn frames() -> Made {
    let frame = [&[0xFF, 0xFB, 0x14, 0xC4][..], &[7; 92]].concat();
    made()
        .structure(&frame[..4])
        .part(&frame[4..])
        .structure(&frame[..4])
        .part(&frame[4..])
}

pub fn id3(text: &[u8]) -> Made {
    id3_of(3, text)
}

pub fn id3_of(version: u8, text: &[u8]) -> Made {
    let length = [0, 0, (text.len() >> 7) as u8, text.len() as u8 & 0x7F];
    Made::all_structure([b'I', b'D', b'3', version, 0, 0])
        .structure(length)
        .harmless(text)
}

pub fn mp3(before: &Made, after: &Made) -> Made {
    before.clone().with(&frames()).with(after)
}

pub fn id3v1() -> Made {
    Made::all_structure(b"TAG").harmless([b'x'; 125])
}

pub fn ape() -> Made {
    let foot = [
        &b"APETAGEX"[..],
        &2000_u32.to_le_bytes(),
        &42_u32.to_le_bytes(),
        &[1, 0, 0, 0],
    ]
    .concat();
    made()
        .harmless(b"some items")
        .structure(foot)
        .structure([0; 12])
}

pub fn flac_block(kind: u8, data: &Made) -> Made {
    let length = (data.bytes.len() as u32).to_be_bytes();
    made().structure([kind]).structure(&length[1..]).with(data)
}

pub fn flac(comment: &[u8], padding: usize) -> Made {
    let made = Made::all_structure(b"fLaC").with(&flac_block(0, &made_part(&[9; 34])));
    let length = (comment.len() as u32).to_le_bytes();
    let comments = Made::all_structure([0, 0, 0, 0, 1, 0, 0, 0])
        .structure(length)
        .harmless(comment);
    let made = made.with(&flac_block(4, &comments));
    let made = made.with(&flac_block(0x81, &made_zeros(padding)));
    made.part(b"frames of a sound")
}

fn made_zeros(count: usize) -> Made {
    made().harmless(vec![0; count])
}

// ---- boxes

pub fn iso(kind: &[u8; 4], body: &[Made]) -> Made {
    let body = body.iter().fold(Made::default(), Made::with);
    let length = (body.bytes.len() as u32 + 8).to_be_bytes();
    made().structure(length).structure(kind).with(&body)
}

fn bytes(bytes: impl AsRef<[u8]>) -> Made {
    made().structure(bytes)
}

/// What a film may differ in.
#[derive(Clone)]
pub struct FilmPlan {
    pub is_fast: bool,
    pub chunks: Vec<u32>,
    pub track_clock: u32,
    pub movie_clock: u32,
    pub edit: Option<(u32, u32)>,
    pub first_late: u32,
    pub tags: &'static [u8],
}

pub const FILM: FilmPlan = FilmPlan {
    is_fast: false,
    chunks: Vec::new(),
    track_clock: 600,
    movie_clock: 600,
    edit: None,
    first_late: 0,
    tags: b"a title",
};

const SAMPLES: [&[u8]; 4] = [b"one", b"three", b"5", b"seven and"];

/// A film of four samples, in chunks that begin with the samples named.
pub fn film(plan: &FilmPlan) -> Made {
    let ftyp = iso(b"ftyp", &[bytes(b"isom\0\0\0\0isom")]);
    let starts = if plan.chunks.is_empty() {
        vec![0]
    } else {
        plan.chunks.clone()
    };
    // Chunks lie in the file last one first, each after a byte that belongs to nothing.
    let (mut data, mut places) = (Made::default(), vec![0; starts.len()]);
    for (n, start) in starts.iter().enumerate().rev() {
        let end = starts.get(n + 1).map_or(SAMPLES.len(), |end| *end as usize);
        data = data.harmless(b"-");
        places[n] = data.bytes.len() as u32;
        data = data.part(SAMPLES[*start as usize..end].concat());
    }
    let moov_length = moov(plan, &starts, &places).bytes.len() as u32;
    let before = ftyp.bytes.len() as u32 + 8 + if plan.is_fast { moov_length } else { 0 };
    places.iter_mut().for_each(|place| *place += before);
    let (moov, mdat) = (moov(plan, &starts, &places), iso(b"mdat", &[data]));
    match plan.is_fast {
        true => ftyp.with(&moov).with(&mdat),
        false => ftyp.with(&mdat).with(&moov),
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

const MATRIX: [u32; 9] = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000];

fn moov(plan: &FilmPlan, starts: &[u32], places: &[u32]) -> Made {
    let (clock, unit) = (plan.track_clock, plan.track_clock / 25);
    let mut mvhd = words(&[0, 0, 0, plan.movie_clock, 0, 0x10000]);
    mvhd.extend([1, 0]);
    mvhd.extend([0; 10]);
    mvhd.extend(words(&MATRIX));
    mvhd.extend([0; 28]);
    let mut tkhd = words(&[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    tkhd.extend(words(&MATRIX));
    tkhd.extend(words(&[64 << 16, 48 << 16]));
    let hdlr = [&words(&[0, 0])[..], b"vide", &[0; 13]].concat();
    let entry = [&[0; 24][..], &[0, 64, 0, 48], &[0; 46], &[0, 24, 255, 255]].concat();
    let codec = iso(
        b"avc1",
        &[bytes(entry), iso(b"avcC", &[made_part(b"configuration")])],
    );
    let count = SAMPLES.len() as u32;
    let sizes = SAMPLES.map(|sample| sample.len() as u32);
    let runs = starts.iter().enumerate().flat_map(|(n, start)| {
        let end = starts.get(n + 1).copied().unwrap_or(count);
        [n as u32 + 1, end - start, 1]
    });
    let runs: Vec<u32> = runs.collect();
    // Shown in the order 1 3 4 2.
    let late = [0, 2, -1, -1]
        .map(|late| (late + plan.first_late as i32) * unit as i32)
        .map(|late| late as u32);
    let stbl = iso(
        b"stbl",
        &[
            iso(b"stsd", &[bytes(words(&[0, 1])), codec]),
            iso(b"stts", &[bytes(words(&[0, 1, count, unit]))]),
            iso(
                b"ctts",
                &[bytes(words(&[0, 3, 1, late[0], 1, late[1], 2, late[2]]))],
            ),
            iso(
                b"stsc",
                &[bytes(words(&[0, starts.len() as u32])), bytes(words(&runs))],
            ),
            iso(
                b"stsz",
                &[bytes(words(&[0, 0, count])), bytes(words(&sizes))],
            ),
            iso(
                b"stco",
                &[
                    bytes(words(&[0, places.len() as u32])),
                    bytes(words(places)),
                ],
            ),
        ],
    );
    let dinf = iso(
        b"dinf",
        &[iso(
            b"dref",
            &[bytes(words(&[0, 1])), iso(b"url ", &[bytes(words(&[1]))])],
        )],
    );
    let mdia = iso(
        b"mdia",
        &[
            iso(b"mdhd", &[bytes(words(&[0, 0, 0, clock, 0, 0]))]),
            iso(b"hdlr", &[bytes(hdlr)]),
            iso(b"minf", &[dinf, stbl]),
        ],
    );
    let edit = plan
        .edit
        .map(|(length, start)| words(&[0, 1, length, start, 0x10000]));
    let edts = edit.map(|edit| iso(b"edts", &[iso(b"elst", &[bytes(edit)])]));
    let tags = iso(b"udta", &[iso(b"\xA9nam", &[made().harmless(plan.tags)])]);
    let trak = [iso(b"tkhd", &[bytes(tkhd)])]
        .into_iter()
        .chain(edts)
        .chain([mdia]);
    iso(
        b"moov",
        &[
            iso(b"mvhd", &[bytes(mvhd)]),
            iso(b"trak", &trak.collect::<Vec<_>>()),
            tags,
        ],
    )
}

/// A picture with its turn, EXIF, a thumbnail and a depth map.
pub fn heif(turn: Option<u8>, exif: &Made) -> Made {
    let ftyp = iso(b"ftyp", &[bytes(b"heic\0\0\0\0mif1heic")]);
    let mut exif = exif.clone();
    // A property turns the picture, the tag does not.
    exif.harmless.push(30..32);
    let exif = Made::all_structure([0; 4]).with(&exif);
    let items = [
        made_part(b"coded picture"),
        exif,
        made().harmless(b"thumbnail"),
        made_part(b"depth"),
    ];
    let mut at = ftyp.bytes.len() + 8;
    let mut places = vec![0x4400_u16, 4];
    for (n, item) in (1..).zip(&items) {
        places.extend([n, 0, 1, 0, at as u16, 0, item.bytes.len() as u16]);
        at += item.bytes.len();
    }
    let places: Vec<u8> = places.iter().flat_map(|word| word.to_be_bytes()).collect();
    let entry = |id: u8, kind: &[u8; 4]| {
        iso(
            b"infe",
            &[bytes([2, 0, 0, 0, 0, id, 0, 0]), bytes(kind), bytes([0])],
        )
    };
    let entries = [
        entry(1, b"hvc1"),
        entry(2, b"Exif"),
        entry(3, b"hvc1"),
        entry(4, b"hvc1"),
    ];
    let entries = entries.iter().fold(bytes([0, 0, 0, 0, 0, 4]), Made::with);
    let refer = |kind: &[u8; 4], from: u8| iso(kind, &[bytes([0, from, 0, 1, 0, 1])]);
    let mut properties = vec![iso(b"hvcC", &[made_part(b"configuration")])];
    let mut of_1 = vec![0x81];
    if let Some(turn) = turn {
        properties.push(iso(b"irot", &[made_part(&[turn])]));
        of_1.push(0x82);
    }
    let of_all = [
        &[0, 0, 0, 0, 0, 0, 0, 2, 0, 1, of_1.len() as u8][..],
        &of_1,
        &[0, 4, 1, 1],
    ]
    .concat();
    let meta = iso(
        b"meta",
        &[
            bytes([0; 4]),
            iso(b"pitm", &[bytes([0, 0, 0, 0, 0, 1])]),
            iso(b"iinf", &[entries]),
            iso(b"iloc", &[bytes([0; 4]), bytes(&places)]),
            iso(
                b"iref",
                &[
                    bytes([0; 4]),
                    refer(b"cdsc", 2),
                    refer(b"thmb", 3),
                    refer(b"auxl", 4),
                ],
            ),
            iso(
                b"iprp",
                &[iso(b"ipco", &properties), iso(b"ipma", &[bytes(of_all)])],
            ),
        ],
    );
    let mdat = iso(b"mdat", &items);
    ftyp.with(&mdat).with(&meta)
}

/// One file of each format, with all that can be in it.
pub fn all() -> Vec<(&'static str, Made)> {
    let block = exif(6, b"a maker's note");
    let note = png_chunk(
        b"tEXt",
        &made().structure(b"Comment\0").harmless(b"a comment"),
    );
    let vp8x = riff_chunk(
        b"VP8X",
        &made().structure([0x08]).part([0, 0, 0, 7, 0, 0, 3, 0, 0]),
    );
    let xmp = harmless_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0", b"<x:xmpmeta/>");
    let before = [
        exif_segment(&block),
        xmp,
        segment(0xE2, b"ICC_PROFILE\0\x01\x01colours"),
        harmless_segment(0xFE, b"", b"a comment"),
        segment(0xE7, b"nobody knows"),
    ];
    vec![
        ("jpeg", jpeg(&before, b"a film")),
        (
            "png",
            png(&[
                note,
                png_chunk(b"eXIf", &block),
                png_chunk(b"gAMA", &made_part(b"\0\0\xB1\x8F")),
            ]),
        ),
        ("webp", webp(&[vp8x, vp8(), riff_chunk(b"EXIF", &block)])),
        ("tiff", tiff()),
        ("heif", heif(Some(1), &block)),
        (
            "film",
            film(&FilmPlan {
                edit: Some((400, 0)),
                chunks: vec![0, 2],
                ..FILM
            }),
        ),
        ("mp3", mp3(&id3(b"title"), &ape().with(&id3v1()))),
        ("flac", flac(b"TITLE=x", 10)),
    ]
}
