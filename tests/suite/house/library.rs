//! What other programs use: its names, and the examples in `docs/examples`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use regex::Regex;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = top().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `lib.rs` lets other programs name, and does not hide if there is a choice.
fn root_names() -> BTreeSet<String> {
    let source = read("src/lib.rs");
    let item = Regex::new(r"(?s)((?:#\[[^\n]*\]\s*)*)pub (use|mod|fn|struct|enum|trait|type|const) ([^;{]*(?:\{[^}]*\})?)")
        .expect("a pattern");
    let mut names = BTreeSet::new();
    for found in item.captures_iter(&source) {
        let path = found[3].trim();
        // Tests and `main.rs` look inside.
        if found[1].contains("#[doc(hidden)]") {
            continue;
        }
        let last = match path.split_once('{') {
            Some((_, group)) => group.trim_end_matches('}').to_owned(),
            None => path.rsplit("::").next().unwrap_or("").to_owned(),
        };
        let listed = last.split(',').map(str::trim);
        names.extend(listed.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    names
}

#[test]
fn public_names_come_and_go_on_purpose_only() {
    let names = root_names();
    assert!(names.contains("Search") && names.contains("ActionKind"));
    insta::assert_snapshot!(names.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Runs an example with these answers to its questions.
fn example(name: &str, words: &[&str], answers: &str) -> Output {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(built_examples);
    let mut run = Command::new(BUILT.join(name))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example runs");
    let mut stdin = run.stdin.take().expect("a pipe");
    // An example that asks nothing may have ended.
    let _ignored = stdin.write_all(answers.as_bytes());
    drop(stdin);
    run.wait_with_output().expect("the example ends")
}

/// The folder of the examples, built from the sources of now: `cargo test --test suite` builds none.
fn built_examples() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // The folder that this test was built in.
    let profile = Path::new(env!("CARGO_BIN_EXE_seekless")).parent();
    let profile = profile.expect("target/PROFILE/seekless");
    let mut build = Command::new(cargo);
    build
        .current_dir(top())
        // It shows the time of each test, and would have all packages built anew.
        .env_remove("RUSTC_BOOTSTRAP")
        .args(["build", "--quiet", "--offline", "--examples"])
        .arg("--target-dir")
        .arg(profile.parent().expect("target"));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    printed(build.output().expect("cargo runs"));
    profile.join("examples")
}

/// Says what it printed, if it ended well.
#[track_caller]
fn printed(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Two files of one content, and one of another.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::Builder::new()
        .prefix("seekless-")
        .tempdir()
        .expect("a folder");
    let path = folder.path().canonicalize().expect("real");
    fs::create_dir(path.join("tree")).expect("made");
    for (name, content) in [("a", "same"), ("b", "same"), ("c", "else")] {
        fs::write(path.join("tree").join(name), content).expect("written");
    }
    (folder, path)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("plain")
}

#[test]
fn the_example_that_finds_names_sets_and_problems() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    let said = printed(example("find", &[text(&tree)], ""));
    assert!(said.starts_with("2 × 4 bytes\n"), "{said}");
    assert!(
        said.contains(&format!("  {}\n", text(&tree.join("b")))),
        "{said}"
    );
    let missing = example("find", &[text(&path.join("gone"))], "");
    assert!(!missing.status.success());
    let why = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        why.contains("gone") && why.contains("no such file"),
        "{why}"
    );
}

#[test]
fn the_example_that_acts_asks_links_and_undoes() {
    let inode = |path: &Path| fs::metadata(path).expect("there").ino();
    for (answers, linked) in [
        ("n\n", false),
        ("y\nn\n", false),
        ("y\ny\nn\n", true),
        ("y\ny\ny\n", false),
    ] {
        let (_folder, path) = tree();
        let (a, b) = (path.join("tree/a"), path.join("tree/b"));
        let words = [
            text(path.join("tree").as_path()).to_owned(),
            text(path.join("journals").as_path()).to_owned(),
        ];
        let words = words.each_ref().map(String::as_str);
        let said = printed(example("act", &words, answers));
        assert_eq!(inode(&a) == inode(&b), linked, "{answers:?}: {said}");
        assert_eq!(
            said.contains("1 as before"),
            answers == "y\ny\ny\n",
            "{said}"
        );
        assert_eq!(fs::read(&b).expect("there"), b"same");
    }
}

#[test]
fn the_example_that_watches_hands_over_each_set() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    let whole = printed(example("watch", &["60", text(&tree)], ""));
    assert!(whole.ends_with("2 × 4 bytes\n1 sets\n"), "{whole}");
}

#[test]
fn the_example_about_folders_names_the_other_folder() {
    let (_folder, path) = tree();
    let (one, other) = (path.join("one"), path.join("other"));
    for (folder, more) in [(&one, false), (&other, true)] {
        fs::create_dir(folder).expect("made");
        fs::write(folder.join("copy"), "same content").expect("written");
        if more {
            fs::write(folder.join("more"), "another content").expect("written");
        }
    }
    let said = printed(example("folders", &[text(&one), text(&other)], ""));
    let (one, other) = (text(&one), text(&other));
    assert_eq!(said, format!("{one}: all of it is also in {other}\n"));
    let gone = example("folders", &[text(&path.join("gone"))], "");
    assert!(!gone.status.success());
}

#[test]
fn the_example_that_compares_says_what_is_only_here() {
    let (_folder, path) = tree();
    let (here, there) = (path.join("here"), path.join("there"));
    fs::create_dir(&here).expect("made");
    fs::create_dir(&there).expect("made");
    fs::write(here.join("photo"), "same content").expect("written");
    fs::write(there.join("copy"), "same content").expect("written");
    let words = [text(&here), text(&there)];
    let said = printed(example("compare", &words, ""));
    assert_eq!(said, "files: 1, all of them are also there\n");
    fs::write(here.join("new"), "another content").expect("written");
    let said = printed(example("compare", &words, ""));
    assert_eq!(said, "new\nfiles: 2, only here: 1\n");
}

#[test]
fn what_is_cancelled_before_it_begins_says_that_it_is_not_complete() {
    let (_folder, path) = tree();
    let cancel = seekless::Cancel::new();
    cancel.cancel();
    let search = || seekless::Search::new([path.join("tree")]);
    let cancelled = search().cancel(&cancel).run().expect("searched");
    assert!(cancelled.summary.incomplete);
    let folders = seekless::Folders::new([&path]).cancel(&cancel).run();
    let folders = folders.expect("compared");
    assert!(folders.entries.is_empty() && folders.incomplete);

    let sets = search().run().expect("searched");
    assert!(!sets.summary.incomplete);
    let plan = seekless::Action::remove().plan(&sets).expect("planned");
    let journals = seekless::Journals::new(path.join("journals"));
    let applied = plan.cancel(&cancel).apply(&journals).expect("begun");
    assert_eq!((applied.done, applied.unreached), (0, 1));
    assert!(path.join("tree/b").exists());
}

/// Each of these would find nothing, or everything, for a reason that its caller did not mean.
#[test]
fn nonsense_is_an_error_and_not_an_empty_answer() {
    use seekless::{Action, Bytes, Compare, ErrorKind, Filter, Folders, Search};
    let (_folder, path) = tree();
    let search = || Search::new([path.join("tree")]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = i64::try_from(now.expect("after 1970").as_nanos()).expect("before 2262");
    let (hour, day) = (3600 * 1_000_000_000, 86_400 * 1_000_000_000);
    let sides = || Compare::new([path.join("tree"), path.join("tree/a")]);
    let sets = search().run().expect("searched");
    assert_eq!(sets.sets.len(), 1);
    let sizes = |min, max| Filter {
        min_size: Some(Bytes(min)),
        max_size: Some(Bytes(max)),
        ..Filter::default()
    };
    let times = |newer, older| Filter {
        newer_ns: Some(newer),
        older_ns: Some(older),
        ..Filter::default()
    };
    let found = |filter: Filter| search().filter(filter).run();
    let compared = |filter: Filter| sides().filter(filter).run().map(drop);
    let action = |copies| Action::remove().copies(copies).plan(&sets).map(drop);
    let folders = |percent| Folders::new([&path]).min_overlap(percent).run().map(drop);
    for (said, wrong) in [
        ("1 level or more", search().max_depth(0).run().map(drop)),
        (
            "1 level or more",
            search().max_depth(0).each(drop).map(drop),
        ),
        ("swap the two sizes", found(sizes(5, 4)).map(drop)),
        ("swap the two sizes", compared(sizes(5, 4))),
        ("include empty files", found(sizes(0, 0)).map(drop)),
        (
            "swap the two times",
            found(times(now - hour, now - day)).map(drop),
        ),
        ("two different ones", search().isolate(true).run().map(drop)),
        ("at least one copy", action(0)),
        ("0 is not a percentage", folders(0)),
        ("101 is not a percentage", folders(101)),
    ] {
        let wrong = wrong.expect_err(said);
        assert!(wrong.to_string().contains(said), "{wrong}");
        assert_eq!(wrong.kind(), ErrorKind::Setting, "{wrong}");
    }
    let fitting = Filter {
        newer_ns: Some(now - day),
        older_ns: Some(now + day),
        ..sizes(4, 4)
    };
    let fitting = search().max_depth(1).filter(fitting).run();
    assert_eq!(fitting.expect("searched").sets.len(), 1);
    let none = found(Filter {
        keep_empty: true,
        ..sizes(0, 0)
    });
    assert!(none.expect("searched").sets.is_empty());
    assert!(action(1).is_ok() && action(2).is_ok());
    assert!(folders(1).is_ok() && folders(100).is_ok());
}

/// Whoever builds a request here may hand it to a thread of a runtime.
#[test]
fn what_is_to_be_done_can_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<seekless::Search<'_>>();
    moves::<seekless::Compare<'_>>();
    moves::<seekless::Folders<'_>>();
    moves::<seekless::Action>();
    moves::<seekless::Plan<'_>>();
    moves::<seekless::Undo<'_>>();
    moves::<seekless::Sets>();
    moves::<seekless::Compared>();
    moves::<seekless::FoldersFound>();
    moves::<seekless::Error>();
}

#[test]
fn a_plan_is_made_of_a_report_as_of_a_search() {
    let (_folder, path) = tree();
    let report = path.join("report");
    let found = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(["find", "-q", "-o"])
        .args([&report, &path.join("tree")])
        .status();
    assert!(found.expect("seekless runs").success());
    let plan = seekless::Action::remove()
        .reference(path.join("tree/b"))
        .plan_report(&report)
        .expect("planned");
    assert_eq!(plan.totals().steps, 1);
    let mut kept = Vec::new();
    for set in plan.sets() {
        let files = set.files.into_iter();
        let stays = files.filter(|file| matches!(file.fate, seekless::Fate::Keep(_)));
        kept.extend(stays.map(|file| file.path().to_owned()));
    }
    assert_eq!(kept, [path.join("tree/b")]);
}

#[test]
fn the_example_inside_tokio_finds_the_same() {
    let (_folder, path) = tree();
    let said = printed(example("async", &[text(&path.join("tree"))], ""));
    assert_eq!(said, "2 × 4 bytes\n");
}
