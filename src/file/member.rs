//! Which files of one folder belong together, by their names: a photo or a film, and what cameras, phones and programs
//! put beside it. Google's exports have a file `NAME.json` for each.

use std::borrow::Cow;

use super::kind::{Kind, Role, known};

/// What a bare name says about the group that its file belongs to: files of one folder that belong together have one
/// stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The name without its extensions. Groups ignore its case.
    pub stem: Cow<'a, [u8]>,
    /// The role of the file in the group.
    pub role: Role,
}

impl<'a> Member<'a> {
    /// What this bare name says; `None` if such a file belongs to no group.
    pub fn of(name: &'a [u8]) -> Option<Self> {
        if let Some(described) = described(name) {
            let stem = Member::unexported(&described)?.stem.into_owned();
            let (stem, role) = (stem.into(), Role::Sidecar);
            return Some(Self { stem, role });
        }
        Self::unexported(name)
    }

    /// The same of a name that no export gave.
    fn unexported(name: &'a [u8]) -> Option<Self> {
        let (stem, _, role) = known(name)?;
        let role = role?;
        // IMG_1.CR2.xmp belongs to IMG_1.CR2 as IMG_1.xmp does, and P.MP.jpg to the film P.MP.
        let stem = match known(stem) {
            Some((stem, _, Some(_))) => stem,
            _ => stem,
        };
        let stem = unedited(stem).unwrap_or(stem.into());
        Some(Self { stem, role })
    }
}

impl Kind {
    /// True if a file of this name is of this kind. Sidecar files go with photos and with films.
    pub fn includes(self, name: &[u8]) -> bool {
        match known(name) {
            Some((_, Some(kind), _)) => kind == self,
            None if !is_exported(name) && clipped(name).is_none() => false,
            _ => matches!(self, Self::Image | Self::Video),
        }
    }
}

/// The stem of a photo whose edited version or edit an iPhone calls `IMG_E1234.HEIC` or `IMG_O1234.AAE`.
fn unedited(stem: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (before, number) = stem.split_at_checked(5)?;
    let is_edited = [b"IMG_E", b"IMG_O"].contains(&before.first_chunk()?);
    let is_number = number.len() >= 4 && number.iter().all(u8::is_ascii_digit);
    (is_edited && is_number).then(|| [b"IMG_", number].concat().into())
}

/// True if an iPhone calls an edited version, or an edit, of another photo or film so.
pub fn is_edited(name: &[u8]) -> bool {
    known(name).is_some_and(|(stem, ..)| unedited(stem).is_some())
}

/// What stands between the name of a photo and `.json` in an export since 2024, if it is not clipped.
const SUPPLEMENT: &[u8] = b"supplemental-metadata";

/// Number of characters to which an export clips a name, without `.json`.
const CLIPPED: usize = 46;

/// The name without `.json` and a number in brackets before that, and this number with its brackets. The number belongs
/// to the photo: `a.jpg(1).json` describes `a(1).jpg`.
fn without_json(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let (base, json) = name.split_at_checked(name.len().checked_sub(5)?)?;
    json.eq_ignore_ascii_case(b".json").then_some(())?;
    Some(without_number(base))
}

/// A text without a number in brackets at its end, and this number with its brackets.
fn without_number(text: &[u8]) -> (&[u8], &[u8]) {
    let number = text.iter().rposition(|&byte| byte == b'(');
    let split = number.map(|at| text.split_at(at));
    let is_number = |(_, number): &(&[u8], &[u8])| match number {
        [b'(', digits @ .., b')'] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    split.filter(is_number).unwrap_or((text, b""))
}

/// The name of the photo or film that an export's file of this name is about.
fn described(name: &[u8]) -> Option<Vec<u8>> {
    let (base, number) = without_json(name)?;
    let dot = base.iter().rposition(|&byte| byte == b'.')?;
    let is_word = SUPPLEMENT.starts_with(&base[dot + 1..]);
    let shorter = is_word.then(|| &base[..dot]);
    let mut names = shorter.into_iter().chain([base]);
    names.find_map(|name| match known(name)? {
        (stem, _, Some(Role::Raw | Role::Still | Role::Film)) => {
            Some([stem, number, &name[stem.len()..]].concat())
        }
        _ => None,
    })
}

/// True if this is the name of an export's file about a photo or film.
pub fn is_exported(name: &[u8]) -> bool {
    described(name).is_some()
}

/// How the name of a photo or film begins if an export's file about it may have this name, which is clipped; and the
/// number in brackets that ends the stem.
pub fn clipped(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let (base, number) = without_json(name)?;
    let is_long = String::from_utf8_lossy(base).chars().count() >= CLIPPED;
    (is_long && !is_exported(name)).then_some((base, number))
}

/// The name of a photo or film without the number in brackets that ends its stem, and this number.
pub fn numbered(name: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (whole, ..) = known(name)?;
    let (stem, number) = without_number(whole);
    Some(([stem, &name[whole.len()..]].concat(), number))
}

/// What the names of the photos of one burst in a folder have in common, by the patterns of cameras and phones:
/// `IMG_20200101_120000_BURST001_COVER`, `DSC_0001_BURST20200101120000123`, and of Samsung `20200101_120000_001`.
pub fn burst(name: &[u8]) -> Option<&[u8]> {
    const WORD: &[u8] = b"BURST";
    /// A longer number is the time of the burst, a shorter one counts its photos.
    const TIME: usize = 14;
    let (stem, _, role) = known(name)?;
    if !matches!(role, Some(Role::Raw | Role::Still)) {
        return None;
    }
    if let Some(at) = stem.windows(WORD.len()).rposition(|word| word == WORD) {
        let number = &stem[at + WORD.len()..];
        let mut digits = number.iter().take_while(|byte| byte.is_ascii_digit());
        return match digits.by_ref().count() {
            0 => None,
            count if count < TIME => Some(&stem[..at]),
            count => Some(&number[..count]),
        };
    }
    let fits = |(byte, like): (&u8, &u8)| match like {
        b'0' => byte.is_ascii_digit(),
        like => byte == like,
    };
    let samsung = b"00000000_000000_000";
    let is_samsung = stem.len() == samsung.len() && stem.iter().zip(samsung).all(fits);
    is_samsung.then(|| &stem[..15])
}

/// What Google adds to the name of an edited photo, in some languages.
const EDITED: &[&str] = &[
    "-edited",
    "-effects",
    "-smile",
    "-mix",
    "-edytowane",
    "-bearbeitet",
    "-bewerkt",
    "-編集済み",
    "-modificato",
    "-modifié",
    "-ha editado",
    "-editado",
    "-editat",
];

/// The name of the photo of which this may be an edited version in an export: they share the file about it.
pub fn original(name: &[u8]) -> Option<Vec<u8>> {
    let (whole, _, role) = known(name)?;
    let (edited, number) = without_number(whole);
    let mut words = EDITED.iter();
    let stem = words.find_map(|word| edited.strip_suffix(word.as_bytes()))?;
    (role? != Role::Sidecar).then(|| [stem, number, &name[whole.len()..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that cameras, phones and programs gave, with their stems.
    #[test]
    fn files_that_belong_together_have_one_stem() {
        use Role::{Film, Raw, Sidecar, Still};
        for (name, stem, role) in [
            ("DSC_0104.NEF", "DSC_0104", Raw),
            ("DSC_0104.NEF.xmp", "DSC_0104", Sidecar),
            ("DSC_0104.xmp", "DSC_0104", Sidecar),
            ("DSC_0104.pp3", "DSC_0104", Sidecar),
            ("IMG_1234.HEIC", "IMG_1234", Still),
            ("IMG_1234.MOV", "IMG_1234", Film),
            ("IMG_E1234.HEIC", "IMG_1234", Still),
            ("IMG_E1234.MOV", "IMG_1234", Film),
            ("IMG_O1234.AAE", "IMG_1234", Sidecar),
            ("IMG_EDEN.jpg", "IMG_EDEN", Still),
            ("IMG_E12.jpg", "IMG_E12", Still),
            ("MVI_0042.THM", "MVI_0042", Sidecar),
            ("DJI_0001.SRT", "DJI_0001", Sidecar),
            ("GL010042.LRV", "GL010042", Sidecar),
            ("DSC_0104.WAV", "DSC_0104", Sidecar),
            ("PXL_20210102_1.MP.jpg", "PXL_20210102_1", Still),
            ("PXL_20210102_1.MP", "PXL_20210102_1", Film),
            ("MVIMG_1.mp4", "MVIMG_1", Film),
            ("DSC_0104.JPG.json", "DSC_0104", Sidecar),
            ("DSC_0104.JPG(1).json", "DSC_0104(1)", Sidecar),
            ("DSC_0104(1).JPG.json", "DSC_0104(1)", Sidecar),
            ("a.jpg.supplemental-metadata.json", "a", Sidecar),
            ("a.jpg.supplemental-metadata(2).json", "a(2)", Sidecar),
            (
                "WhatsApp Image 2020-01-01 at 10.10.10.jpeg.sup.JSON",
                "WhatsApp Image 2020-01-01 at 10.10.10",
                Sidecar,
            ),
            ("a.jpg..json", "a", Sidecar),
            ("PXL_20210102_1.MP.jpg.json", "PXL_20210102_1", Sidecar),
            ("PXL_20210102_1.MP(1).jpg", "PXL_20210102_1.MP(1)", Still),
            (
                "PXL_20210102_1.MP.jpg(1).json",
                "PXL_20210102_1.MP(1)",
                Sidecar,
            ),
            ("IMG_E1234.HEIC.s.json", "IMG_1234", Sidecar),
            ("a.mp4.s.json", "a", Sidecar),
        ] {
            let member = Member::of(name.as_bytes()).expect(name);
            let has = (String::from_utf8_lossy(&member.stem), member.role);
            assert_eq!(has, (stem.into(), role), "{name}");
        }
    }

    #[test]
    fn other_names_belong_to_no_group() {
        for name in [
            "metadata.json",
            "a.json",
            "a.txt.json",
            "jpg.json",
            ".json",
            "a.mp3",
            "a",
            "",
        ] {
            assert_eq!(Member::of(name.as_bytes()), None, "{name}");
        }
    }

    /// Names that phones of Motorola, Fairphone, Huawei, Google, Sony and Samsung gave.
    #[test]
    fn photos_of_a_burst_have_one_text_in_their_names() {
        for (name, expected) in [
            (
                "IMG_20180914_094602055_BURST000_COVER.jpg",
                "IMG_20180914_094602055_",
            ),
            (
                "IMG_20180914_094602055_BURST001.jpg",
                "IMG_20180914_094602055_",
            ),
            ("20210314_101010_BURST12.jpg", "20210314_101010_"),
            ("00001IMG_00001_BURST20171111030039.jpg", "20171111030039"),
            (
                "00015IMG_00015_BURST20171111030039_COVER.jpg",
                "20171111030039",
            ),
            (
                "DSC_0052_BURST20230709220904977_COVER.JPG",
                "20230709220904977",
            ),
            ("20231207_101605_001.jpg", "20231207_101605"),
            ("20231207_101605_039.dng", "20231207_101605"),
        ] {
            let found = burst(name.as_bytes());
            assert_eq!(found, Some(expected.as_bytes()), "{name}");
        }
        for name in [
            "20231207_101552.jpg",
            "20231207_101552_01.jpg",
            "IMG_20231207_101552.jpg",
            "BURST.jpg",
            "IMG_BURST001.mp4",
            "notes_BURST001.txt",
        ] {
            assert_eq!(burst(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn an_edited_photo_shares_the_file_about_its_original() {
        for (name, expected) in [
            ("IMG_1-edited.jpg", Some("IMG_1.jpg")),
            ("IMG_1-edited(1).jpg", Some("IMG_1(1).jpg")),
            ("IMG_1-modifié.JPG", Some("IMG_1.JPG")),
            ("IMG_1-ha editado.png", Some("IMG_1.png")),
            ("IMG_1-edited.xmp", None),
            ("IMG_1 edited.jpg", None),
            ("IMG_1.jpg", None),
        ] {
            let original = original(name.as_bytes());
            assert_eq!(original.as_deref(), expected.map(str::as_bytes), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_file_about_a_photo_with_a_long_name_is_clipped() {
        let long = "Urlaub in Knaufspesch in der Schneifel (38).JP";
        assert_eq!(long.chars().count(), CLIPPED);
        let json = format!("{long}.json");
        assert_eq!(clipped(json.as_bytes()), Some((long.as_bytes(), &b""[..])));
        let json_1 = format!("{long}(1).json");
        assert_eq!(
            clipped(json_1.as_bytes()),
            Some((long.as_bytes(), &b"(1)"[..]))
        );
        for name in [&json[1..], "a.jpg.json", long] {
            assert_eq!(clipped(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn sidecar_files_go_with_photos_and_films() {
        for name in ["IMG_1.CR2.xmp", "IMG_1.jpg.json"] {
            let kinds = Kind::ALL.map(|kind| kind.includes(name.as_bytes()));
            assert_eq!(kinds, [true, true, false, false, false], "{name}");
        }
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
            (b"film.LRV", Some(Kind::Video)),
            (b"tone.wav", Some(Kind::Audio)),
            (b"jpg", None),
            (b".jpg", None),
            (b"a.", None),
            (b"a.\xff", None),
            (b"a.jpgjpgjpgjpg", None),
            (b"", None),
        ] {
            for each in Kind::ALL {
                let expected = kind == Some(each);
                assert_eq!(each.includes(name), expected, "{}", name.escape_ascii());
            }
        }
    }
}
