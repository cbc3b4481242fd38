//! Small JPEG images with tags, and the films of Live Photos.

/// An image, before its bytes.
#[derive(Clone, Copy, Default)]
pub struct Picture<'a> {
    /// What it shows.
    pub shows: &'a str,
    /// The attributes of its XMP: `xmp:Rating="4"`.
    pub tags: &'a str,
    /// The orientation, 1 to 8; 0 for none.
    pub orientation: u8,
    /// A film after the end of the image.
    pub film: &'a str,
    /// Apple's name of the photo and of the film that belongs to it.
    pub live: &'a str,
}

/// An image that shows this, with these tags.
pub fn picture(shows: &str, tags: &str) -> Vec<u8> {
    let picture = Picture {
        shows,
        tags,
        ..Picture::default()
    };
    picture.bytes()
}

impl Picture<'_> {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0xFF, 0xD8];
        let mut segment = |marker: u8, body: &[u8]| {
            bytes.extend([0xFF, marker]);
            bytes.extend((body.len() as u16 + 2).to_be_bytes());
            bytes.extend(body);
        };
        if self.orientation > 0 {
            // A TIFF header, and a directory with one entry.
            let exif = [
                &b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
                &[self.orientation],
                &[0; 6],
            ];
            segment(0xE1, &exif.concat());
        }
        if !self.live.is_empty() {
            // The same with a maker's note: a directory with one entry, and the name behind it.
            let length = self.live.len() as u8;
            let exif = [
                &b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x92\x7C\0\x07\0\0\0"[..],
                &[28 + length],
                &[0, 0, 0, 26, 0, 0, 0, 0],
                b"Apple iOS\0\0\x01MM\0\x01\0\x11\0\x02\0\0\0",
                &[length, 0, 0, 0, 28],
                self.live.as_bytes(),
            ];
            segment(0xE1, &exif.concat());
        }
        if !self.tags.is_empty() {
            let xmp = format!(
                "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:Description {}/></x:xmpmeta>",
                self.tags
            );
            segment(0xE1, xmp.as_bytes());
        }
        let quantisation: Vec<u8> = (0..65).collect();
        segment(0xDB, &quantisation);
        segment(
            0xC0,
            &[8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0],
        );
        segment(0xC4, &[0; 18]);
        segment(0xDA, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
        bytes.extend(self.shows.as_bytes());
        bytes.extend([0xFF, 0xD9]);
        bytes.extend(self.film.as_bytes());
        bytes
    }
}

/// The film of a Live Photo: it shows this in one sample, and has the name that the photo has.
pub fn film(shows: &str, live: &str) -> Vec<u8> {
    fn iso(kind: &str, parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        let length = (8 + body.len() as u32).to_be_bytes();
        [&length[..], kind.as_bytes(), &body].concat()
    }
    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }
    let entry = iso("avc1", &[&[0; 78]]);
    let stbl = iso(
        "stbl",
        &[
            &iso("stsd", &[&words(&[0, 1]), &entry]),
            &iso("stts", &[&words(&[0, 1, 1, 1])]),
            &iso("stsc", &[&words(&[0, 1, 1, 1, 1])]),
            &iso("stsz", &[&words(&[0, shows.len() as u32, 1])]),
            &iso("stco", &[&words(&[0, 1, 8])]),
        ],
    );
    let own_data = iso("url ", &[&words(&[1])]);
    let dinf = iso("dinf", &[&iso("dref", &[&words(&[0, 1]), &own_data])]);
    let mdia = iso(
        "mdia",
        &[
            &iso("mdhd", &[&words(&[0, 0, 0, 1, 1, 0])]),
            &iso("hdlr", &[&words(&[0, 0]), b"vide", &[0; 13]]),
            &iso("minf", &[&dinf, &stbl]),
        ],
    );
    let key = iso("mdta", &[b"com.apple.quicktime.content.identifier"]);
    let value = iso("data", &[&words(&[1, 0]), live.as_bytes()]);
    let meta = iso(
        "meta",
        &[
            &iso("hdlr", &[&words(&[0, 0]), b"mdta", &[0; 13]]),
            &iso("keys", &[&words(&[0, 1]), &key]),
            &iso("ilst", &[&iso("\0\0\0\x01", &[&value])]),
        ],
    );
    let mvhd = iso("mvhd", &[&words(&[0, 0, 0, 1, 1]), &[0; 80]]);
    let trak = iso("trak", &[&iso("tkhd", &[&[0; 84]]), &mdia]);
    let mdat = iso("mdat", &[shows.as_bytes()]);
    [mdat, iso("moov", &[&mvhd, &trak, &meta])].concat()
}
