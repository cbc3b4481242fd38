//! What files say about themselves.

use super::super::blocks::xmp;
use super::super::tags;
use super::made::{FILM, Made, film, iso, made_part};

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
