use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::action::plan::set::Volume;

fn name(path: &str, root: u32, hold: Option<Code>) -> PlannedName {
    PlannedName {
        root: Some(root),
        given: root,
        hold,
        ..PlannedName::new(path.as_bytes(), path.as_bytes())
    }
}

fn volume(dev: u64, mount: u64) -> Arc<Volume> {
    Arc::new(Volume {
        dev,
        location: Location { dev, mount },
        shares_blocks: false,
    })
}

fn file(dev: u64, ino: u64, names: Vec<PlannedName>) -> PlannedFile {
    PlannedFile {
        volume: volume(dev, 0),
        ino,
        mtime_ns: ino as i64,
        ctime_ns: 0,
        links: names.len() as u32,
        size: 1,
        allocated: 4096,
        alike: None,
        recorded: None,
        rights: Rights::default(),
        names,
        fate: Fate::Leave(Code::NotAsked.into()),
    }
}

fn set(files: Vec<PlannedFile>) -> SetPlan {
    SetPlan {
        size: 1,
        files,
        ..SetPlan::default()
    }
}

fn policy(action: ActionKind, rules: &[&str]) -> Policy {
    Policy {
        rules: Rules::parse(rules).expect("good rules"),
        ..Policy::new(action)
    }
}

/// The fate of each file: `k` stays, `-` is left, a digit names the keeper.
fn fates(policy: &Policy, files: Vec<PlannedFile>, choice: &Choice) -> String {
    let mut set = set(files);
    policy.decide(&mut set, choice);
    let fate = |file: &PlannedFile| match &file.fate {
        Fate::Keep(_) => "k".to_owned(),
        Fate::Leave(_) | Fate::Carry(_) => "-".to_owned(),
        Fate::Act { keeper, .. } => keeper.to_string(),
    };
    set.files.iter().map(fate).collect()
}

fn simple(paths: &[(&str, Option<Code>)]) -> Vec<PlannedFile> {
    let file = |(ino, (path, hold)): (u64, &(&str, Option<Code>))| {
        let root = u32::from(path.starts_with("/b"));
        file(1, ino, vec![name(path, root, *hold)])
    };
    (0..).zip(paths).map(file).collect()
}

#[test]
fn the_rule_decides_and_one_stays() {
    let files = simple(&[("/a", None), ("/b", None), ("/c", None)]);
    let remove = policy(ActionKind::Remove, &["newest"]);
    assert_eq!(fates(&remove, files.clone(), &Choice::ByRule), "22k");
    let listed = policy(ActionKind::Remove, &[]);
    assert_eq!(fates(&listed, files, &Choice::ByRule), "k00");
}

#[test]
fn what_a_killed_run_left_behind_does_not_stay_for_others() {
    let remove = policy(ActionKind::Remove, &["newest"]);
    let files = simple(&[("/a", None), ("/b", None), ("/.seekless-R-0.part", None)]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "1k1");
    let files = simple(&[("/.seekless-R-0.tmp", None), ("/.seekless-R-1.tmp", None)]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "1k");
}

#[test]
fn what_is_held_counts_as_kept_and_references_come_first() {
    let remove = policy(ActionKind::Remove, &["newest"]);
    let files = simple(&[("/a", Some(Code::Protected)), ("/b", None), ("/c", None)]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "k00");
    let files = simple(&[
        ("/a", Some(Code::Protected)),
        ("/b", Some(Code::Reference)),
        ("/c", None),
    ]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "kk1");
    let two = Policy { keep: 2, ..remove };
    let files = simple(&[("/a", Some(Code::Protected)), ("/b", None), ("/c", None)]);
    assert_eq!(fates(&two, files, &Choice::ByRule), "k0k");
}

#[test]
fn a_held_file_in_a_trash_stays_but_not_for_others() {
    let in_trash = |path, hold| PlannedName {
        in_trash: true,
        ..name(path, 0, Some(hold))
    };
    for hold in [Code::Protected, Code::Outside, Code::Older] {
        let policy = policy(ActionKind::Remove, &[]);
        let mut files = simple(&[("/m/a", None), ("/m/b", None)]);
        files.insert(0, file(1, 9, vec![in_trash("/t/a", hold)]));
        assert_eq!(fates(&policy, files.clone(), &Choice::ByRule), "kk1");
        // A further name of the held file, outside of the trash.
        let names = vec![in_trash("/t/a", hold), name("/n/a", 0, Some(hold))];
        files.push(file(1, 10, names));
        let mut set = set(files);
        policy.decide(&mut set, &Choice::ByRule);
        let relied_on = set.steps(ActionKind::Remove).map(|step| step.keeper.path);
        let relied_on: BTreeSet<Vec<u8>> = relied_on.collect();
        assert_eq!(relied_on, [b"/n/a".to_vec()].into(), "{hold:?}");
    }
    let reference = file(1, 9, vec![in_trash("/t/a", Code::Reference)]);
    let files = [reference, file(1, 1, vec![name("/m/a", 0, None)])];
    let remove = policy(ActionKind::Remove, &[]);
    assert_eq!(fates(&remove, files.into(), &Choice::ByRule), "k0");
}

#[test]
fn a_file_with_one_name_held_stays_whole() {
    let names = vec![name("/a", 0, None), name("/p/a", 0, Some(Code::Protected))];
    let files = vec![file(1, 1, vec![name("/b", 1, None)]), file(1, 2, names)];
    let remove = policy(ActionKind::Remove, &[]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "1k");
}

#[test]
fn hard_links_stay_on_their_file_system() {
    let on = |dev, ino| file(dev, ino, vec![name("/x", 0, None)]);
    let files = vec![on(1, 1), on(2, 2), on(2, 3), on(3, 4)];
    let link = policy(ActionKind::Hardlink, &[]);
    assert_eq!(fates(&link, files.clone(), &Choice::ByRule), "-k1-");
    let remove = policy(ActionKind::Remove, &[]);
    assert_eq!(fates(&remove, files, &Choice::ByRule), "k000");
}

#[test]
fn isolated_copies_beside_the_kept_file_stay() {
    let files = simple(&[
        ("/a/1", None),
        ("/a/2", None),
        ("/b/1", None),
        ("/b/2", None),
    ]);
    let isolate = Policy {
        isolate: true,
        ..policy(ActionKind::Remove, &[])
    };
    assert_eq!(fates(&isolate, files, &Choice::ByRule), "kk00");
}

#[test]
fn the_user_can_keep_others_but_not_none() {
    let remove = policy(ActionKind::Remove, &[]);
    let files = || simple(&[("/a", None), ("/c", None), ("/d", None)]);
    for (choice, expected) in [
        (Choice::Keep(vec![1, 2]), "1kk"),
        (Choice::Keep(vec![]), "k00"),
        (Choice::Keep(vec![9]), "k00"),
        (Choice::KeepAll, "kkk"),
        (Choice::Undecided, "---"),
    ] {
        assert_eq!(fates(&remove, files(), &choice), expected, "{choice:?}");
    }
    let files = simple(&[("/a", Some(Code::Protected)), ("/b", None)]);
    assert_eq!(fates(&remove, files, &Choice::Keep(vec![1])), "kk");
    // A held file in a trash stays for others only if it is chosen.
    for (choice, expected) in [(vec![], "kk1"), (vec![2], "k2k"), (vec![0], "k00")] {
        let mut files = simple(&[("/t/a", Some(Code::Protected)), ("/c", None), ("/d", None)]);
        files[0].names[0].in_trash = true;
        assert_eq!(fates(&remove, files, &Choice::Keep(choice)), expected);
    }
}

/// As [`fates`]; `!` for a file that is left since its rights are others.
fn fates_by_rights(policy: &Policy, owned: &[(u32, &[&str])]) -> String {
    let hold = |path: &str| path.starts_with("/r").then_some(Code::Reference);
    let of = |(ino, (uid, names)): (u64, &(u32, &[&str]))| {
        let names = names.iter().map(|path| name(path, 0, hold(path)));
        let mut file = file(1, ino, names.collect());
        file.rights.uid = *uid;
        file
    };
    let mut set = set((0..).zip(owned).map(of).collect());
    policy.decide(&mut set, &Choice::ByRule);
    let fate = |file: &PlannedFile| match &file.fate {
        Fate::Keep(_) => "k".to_owned(),
        Fate::Leave(why) if why.code == Code::Apart => "!".to_owned(),
        Fate::Leave(_) | Fate::Carry(_) => "-".to_owned(),
        Fate::Act { keeper, .. } => keeper.to_string(),
    };
    set.files.iter().map(fate).collect()
}

#[test]
fn files_stand_only_for_others_of_the_same_rights() {
    let link = Policy {
        common: Common::Access,
        ..policy(ActionKind::Hardlink, &[])
    };
    let files: [(u32, &[&str]); 5] = [
        (1, &["/a"]),
        (2, &["/b"]),
        (1, &["/c"]),
        (3, &["/d"]),
        (2, &["/e"]),
    ];
    assert_eq!(fates_by_rights(&link, &files), "kk0!1");
    // What stays for a reason of its own is not left for lack of another.
    let held: [(u32, &[&str]); 3] = [(1, &["/a"]), (1, &["/b"]), (2, &["/r"])];
    assert_eq!(fates_by_rights(&link, &held), "k0k");
    // Only what a reference stands for may go.
    let by_reference = Policy {
        by_reference: true,
        ..link
    };
    let files: [(u32, &[&str]); 4] = [(1, &["/a"]), (1, &["/b"]), (2, &["/c"]), (2, &["/r"])];
    assert_eq!(fates_by_rights(&by_reference, &files), "!!3k");
}

#[test]
fn a_file_of_its_own_rights_stands_for_no_other() {
    let remove = Policy {
        common: Common::Owner,
        ..policy(ActionKind::Remove, &[])
    };
    let files: [(u32, &[&str]); 2] = [(1, &["/a"]), (2, &["/b", "/c"])];
    assert_eq!(fates_by_rights(&remove, &files), "!!");
}

fn any_file(ino: u64) -> impl Strategy<Value = PlannedFile> {
    let hold = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Code::Protected)),
        1 => Just(Some(Code::Reference)),
        1 => Just(Some(Code::Outside)),
        1 => Just(Some(Code::Older)),
    ];
    let in_trash = prop::bool::weighted(0.3);
    let names = ("/[ab]/[a-c]{1,3}", 0_u32..3, hold, in_trash);
    let names = prop::collection::vec(names, 1..4);
    (1_u64..3, names).prop_map(move |(dev, names)| {
        let names = names
            .into_iter()
            .map(|(path, root, hold, in_trash)| PlannedName {
                in_trash,
                ..name(&path, root, hold)
            });
        file(dev, ino, names.collect())
    })
}

fn any_files() -> impl Strategy<Value = Vec<PlannedFile>> {
    (0_u64..6).prop_flat_map(|count| (0..count).map(any_file).collect::<Vec<_>>())
}

proptest! {
    /// A removed file has a keeper that stays, whatever rules, bounds and users say.
    #[test]
    fn nobody_goes_without_a_keeper(
        files in any_files(),
        action in prop::sample::select(vec![
            ActionKind::Remove, ActionKind::Symlink, ActionKind::Hardlink, ActionKind::Reflink,
        ]),
        rule in prop::sample::select(vec!["newest", "best-name", "shortest-path,oldest", "name a*"]),
        keep in 0_usize..4,
        isolate: bool,
        by_reference: bool,
        choice in prop_oneof![
            Just(Choice::ByRule),
            Just(Choice::KeepAll),
            prop::collection::vec(0_usize..7, 0..4).prop_map(Choice::Keep),
        ],
    ) {
        let policy = Policy { keep, isolate, by_reference, ..policy(action, &[rule]) };
        let mut set = set(files);
        // A question follows a decision by the rules.
        policy.decide(&mut set, &Choice::ByRule);
        policy.decide(&mut set, &choice);
        for file in &set.files {
            let Fate::Act { keeper, .. } = file.fate else { continue };
            let is_chosen = matches!(&choice, Choice::Keep(chosen) if chosen.contains(&keeper));
            let keeper = &set.files[keeper];
            prop_assert!(is_chosen || keeper.names.iter().any(PlannedName::is_relied_on) || file.rank() != Rank::Normal);
            prop_assert!(matches!(keeper.fate, Fate::Keep(_)));
            prop_assert!(file.hold().is_none());
            prop_assert_ne!((keeper.volume.dev, keeper.ino), (file.volume.dev, file.ino));
            prop_assert!(action != ActionKind::Hardlink || keeper.volume == file.volume);
            prop_assert!(!by_reference || keeper.hold() == Some(Code::Reference));
        }
        let acted = set.files.iter().any(PlannedFile::goes);
        let kept = set.files.iter().filter(|file| matches!(file.fate, Fate::Keep(_))).count();
        prop_assert!(!acted || kept >= 1);
        prop_assert!(!acted || choice != Choice::ByRule || kept >= keep);
    }
}
