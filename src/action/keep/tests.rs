use super::*;
use crate::file::CopyMarks;

struct File {
    mtime_ns: i64,
    links: u64,
    names: &'static [&'static str],
}

fn chosen(rules: &[&str], files: &[File], count: usize) -> Vec<(usize, String)> {
    let rules = Rules::parse(rules).expect("good rules");
    let chosen = rules.choose(&traits(files), count).into_iter();
    chosen.map(|c| (c.index, c.why)).collect()
}

fn traits(files: &[File]) -> Vec<Traits<'static>> {
    let bare = |name: &&'static str| name.rsplit('/').next().unwrap_or_default().as_bytes();
    let marks = CopyMarks::among(|| files.iter().flat_map(|file| file.names).map(bare));
    let named = |name: &&'static str, mtime_ns| {
        let root = u32::from(!name.starts_with("/etc"));
        Named {
            path: name.as_bytes(),
            listed: name.as_bytes(),
            root: Some(root),
            preference: Preference {
                given: root,
                marks: marks.on(bare(name)),
                mtime_ns,
                ..Preference::default()
            },
        }
    };
    let traits = files.iter().map(|file| Traits {
        mtime_ns: file.mtime_ns,
        links: file.links as u32,
        tags: 0,
        place: (0, 0),
        names: file
            .names
            .iter()
            .map(|name| named(name, file.mtime_ns))
            .collect(),
    });
    traits.collect()
}

fn file(mtime_ns: i64, names: &'static [&'static str]) -> File {
    File {
        mtime_ns,
        links: names.len() as u64,
        names,
    }
}

#[test]
fn each_rule_prefers_what_it_says() {
    let files = [
        file(10, &["/usr/bin/down/Copy of x.jpg"]),
        file(30, &["/etc/x (1).jpg", "/etc/y"]),
        file(20, &["/usr/x.jpg"]),
    ];
    for (rule, index) in [
        ("newest", 1),
        ("oldest", 0),
        ("shortest-path", 1),
        ("longest-path", 0),
        ("shallowest", 1),
        ("deepest", 0),
        ("first-root", 1),
        ("under /usr/bin", 0),
        ("under=/etc", 1),
        ("not-under /usr", 1),
        ("not-under:/etc", 2),
        ("name x.jpg", 2),
        ("name Copy*", 0),
        ("regex /down/", 0),
        ("largest-link-count", 1),
        ("best-name", 1),
    ] {
        assert_eq!(chosen(&[rule], &files, 1)[0].0, index, "{rule}");
    }
    let mut traits = traits(&files);
    traits[1].tags = 1;
    for (rule, index) in [("richest-tags", 1), ("oldest", 0)] {
        let rules = Rules::parse(&[rule]).expect("a rule");
        assert_eq!(rules.choose(&traits, 1)[0].index, index, "{rule}");
    }
    let chosen = Rules::default().choose(&traits, 1);
    assert_eq!((chosen[0].index, &*chosen[0].why), (1, "more tags"));
    assert_eq!(RULES.len(), 14, "a new rule wants a line above");
}

#[test]
fn ties_go_to_the_next_rule() {
    let files = [
        file(10, &["/a/long-name"]),
        file(20, &["/b/longer-name"]),
        file(20, &["/b/short"]),
        file(20, &["/b/other"]),
    ];
    assert_eq!(
        chosen(&["newest,shortest-path"], &files, 1),
        [(3, "first by path".to_owned())]
    );
    assert_eq!(
        chosen(&["newest", "name o*"], &files, 1),
        [(3, "name o*".to_owned())]
    );
    assert_eq!(chosen(&["oldest"], &files, 1), [(0, "oldest".to_owned())]);
}

#[test]
fn several_can_stay() {
    let files = [file(1, &["/a"]), file(3, &["/b"]), file(2, &["/c"])];
    let stay = chosen(&["newest"], &files, 2);
    assert_eq!(stay, [(1, "newest".to_owned()), (2, "newest".to_owned())]);
    assert_eq!(chosen(&["newest"], &files, 9).len(), 3);
    assert_eq!(chosen(&["newest"], &files, 3)[2].1, "the only one left");
}

#[test]
fn an_argument_may_hold_commas() {
    let files = [file(1, &["/a/x,y"]), file(2, &["/a/z"])];
    assert_eq!(chosen(&["name x,y"], &files, 1)[0].0, 0);
}

#[test]
fn what_is_no_rule_is_explained() {
    let mut said = String::new();
    for text in [
        "newst",
        "",
        "under",
        "newest 3",
        "name [",
        "regex (",
        "newest,under /a",
        "newest,foo",
        "Newest",
    ] {
        let error = Rules::parse(&[text]).expect_err(text);
        assert_eq!(error.to_string().lines().count(), 1);
        said.push_str(&format!("{text:?}\n    {error}\n"));
    }
    insta::assert_snapshot!(said);
}
