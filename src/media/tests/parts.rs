//! What belongs to the parts of a file, and what does not.

use super::super::{Format, LookError, Media, look};
use super::made::{self, FILM, FilmPlan, Made, made};

/// Digests of picture, orientation, colour, notes and more.
fn digests(bytes: &[u8]) -> Option<[[u8; 32]; 5]> {
    let media = look(&bytes).ok()??;
    Some(media.parts.all().map(|part| {
        part.digest(&media.format.domain(), &bytes)
            .expect("it is in memory")
    }))
}

#[track_caller]
fn known(made: &Made) -> Media {
    look(&&made.bytes[..]).expect("sound").expect("known")
}

const PARTS: [&str; 5] = ["picture", "orientation", "colour", "notes", "more"];

/// Parts in which two files differ.
#[track_caller]
fn others(one: &Made, other: &Made) -> Vec<&'static str> {
    let (one, other) = (
        digests(&one.bytes).expect("known"),
        digests(&other.bytes).expect("known"),
    );
    let pairs = PARTS.into_iter().zip(one.into_iter().zip(other));
    pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(part, _)| part)
        .collect()
}

#[test]
fn each_format_is_known() {
    let formats: Vec<Format> = made::all()
        .iter()
        .map(|(_, made)| known(made).format)
        .collect();
    use Format::*;
    assert_eq!(formats, [Jpeg, Png, WebP, Tiff, Heif, Film, Mp3, Flac]);
}

#[test]
fn every_byte_belongs_to_a_part_unless_it_is_harmless() {
    for (name, made) in made::all() {
        let before = digests(&made.bytes).expect("known");
        for at in (0..made.bytes.len()).filter(|at| !made.is_structure(*at)) {
            for change in [0x01, 0x80, 0xFF] {
                let mut bytes = made.bytes.clone();
                bytes[at] ^= change;
                made::mend_checksums(&mut bytes);
                let is_same = digests(&bytes) == Some(before);
                assert_eq!(
                    is_same,
                    made.is_harmless(at),
                    "{name}: byte {at} ^ {change}"
                );
            }
        }
    }
}

#[test]
fn the_length_of_a_part_is_that_of_what_is_hashed() {
    use super::super::part::Piece;
    for (name, made) in made::all() {
        let parts = known(&made).parts;
        for part in parts.all() {
            let lengths = part.pieces().map(|piece| match piece {
                Piece::Literal(bytes) => bytes.len() as u64,
                Piece::Span(span) => span.length,
            });
            assert_eq!(lengths.sum::<u64>(), part.length(), "{name}");
        }
    }
}

mod jpeg {
    use super::super::made::{exif, exif_segment, harmless_segment, jpeg, segment};
    use super::*;

    fn comment(text: &[u8]) -> Made {
        harmless_segment(0xFE, b"", text)
    }

    #[test]
    fn tags_and_their_order_are_not_counted() {
        let (tags, note) = (exif_segment(&exif(1, b"note")), comment(b"words"));
        let both = jpeg(&[tags.clone(), note.clone()], b"");
        let turned = jpeg(&[note, tags.clone()], b"");
        assert!(others(&both, &turned).is_empty());
        assert_eq!(others(&both, &jpeg(&[], b"")), ["notes"]);
    }

    #[test]
    fn what_may_differ_is_told_apart() {
        let plain = jpeg(&[exif_segment(&exif(1, b"note"))], b"");
        for (other, part) in [
            (jpeg(&[exif_segment(&exif(6, b"note"))], b""), "orientation"),
            (jpeg(&[exif_segment(&exif(1, b"other"))], b""), "notes"),
            (
                jpeg(
                    &[
                        exif_segment(&exif(1, b"note")),
                        segment(0xE2, b"ICC_PROFILE\0\x01\x01icc"),
                    ],
                    b"",
                ),
                "colour",
            ),
            (
                jpeg(&[exif_segment(&exif(1, b"note"))], b"....ftypmp42"),
                "more",
            ),
            (
                jpeg(
                    &[exif_segment(&exif(1, b"note")), segment(0xE7, b"unknown")],
                    b"",
                ),
                "picture",
            ),
        ] {
            assert_eq!(others(&plain, &other), [part]);
        }
    }

    #[test]
    fn jfif_counts_only_where_decoders_ask_for_it() {
        let jfif = |x: u8, y: u8| {
            segment(
                0xE0,
                &[&b"JFIF\0\x01\x01\x01\0"[..], &[x, 0, y, 0, 0]].concat(),
            )
        };
        let plain = jpeg(&[], b"");
        assert!(others(&plain, &jpeg(&[jfif(72, 72)], b"")).is_empty());
        assert_eq!(others(&plain, &jpeg(&[jfif(72, 36)], b"")), ["picture"]);
        let adobe = segment(0xEE, b"Adobe\0\x64\0\0\0\0\0");
        let with_both = jpeg(&[jfif(1, 1), adobe.clone()], b"");
        assert_eq!(others(&jpeg(&[adobe], b""), &with_both), ["picture"]);
    }

    #[test]
    fn exif_that_cannot_be_read_belongs_to_the_picture() {
        let mut broken = exif(1, b"note");
        broken.bytes[4] = 0xF0;
        assert_eq!(
            others(&jpeg(&[], b""), &jpeg(&[exif_segment(&broken)], b"")),
            ["picture"]
        );
    }

    #[test]
    fn xmp_turns_a_picture_that_exif_does_not() {
        let xmp = |turn| {
            let text = format!("<rdf:Description tiff:Orientation=\"{turn}\"/>");
            segment(
                0xE1,
                &[b"http://ns.adobe.com/xap/1.0/\0", text.as_bytes()].concat(),
            )
        };
        let plain = jpeg(&[], b"");
        assert!(others(&plain, &jpeg(&[xmp(1)], b"")).is_empty());
        assert_eq!(others(&plain, &jpeg(&[xmp(6)], b"")), ["orientation"]);
        let both = jpeg(&[xmp(6), exif_segment(&exif(1, b""))], b"");
        assert!(others(&plain, &both).is_empty());
    }

    /// What looks like IPTC in the second segment is what the first one ends in.
    #[test]
    fn an_image_resource_that_goes_on_in_the_next_segment_belongs_to_the_picture() {
        let resources = |bytes: &[u8]| segment(0xED, &[b"Photoshop 3.0\0", bytes].concat());
        let first = resources(b"8BIM\x77\x77\0\0\0\0\0\x20begins");
        let second =
            |text: &[u8; 4]| resources(&[b"8BIM\x04\x04\0\0\0\0\0\x04", &text[..]].concat());
        let both = |text| jpeg(&[first.clone(), second(text)], b"");
        assert_eq!(others(&both(b"text"), &both(b"more")), ["picture"]);
        let alone = |text| jpeg(&[second(text)], b"");
        assert!(others(&alone(b"text"), &alone(b"more")).is_empty());
    }

    #[test]
    fn a_picture_without_end_is_damaged() {
        let mut made = jpeg(&[], b"");
        made.bytes.truncate(made.bytes.len() - 2);
        assert!(matches!(look(&&made.bytes[..]), Err(LookError::Damaged(_))));
    }
}

mod png {
    use super::super::made::{made, png, png_chunk};
    use super::*;

    /// A text that nobody reads, and colours: some decoders refuse the picture.
    #[test]
    fn a_chunk_with_a_wrong_checksum_is_damaged() {
        let text = made().structure(b"Comment\0").harmless(b"words");
        for chunk in [
            png_chunk(b"tEXt", &text),
            png_chunk(b"gAMA", &made().part([0, 0, 1, 2])),
        ] {
            let sound = png(&[chunk]);
            known(&sound);
            for at in 41..sound.bytes.len() - 34 {
                let mut bytes = sound.bytes.clone();
                bytes[at] ^= 1;
                assert!(
                    matches!(look(&&bytes[..]), Err(LookError::Damaged(_))),
                    "byte {at}"
                );
            }
        }
    }
}

mod webp {
    use super::super::made::{exif, made_part, riff_chunk, vp8, webp};
    use super::*;

    #[test]
    fn metadata_needs_a_header_that_is_not_counted() {
        let header = riff_chunk(b"VP8X", &made_part(&[0x08, 0, 0, 0, 7, 0, 0, 3, 0, 0]));
        let tags = riff_chunk(b"EXIF", &exif(1, b""));
        let (plain, tagged) = (webp(&[vp8()]), webp(&[header, vp8(), tags]));
        assert!(others(&plain, &tagged).is_empty());
    }
}

mod heif {
    use super::super::made::{exif, heif};
    use super::*;

    #[test]
    fn properties_turn_a_picture_and_exif_does_not() {
        let plain = heif(None, &exif(1, b"note"));
        assert!(others(&plain, &heif(None, &exif(6, b"note"))).is_empty());
        assert_eq!(
            others(&plain, &heif(Some(1), &exif(1, b"note"))),
            ["orientation"]
        );
        assert_eq!(others(&plain, &heif(None, &exif(1, b"another"))), ["notes"]);
    }

    #[test]
    fn a_thumbnail_that_another_item_needs_is_a_part_of_the_picture() {
        let with = |thumbnail: &[u8; 9], refers: u8| {
            let mut made = heif(None, &exif(1, b""));
            // EXIF has a thumbnail too.
            let find = |bytes: &[u8]| {
                let mut windows = made.bytes.windows(bytes.len());
                windows
                    .rposition(|here| here == bytes)
                    .expect("it is there")
            };
            let (at, to) = (find(b"thumbnail"), find(b"auxl") + 9);
            made.bytes[at..at + 9].copy_from_slice(thumbnail);
            made.bytes[to] = refers;
            made
        };
        assert!(others(&with(b"thumbnail", 1), &with(b"otherwise", 1)).is_empty());
        assert_eq!(
            others(&with(b"thumbnail", 3), &with(b"otherwise", 3)),
            ["picture"]
        );
    }
}

mod sound {
    use super::super::made::{ape, flac, id3, id3v1, mp3};
    use super::*;

    #[test]
    fn tags_before_and_after_mp3_are_not_counted() {
        let plain = mp3(&made(), &made());
        for tagged in [
            mp3(&id3(b"title"), &made()),
            mp3(&id3(b"title").with(&id3(b"again")), &id3v1()),
            mp3(&made(), &ape().with(&id3v1())),
        ] {
            assert!(others(&plain, &tagged).is_empty());
        }
        assert_eq!(
            others(&plain, &mp3(&made(), &made().part(b"unknown"))),
            ["picture"]
        );
    }

    #[test]
    fn a_tag_inside_of_a_frame_is_a_part_of_the_sound() {
        let mut cut = mp3(&made(), &made());
        cut.bytes.truncate(cut.bytes.len() - 10);
        let tagged = cut.clone().with(&id3v1());
        assert_eq!(others(&cut, &tagged), ["picture"]);
    }

    #[test]
    fn padding_and_comments_of_flac_are_not_counted_but_speakers_are() {
        let plain = flac(b"TITLE=x", 10);
        assert!(others(&plain, &flac(b"ARTIST=somebody", 0)).is_empty());
        let speakers = flac(b"waveformatextensible_channel_mask=0x3", 0);
        assert_eq!(others(&plain, &speakers), ["picture"]);
    }
}

mod film {
    use super::super::made::film;
    use super::*;

    fn other(plan: FilmPlan) -> Vec<&'static str> {
        others(&film(&FILM), &film(&plan))
    }

    #[test]
    fn a_copy_in_another_order_is_the_same() {
        assert!(
            other(FilmPlan {
                is_fast: true,
                ..FILM
            })
            .is_empty()
        );
        assert!(
            other(FilmPlan {
                chunks: vec![0, 1, 3],
                ..FILM
            })
            .is_empty()
        );
        assert!(
            other(FilmPlan {
                chunks: vec![0, 2],
                is_fast: true,
                tags: b"x",
                ..FILM
            })
            .is_empty()
        );
    }

    #[test]
    fn clocks_and_edits_are_told_in_the_same_way() {
        assert!(
            other(FilmPlan {
                track_clock: 50,
                ..FILM
            })
            .is_empty()
        );
        assert!(
            other(FilmPlan {
                track_clock: 25,
                movie_clock: 1000,
                ..FILM
            })
            .is_empty()
        );
        assert!(
            other(FilmPlan {
                edit: Some((96, 0)),
                ..FILM
            })
            .is_empty()
        );
        // The first picture is shown late, and an edit begins with it.
        let late = FilmPlan {
            first_late: 2,
            edit: Some((96, 48)),
            ..FILM
        };
        assert!(other(late).is_empty());
    }

    #[test]
    fn times_that_differ_are_another_film() {
        assert_eq!(
            other(FilmPlan {
                first_late: 2,
                ..FILM
            }),
            ["picture"]
        );
        // Three of four samples are shown.
        assert_eq!(
            other(FilmPlan {
                edit: Some((72, 24)),
                ..FILM
            }),
            ["picture"]
        );
        assert_eq!(
            other(FilmPlan {
                edit: Some((72, 0)),
                ..FILM
            }),
            ["picture"]
        );
    }
}

mod tiff {
    use super::super::made::{exif, tiff};
    use super::*;

    #[test]
    fn a_raw_file_of_a_maker_that_is_not_known_is_an_ordinary_file() {
        let raw = exif(1, b"a maker's note");
        let refused = look(&&raw.bytes[..]).expect_err("it is not compared with any decoder");
        assert!(matches!(refused, LookError::Unsupported(_)));
    }

    #[test]
    fn bytes_that_nothing_points_to_belong_to_the_picture_at_their_place() {
        let plain = tiff();
        assert_eq!(
            others(&plain, &plain.clone().part(b"more than padding")),
            ["picture"]
        );
        assert!(others(&plain, &tiff()).is_empty());
    }
}
