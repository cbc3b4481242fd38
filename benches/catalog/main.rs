//! Size, speed (rows a second of the processor's time) and memory of generated catalogs:
//! `cargo bench --bench catalog -- [ROWS] [FOLDER]`. They stay in the folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use parquet::file::reader::{FileReader, SerializedFileReader};
use seekless::ContentDigest;
use seekless::catalog::{Catalog, Facts, Form, Kind, Row, WholeDigest, Writer};
use seekless::engine::{self, CatalogRoot, Config, Control, Delivery, Root};
use seekless::event::Deaf;
use seekless::hash::SampleDigest;

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }
}

const WORDS: [&str; 16] = [
    "photos",
    "2019",
    "Holiday",
    "src",
    "lib",
    "include",
    "backup",
    "music",
    "Documents",
    "cache",
    "test",
    "report",
    "invoice",
    "node_modules",
    "data",
    "old",
];

const KINDS: [&str; 8] = ["jpg", "txt", "rs", "js", "mp3", "pdf", "h", "png"];

/// Folders, names and times of files as they lie on disks: a dozen in a folder, of one time; in the order of the paths,
/// as the rows of a catalog are.
fn files(mut random: Random) -> impl Iterator<Item = (String, String, i64)> {
    (0..).flat_map(move |top| {
        let mut files = Vec::new();
        for _ in 0..8 {
            let parts = (0..3).map(|_| WORDS[random.below(16) as usize]);
            let dir = format!("/{top:05}/{}", parts.collect::<Vec<_>>().join("/"));
            let mut number = random.below(9000);
            let mut time =
                1_400_000_000_000_000_000 + random.below(350_000_000) as i64 * 1_000_000_000;
            for _ in 0..=random.below(24) {
                number += 1 + random.below(3);
                let word = WORDS[random.below(16) as usize];
                let kind = KINDS[random.below(8) as usize];
                time += random.below(60_000_000_000) as i64;
                files.push((dir.clone(), format!("{word}_{number:04}.{kind}"), time));
            }
        }
        files.sort();
        files
    })
}

/// Writes rows of such files, two fifths of them longer than 32 KiB.
fn write(path: &str, form: Form, rows: u64) -> std::io::Result<()> {
    let mut random = Random(42);
    let mut out = BufWriter::new(File::create(path)?);
    let facts = Facts {
        form,
        ..Facts::new(
            "nas1".to_owned(),
            "2026-11-27T20:00:00.123456789Z".to_owned(),
        )
    };
    let mut writer = Writer::new(&mut out, facts)?;
    for (row, (dir, name, time)) in (0..rows).zip(files(Random(7))) {
        let is_long = random.below(5) < 2;
        let size = if is_long {
            40_000 + random.below(1 << 24)
        } else {
            random.below(32 << 10)
        };
        let digest = WholeDigest::Blake3(ContentDigest::from_bytes(random.bytes()));
        let sample = |random: &mut Random| Some(SampleDigest::from_bytes(random.bytes()));
        let has_samples = is_long && form != Form::Metadata;
        let has_digest = form == Form::Full || form == Form::Quick && !is_long;
        writer.row(&Row {
            volume: Some("1c2f63d8-5375-4839-92c0-b3d75164ae61"),
            kind: Kind::File,
            dir: dir.as_bytes(),
            name: name.as_bytes(),
            size: Some(size as i64),
            allocated: Some((size as i64 + 4095) & !4095),
            mtime_ns: Some(time),
            ctime_ns: Some(
                1_790_000_000_000_000_000 + row as i64 * 1_900_000 + random.below(900_000) as i64,
            ),
            inode: Some(1_000_000 + row as i64),
            links: Some(1),
            mode: Some(0o644),
            uid: Some(1000),
            gid: Some(1000),
            head: has_samples.then(|| sample(&mut random)).flatten(),
            tail: has_samples.then(|| sample(&mut random)).flatten(),
            digest: has_digest.then_some(digest),
            read_ns: Some(1_795_000_000_000_000_000),
            verified_ns: Some(1_795_000_000_000_000_000 + row as i64 / 12 * 40_000),
            ..Row::default()
        })?;
    }
    writer.finish()?;
    out.flush()
}

/// Seconds that this thread has had a processor: rows a second are those of an idle one.
fn processor_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: u64 = times.split(' ').next().ok_or("no time")?.parse()?;
    Ok(nanoseconds as f64 / 1e9)
}

/// The most memory that this process has had, in megabytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024 / 1_000_000
}

/// Searches a catalog, and says what that took beyond what the process has.
fn search(path: &Path, catalog: Catalog, rows: u64) -> Result<(), Box<dyn std::error::Error>> {
    let facts = catalog.facts();
    let root = Root {
        path: path.to_owned(),
        id: None,
        catalog: Some(CatalogRoot {
            dir: Vec::new(),
            host: facts.host.clone(),
            scan: facts.scan.clone(),
            form: facts.form,
            volumes: Vec::new(),
            lacks_digests: true,
            rows: Arc::new(catalog),
        }),
    };
    let config = Config {
        roots: vec![root],
        ..Config::default()
    };
    // The most memory is counted from now on (proc(5), clear_refs).
    std::fs::write("/proc/self/clear_refs", "5")?;
    let (before, begun) = (most_memory(), Instant::now());
    let mut nobody = |_: &_| Ok(());
    let control = Control::default();
    let found = engine::find(&config, Delivery::AsFinal, &Deaf, &control, &mut nobody)?;
    assert_eq!(found.files + found.left_out.empty, rows);
    let memory = (most_memory() - before) as f64 * 1e6 / rows as f64;
    let rate = rows as f64 / begun.elapsed().as_secs_f64() / 1000.0;
    println!("         searched {rate:.0}k rows/s, {memory:.0} bytes of memory a row");
    Ok(())
}

/// Bytes a row of each column that takes any.
fn columns(path: &str, rows: u64) -> Result<String, Box<dyn std::error::Error>> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let mut bytes = std::collections::BTreeMap::<String, i64>::new();
    for column in file
        .metadata()
        .row_groups()
        .iter()
        .flat_map(|it| it.columns())
    {
        *bytes.entry(column.column_path().string()).or_default() += column.compressed_size();
    }
    let shown = bytes
        .iter()
        .map(|(name, bytes)| (name, *bytes as f64 / rows as f64));
    let shown = shown.filter(|(_, bytes)| *bytes >= 0.05);
    Ok(shown
        .map(|(name, bytes)| format!(" {name} {bytes:.1}"))
        .collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().find_map(|word| word.parse().ok());
    let rows = rows.unwrap_or(1_000_000);
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args().skip(1).find(|word| word.starts_with('/'));
    let folder = folder.map_or(temporary.path().to_owned(), PathBuf::from);
    for form in [Form::Metadata, Form::Quick, Form::Full] {
        let path = folder.join(format!("{}.parquet", form.word()));
        let name = path.to_str().ok_or("a path")?;
        let begun = processor_seconds()?;
        write(name, form, rows)?;
        let written = rows as f64 / (processor_seconds()? - begun) / 1000.0;
        let bytes = std::fs::metadata(&path)?.len();
        let memory = most_memory();
        let begun = processor_seconds()?;
        let catalog = Catalog::open(&path)?;
        let mut count = 0;
        catalog.each(|row| count += u64::from(row.size.is_some()))?;
        assert_eq!(count, rows);
        println!(
            "{:8} {rows} rows: {:.1} MB, {:.1} bytes a row; written {written:.0}k rows/s ({memory} MB), read {:.0}k \
             rows/s ({} MB)",
            form.word(),
            bytes as f64 / 1e6,
            bytes as f64 / rows as f64,
            rows as f64 / (processor_seconds()? - begun) / 1000.0,
            most_memory(),
        );
        search(&path, catalog, rows)?;
        println!("        {}", columns(name, rows)?);
    }
    Ok(())
}
