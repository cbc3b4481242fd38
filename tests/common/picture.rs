//! Small JPEG images with tags.

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
