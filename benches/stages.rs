//! Hot measurements of what users wait for, through the library's own door:
//! `cargo bench --bench stages`.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

use seekless::decide::{Counting, DuplicateSet, Effect, Machine, Member, Rules, Summary};
use seekless::engine::{Config, Control, Copies, Delivery, PageUse, Root, find};
use seekless::event::Deaf;
use seekless::file::{FolderId, FoundFile, Numbering, SharedDirs};
use seekless::hash::ContentDigest;
use seekless::report::{FORMATS, Header, Style};
use seekless::scan::FilterSpec;
use seekless::units::Bytes;

/// Bytes that differ from seed to seed.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut out);
    out
}

/// Files of one length in folders of 100; every content comes `copies` times.
fn tree(folder: &Path, files: u64, len: usize, copies: u64) {
    for i in 0..files {
        let place = folder.join(format!("d{}", i / 100));
        fs::create_dir_all(&place).expect("a folder");
        let content = bytes(i % (files / copies), len);
        fs::write(place.join(format!("f{i}")), content).expect("a file");
    }
}

fn config(folder: &Path) -> Config {
    Config {
        roots: vec![Root::from(folder.to_owned())],
        filter: FilterSpec::default().build().expect("no pattern"),
        page_use: PageUse::Keep,
        ..Config::default()
    }
}

fn runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("find");
    group.sample_size(20);
    for (name, files, len, copies) in [
        ("small, each three times", 6000, 1000, 3),
        ("small, all of one size, none equal", 6000, 1000, 1),
        ("same length 100 kB, half equal", 400, 100_000, 2),
        ("8 MB, in pairs", 8, 8 << 20, 2),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        tree(folder.path(), files, len, copies);
        let config = config(folder.path());
        group.throughput(Throughput::Elements(files));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut sets = 0;
                let mut count = |_: &DuplicateSet| {
                    sets += 1;
                    Ok(())
                };
                let control = Control::default();
                let found = find(&config, Delivery::AsFinal, &Deaf, &control, &mut count);
                found.expect("a run");
                let expected = if copies > 1 { files / copies } else { 0 };
                assert_eq!(sets, expected);
            });
        });
    }
    group.finish();
}

fn set(number: u64) -> DuplicateSet {
    let member = |i: u64| Member {
        names: vec![format!("/home/anna/photos/2019/{number}/IMG_{i:04}.jpg").into_bytes()],
        dev: 0x801,
        ino: number * 10 + i,
        links: 1,
        mtime_ns: 1_560_000_000_123_456_789,
        allocated: 4_198_400,
        disk: Arc::from("sda"),
        ambiguous: false,
        root: 0,
    };
    DuplicateSet {
        size: 4_194_305,
        digest: Some(ContentDigest::from(blake3::hash(&number.to_le_bytes()))),
        cached: false,
        members: (0..3).map(member).collect(),
        replicas: 3,
        reclaimable: 8_396_800,
        ..DuplicateSet::default()
    }
}

fn reports(criterion: &mut Criterion) {
    let sets: Vec<_> = (0..1000).map(set).collect();
    let (header, summary) = (Header::default(), Summary::default());
    let mut group = criterion.benchmark_group("report of 1000 sets");
    // Files: a report of a million takes a million times as long as one.
    group.throughput(Throughput::Elements(3000));
    for format in FORMATS {
        group.bench_function(format.name, |bencher| {
            bencher.iter_batched_ref(
                || Vec::with_capacity(2 << 20),
                |out: &mut Vec<u8>| {
                    let mut report = (format.make)(&Style::default());
                    report.begin(out, &header).expect("memory");
                    for set in &sets {
                        report.set(out, set).expect("memory");
                    }
                    report.end(out, &summary).expect("memory");
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Files of a join.
const CANDIDATES: u64 = 100_000;

/// What the one thread does that owns the tables, without the messages to and from others: it takes in files
/// of `sizes` lengths, joins them by their contents, of which each comes twice, and says which are equal.
fn join(sizes: u64) -> usize {
    let dirs = SharedDirs::default();
    let dir = dirs.write().add_root(
        b"r",
        0,
        FolderId {
            dev: 1,
            ino: 1,
            mount: 0,
        },
    );
    let counting = Counting {
        copies: Copies::default(),
        hard_links: false,
        isolate: false,
    };
    let rules = Rules {
        counting,
        ..Rules::default()
    };
    let mut machine = Machine::new(Arc::new(dirs), rules);
    let volume = machine.volume_number(1);
    machine.trust_numbers(volume, Numbering::Unique);
    let name = |i: u64| format!("file-{i:06}.jpg").into_bytes();
    let mut equal = 0;
    let answer = |machine: &mut Machine| {
        let wanted: Vec<Effect> = machine.effects().collect();
        for effect in wanted {
            let mut bytes = [7; 32];
            bytes[..4].copy_from_slice(&(effect.file.0 / 2).to_le_bytes());
            machine.content_read(effect.file, ContentDigest::from_bytes(bytes));
        }
    };
    for i in 0..CANDIDATES {
        let name = name(i);
        let found = FoundFile {
            ino: i * 3,
            size: 1 + i / 2 % sizes,
            mtime_ns: 1,
            ctime_ns: 1,
            blocks: 8,
            links: 1,
            name_len: name.len() as u16,
            via_link: false,
            mounted: false,
        };
        machine.found(&found, &name, dir, 0, volume, None);
        if i % 512 == 511 {
            answer(&mut machine);
        }
    }
    answer(&mut machine);
    machine.scan_done();
    for size in machine.finished() {
        equal += machine.contents(size).count();
    }
    equal
}

fn joins(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("join");
    group.throughput(Throughput::Elements(CANDIDATES));
    for (name, sizes) in [("four sizes", 4), ("a thousand sizes", 1000)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(join(black_box(sizes)) as u64, CANDIDATES / 2));
        });
    }
    group.finish();
}

fn units(criterion: &mut Criterion) {
    criterion.bench_function("a size read and written", |bencher| {
        bencher.iter(|| {
            let size: Bytes = black_box("1.5 GiB").parse().expect("a size");
            size.to_string()
        });
    });
}

criterion_group!(benches, runs, joins, reports, units);
criterion_main!(benches);
