//! Tests of files of rows: written, indexed, written anew, damaged, and found again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;

use super::frame::{Day, Key, push_row};
use super::row::{FileState, Row};
use super::rows::Rows;
use super::settle::settle;
use super::writer::{Target, Writer};
use super::*;
use crate::hash::SampleDigest;

const NAME: &str = "00112233445566778899aabbccddeeff.rows";

const DAY_NS: i64 = 24 * 3600 * 1_000_000_000;

/// A day so many days after the first run.
fn after(days: i64) -> Day {
    Day::of((20_000 + days) * DAY_NS)
}

/// A row of a run that began at this time, with one part, of a file in one of two states.
fn row(state: u64, began_ns: i64, part: u8) -> Row {
    let state = FileState {
        size: state,
        mtime_ns: 1,
        ctime_ns: 5,
    };
    let digest = SampleDigest::of(&[part, state.size as u8]);
    let mut row = Row::new(state, began_ns + 2 * MARGIN.as_nanos() as i64);
    if part.is_multiple_of(2) {
        row.head = Some(digest);
    } else {
        row.tail = Some(digest);
    }
    row
}

/// A folder of a cache.
struct Place {
    _top: tempfile::TempDir,
    folder: Arc<CacheFolder>,
}

impl Place {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(&top.path().join("cache")).expect("is made");
        Self {
            _top: top,
            folder: Arc::new(folder),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    fn open(&self) -> Option<Rows> {
        Rows::open(&self.folder, NAME).expect("is read")
    }

    /// The beginning of a run that learns these rows.
    fn begin(&self, today: Day, learned: &[(Key, Row)]) -> (Option<Rows>, Writer) {
        let rows = self.open();
        let mut writer = Writer::new(Target {
            folder: Arc::clone(&self.folder),
            name: NAME.to_owned(),
            file: rows.as_ref().map(Rows::end),
            searched: "/photos".into(),
        });
        learned
            .iter()
            .for_each(|(key, row)| writer.learned(*key, today, row));
        (rows, writer)
    }

    /// A run that learns these rows, requests these, and ends.
    fn run(&self, today: Day, learned: &[(Key, Row)], requested: &[Key]) {
        self.end(today, self.begin(today, learned), requested);
    }

    fn end(&self, today: Day, run: (Option<Rows>, Writer), requested: &[Key]) {
        let (mut rows, writer) = run;
        let mut used = Vec::new();
        for &key in requested {
            let marked = rows
                .as_mut()
                .and_then(|rows| rows.find(key, &mut Row::default()));
            used.extend(marked.filter(|marked| today.renews(*marked)).map(|_| key));
        }
        let appended = writer.finish().expect("is written");
        settle(&self.folder, NAME, rows, appended, used, today).expect("is settled");
    }

    /// Changes the bytes of the file, if there is one.
    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        if let Ok(mut bytes) = fs::read(self.path()) {
            change(&mut bytes);
            fs::write(self.path(), bytes).expect("is written");
        }
    }

    fn count(&self) -> u64 {
        self.open().map_or(0, |rows| rows.count())
    }
}

fn found(rows: &mut Rows, key: Key) -> Option<Row> {
    let mut row = Row::default();
    rows.find(key, &mut row).map(|_| row)
}

/// What happens to a file of rows.
#[derive(Clone, Copy, Debug)]
enum Event {
    Run,
    /// A run that requests all rows and marks those that were not requested for a month.
    Renewal,
    /// Two runs at the same time.
    Two,
    /// A run that is killed while it writes.
    Kill,
    Cut,
    Damage,
}

const EVENTS: [Event; 6] = [
    Event::Run,
    Event::Renewal,
    Event::Two,
    Event::Kill,
    Event::Cut,
    Event::Damage,
];

/// What is known of a file by a naive table.
#[derive(Default)]
struct Known {
    /// All that was ever learned.
    all: Vec<Row>,
    /// What has to be found; `None` if it may be lost.
    row: Option<Row>,
    /// Nothing else may be found.
    is_exact: bool,
}

impl Known {
    fn learn(&mut self, row: &Row, is_sure: bool) {
        let before = self.row.take();
        let same = before.filter(|before| before.state == row.state);
        self.is_exact = is_sure && (self.is_exact || self.all.is_empty());
        self.row = if is_sure {
            let mut row = row.clone();
            same.into_iter().for_each(|before| row.join(before));
            Some(row)
        } else {
            same
        };
        self.all.push(row.clone());
    }

    fn allows(&self, found: Option<&Row>) -> bool {
        if self.is_exact {
            return found == self.row.as_ref();
        }
        let Some(found) = found else {
            return self.row.is_none();
        };
        let mut all = Row::new(found.state, 0);
        let learned = self.all.iter().filter(|row| row.state == found.state);
        learned.for_each(|row| all.join(row.clone()));
        let has = |all: &Row, some: &Row| {
            let parts = [(all.head, some.head), (all.tail, some.tail)];
            all.state == some.state
                && parts
                    .iter()
                    .all(|(all, some)| some.is_none() || all == some)
        };
        has(&all, found) && self.row.as_ref().is_none_or(|row| has(found, row))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The last state of a file counts, with all that was learned of it in this state. A kill costs only rows of the
    /// run that is killed, damage and cuts any rows. None of them makes a row.
    #[test]
    fn what_runs_have_learned_is_found_whatever_happens_to_the_file(
        events in prop::collection::vec((
            prop::sample::select(&EVENTS),
            prop::collection::vec((0..2_u64, 0..150_u64, 0..2_u64, 0..2_u8), 0..600),
            any::<prop::sample::Index>(),
        ), 1..6),
    ) {
        let place = Place::new();
        let mut known: BTreeMap<Key, Known> = BTreeMap::new();
        for (began, (event, learned, at)) in (0..).zip(events) {
            let today = after(31 * began);
            let learned = learned.iter().map(|&(subvolume, inode, state, part)| {
                ((subvolume, inode), row(state, began * 31 * DAY_NS, part))
            });
            let mut learned: Vec<(Key, Row)> = learned.collect();
            match event {
                Event::Run => place.run(today, &learned, &[]),
                Event::Renewal => {
                    let all: Vec<Key> = known.keys().copied().collect();
                    place.run(today, &learned, &all);
                }
                Event::Two => {
                    let (odd, even) = learned.iter().cloned().partition(|((_, inode), _)| inode % 2 == 1);
                    let [odd, even]: [Vec<(Key, Row)>; 2] = [odd, even];
                    let other = place.begin(today, &odd);
                    place.run(today, &even, &[]);
                    place.end(today, other, &[]);
                }
                Event::Kill => {
                    let before = fs::metadata(place.path()).map_or(0, |is| is.len()) as usize;
                    let (_rows, writer) = place.begin(today, &learned);
                    writer.finish().expect("is written");
                    place.change(|bytes| bytes.truncate(before + at.index(bytes.len() - before + 1)));
                }
                Event::Cut | Event::Damage => {
                    learned.clear();
                    known.values_mut().for_each(|known| (known.row, known.is_exact) = (None, false));
                    place.change(|bytes| {
                        let at = at.index(bytes.len() + 1);
                        if matches!(event, Event::Cut) {
                            bytes.truncate(at);
                        } else if let Some(byte) = bytes.get_mut(at.max(8)) {
                            *byte ^= 1 << (at % 8);
                        }
                    });
                }
            }
            for (key, row) in &learned {
                let is_sure = !matches!(event, Event::Kill);
                known.entry(*key).or_default().learn(row, is_sure);
            }
            let Some(mut rows) = place.open() else {
 continue };
            if known.values().all(|known| known.is_exact) {
                prop_assert_eq!(rows.count(), known.len() as u64);
            }
            for subvolume in 0..2 {
                for inode in (0..150).chain((0..150).rev()) {
                    let key = (subvolume, inode);
                    let found = found(&mut rows, key);
                    let is_allowed = known.entry(key).or_default().allows(found.as_ref());
                    prop_assert!(is_allowed, "{:?} {:?} {:?}", event, key, found);
                }
            }
        }
    }
}

/// Rows of so many files behind an index, and some more that it does not cover.
fn filled(place: &Place, count: u64) -> Vec<(Key, Row)> {
    let rows = (0..count).map(|inode| ((0, inode), row(inode % 7, 0, 0)));
    let rows: Vec<_> = rows.collect();
    let (indexed, others) = rows.split_at(rows.len() - rows.len() / 20);
    place.run(after(0), indexed, &[]);
    place.run(after(0), others, &[]);
    rows
}

#[test]
fn damage_anywhere_costs_rows_and_never_makes_one() {
    let place = Place::new();
    let all = filled(&place, 120);
    let whole = fs::read(place.path()).expect("is read");
    let mut lost = 0;
    for at in (0..whole.len()).step_by(7) {
        for cut in [false, true] {
            let mut bytes = whole.clone();
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << (at % 8);
            }
            fs::write(place.path(), &bytes).expect("is written");
            // What seekless did not make is refused.
            let Ok(Some(mut rows)) = Rows::open(&place.folder, NAME) else {
                assert!(at < 8, "byte {at}");
                continue;
            };
            for (key, row) in &all {
                let found = found(&mut rows, *key);
                lost += usize::from(found.is_none());
                assert!(found.is_none_or(|found| found == *row), "byte {at}");
            }
        }
    }
    assert!(lost > 0);
    // The next run writes a whole file again.
    place.run(after(0), &all, &[]);
    assert_eq!(place.count(), 120);
}

#[test]
fn more_rows_than_are_kept_in_memory_are_found_in_any_order() {
    let place = Place::new();
    let all = filled(&place, 20_000);
    let mut rows = place.open().expect("is there");
    for step in [1, 2, 7_919] {
        for nth in 0..all.len() {
            let (key, row) = &all[nth * step % all.len()];
            assert_eq!(found(&mut rows, *key).as_ref(), Some(row), "{key:?}");
        }
    }
    assert_eq!(found(&mut rows, (0, all.len() as u64)), None);
}

#[test]
fn what_a_killed_run_has_half_written_is_cut_off() {
    let place = Place::new();
    let all = filled(&place, 300);
    let whole = fs::read(place.path()).expect("is read");
    let mut half = frame::begun();
    push_row(&mut half, (0, 7), after(0), &row(0, 0, 0));
    frame::seal(&mut half, frame::Kind::Rows, rows::seed_of(NAME));
    for at in 0..half.len() {
        fs::write(place.path(), [&whole[..], &half[..at]].concat()).expect("is written");
        place.run(after(0), &[((9, 9), row(0, 0, 1))], &[]);
        let rows = place.open().expect("is there");
        assert_eq!(rows.count(), all.len() as u64 + 1, "{at}");
    }
}

#[test]
fn a_row_of_another_file_system_is_none() {
    let place = Place::new();
    filled(&place, 300);
    let other = NAME.replace("ff", "fe");
    fs::copy(place.path(), place.folder.path().join(&other)).expect("is copied");
    let rows = Rows::open(&place.folder, &other).expect("is read");
    assert!(!rows.expect("is there").any());
}

#[test]
fn while_another_run_uses_a_file_it_is_not_replaced_and_both_find_all_rows() {
    let place = Place::new();
    let other = {
        place.run(after(0), &[((0, 1), row(1, 0, 0))], &[]);
        place.open().expect("is there")
    };
    let before = fs::metadata(place.path()).expect("is there").ino();
    let all: Vec<(Key, Row)> = (0..500).map(|inode| ((0, inode), row(1, 0, 1))).collect();
    place.run(after(0), &all, &[]);
    let ino = || fs::metadata(place.path()).expect("is there").ino();
    assert_eq!((ino(), place.count()), (before, 500));
    drop(other);
    place.run(after(0), &all, &[]);
    assert_ne!(ino(), before);
    assert_eq!(place.count(), 500);
}

#[test]
fn a_file_that_another_program_made_stays() {
    let place = Place::new();
    fs::write(place.path(), "their letters").expect("is written");
    let kept = place.folder.kept().expect("is listed");
    let refused = place.folder.remove(&kept[0]);
    assert!(
        matches!(refused, Err(CacheError::Occupied(_))),
        "{refused:?}"
    );
    assert!(
        kept[0]
            .contents
            .as_ref()
            .is_err_and(CacheError::is_occupied)
    );
    assert!(place.path().exists());
}
