//! What files say about themselves.

use super::super::blocks::xmp;
use super::super::{Tags, tags};
use super::made::{
    FILM, Made, film, harmless_segment, id3_of, iso, jpeg, made, made_part, mp3, png, png_chunk,
};

/// A film with a further box at the end of its header.
fn film_with(further: &Made) -> Vec<u8> {
    let mut film = film(&FILM).bytes;
    let mut names = film.windows(4);
    let header = names.position(|name| name == b"moov").expect("a header") - 4;
    film.extend(&further.bytes);
    let length = (film.len() - header) as u32;
    film[header..header + 4].copy_from_slice(&length.to_be_bytes());
    film
}

/// MP4 puts a version before the boxes in `meta`, QuickTime does not; both do so at both places.
#[test]
fn films_have_tags_with_and_without_a_version() {
    let value = iso(b"data", &[made_part(b"\0\0\0\x01\0\0\0\x002020-01-02")]);
    let list = iso(b"ilst", &[iso(b"\xA9day", &[value])]);
    let handler = iso(b"hdlr", &[made_part(b"\0\0\0\0\0\0\0\0mdir\0")]);
    for version in [&b""[..], b"\0\0\0\0"] {
        let meta = iso(
            b"meta",
            &[made_part(version), handler.clone(), list.clone()],
        );
        for further in [iso(b"udta", std::slice::from_ref(&meta)), meta] {
            let found = tags(&&film_with(&further)[..])
                .expect("sound")
                .expect("known");
            assert_eq!(found.date.as_deref(), Some("2020-01-02"), "{version:?}");
        }
    }
}

#[test]
fn values_of_xmp_are_counted() {
    for (text, expected) in [
        (r#"<d:D xmlns:a="b" a:x="1" a:y="two words" a:z=""/>"#, 2),
        ("<a:x>text</a:x><a:y> <b:li>1</b:li> <b:li/></a:y>", 2),
        (r#"a:x="1"a:y="2">not closed"#, 2),
        ("", 0),
    ] {
        assert_eq!(xmp::count(text), expected, "{text}");
    }
}

fn tags_of(file: &Made) -> Tags {
    tags(&&file.bytes[..]).expect("sound").expect("known")
}

/// A frame of ID3: version 2 has shorter names and sizes.
fn frame(version: u8, name: &str, value: &str) -> Vec<u8> {
    let size = value.len() as u8 + 1;
    let head: &[u8] = if version == 2 {
        &[0, 0, size]
    } else {
        &[0, 0, 0, size, 0, 0]
    };
    [name.as_bytes(), head, b"\0", value.as_bytes()].concat()
}

#[test]
fn frames_of_each_version_of_id3_are_tags_and_what_fills_the_rest_is_none() {
    for (version, title, artist) in [(2, "TT2", "TP1"), (3, "TIT2", "TPE1"), (4, "TIT2", "TPE1")] {
        let frames = [
            frame(version, title, "a title"),
            frame(version, artist, "somebody"),
        ]
        .concat();
        for rest in [0, 100] {
            let block = [&frames[..], &vec![0; rest]].concat();
            let found = tags_of(&mp3(&id3_of(version, &block), &made()));
            assert_eq!(found.count, 2, "version {version}, {rest}");
            assert_eq!(found.title.as_deref(), Some("a title"), "version {version}");
            assert_eq!(
                found.artist.as_deref(),
                Some("somebody"),
                "version {version}"
            );
        }
    }
}

#[test]
fn a_further_header_of_id3_is_no_tag() {
    for (version, header) in [
        (3, &[0, 0, 0, 6, 0, 0, 0, 0, 0, 0][..]),
        (4, &[0, 0, 0, 6, 1, 0]),
    ] {
        let block = [header, &frame(version, "TIT2", "a title")].concat();
        let mut file = mp3(&id3_of(version, &block), &made());
        file.bytes[5] = 0x40;
        let found = tags_of(&file);
        assert_eq!((found.count, found.title.as_deref()), (1, Some("a title")));
    }
}

#[test]
fn text_in_png_and_comments_in_jpeg_are_tags() {
    let text = |kind, text: &[u8]| png_chunk(kind, &made_part(text));
    let found = tags_of(&png(&[
        text(b"tEXt", b"Title\0Caf\xE9"),
        text(b"iTXt", b"Author\0\0\0fr\0Auteur\0Zo\xC3\xAB"),
        text(b"iTXt", b"Software\0\x01\0\0\0compressed"),
        text(b"zTXt", b"Description\0\0compressed"),
        text(b"tEXt", b"parameters\0a cat"),
        text(b"tEXt", b"no end"),
    ]));
    assert_eq!(found.count, 6);
    assert_eq!(found.title.as_deref(), Some("Caf\u{e9}"));
    assert_eq!(found.artist.as_deref(), Some("Zo\u{eb}"));
    assert_eq!(found.software, None);
    let comment = harmless_segment(0xFE, b"", b"a comment");
    assert_eq!(tags_of(&jpeg(&[comment], b"")).count, 1);
}

#[test]
fn an_artist_is_found_where_itunes_writes_it() {
    let value = iso(b"data", &[made_part(b"\0\0\0\x01\0\0\0\0somebody")]);
    let list = iso(b"ilst", &[iso(b"\xA9ART", &[value])]);
    let handler = iso(b"hdlr", &[made_part(b"\0\0\0\0\0\0\0\0mdir\0")]);
    let meta = iso(b"meta", &[made_part(b"\0\0\0\0"), handler, list]);
    let found = tags(&&film_with(&iso(b"udta", &[meta]))[..]);
    let found = found.expect("sound").expect("known");
    assert_eq!(found.artist.as_deref(), Some("somebody"));
}
