//! From what was typed after `seekless folders` to what will be done.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use seekless::acting::outermost;
use seekless::device::Overrides;
use seekless::engine::{Config, Root};
use seekless::folders::NOISE;
use seekless::heartbeat::current;
use seekless::report::Style;
use seekless::report::folders::FolderFormat;
use seekless::scan::{FilterSpec, Globs};
use seekless::units::Bytes;

use super::environment::Environment;
use super::folders_args::FoldersArgs;
use super::resolve_search::meant;
use super::sanitize;
use super::talk_args::Talk;
use super::wrong_use::{WrongUse, contradiction, meant_as_file};

/// All decisions of one `seekless folders`.
#[derive(Debug)]
pub struct FoldersRun {
    /// The configuration of the engine.
    pub config: Config,
    /// Folders of fewer bytes get no line.
    pub min_size: Bytes,
    /// Folders with such names get a line; all, if nothing is said.
    pub names: Option<Globs>,
    /// How much of a folder has to be in another one, in percent.
    pub min_overlap: u8,
    /// The names of noise, as they were given.
    pub noise: Vec<String>,
    /// The same, to match names with.
    pub is_noise: Option<Globs>,
    /// How the answer is written.
    pub format: &'static FolderFormat,
    /// How it looks.
    pub style: Style,
    /// Where it goes; stdout if nowhere else.
    pub output: Option<PathBuf>,
    /// Where relative paths start.
    pub folder: PathBuf,
    /// How much is told on the way.
    pub talk: Talk,
}

/// Decides everything.
pub fn resolve(args: FoldersArgs, around: &mut Environment<'_>) -> Result<FoldersRun, WrongUse> {
    meant_as_file(args.output.as_deref())?;
    let noise = match args.noise.is_empty() {
        true => NOISE.map(str::to_owned).to_vec(),
        false => args.noise,
    };
    // Empty files take part: they are noise, and are counted as such.
    let every_file = FilterSpec {
        keep_empty: true,
        working_folder: around.folder.clone(),
        ..FilterSpec::default()
    };
    let config = Config {
        roots: roots(args.roots)?,
        filter: every_file.build()?,
        one_file_system: args.one_file_system,
        io_idle: args.reads.io_idle,
        bytes_per_second: args.reads.rate()?,
        page_use: args.reads.page_use(false),
        patience: args.patience.time(),
        overrides: Overrides {
            profiles: around.profiles.clone(),
            ..Overrides::default()
        },
        ..Config::default()
    };
    let sink = around.sink(args.output.as_deref());
    Ok(FoldersRun {
        config,
        min_size: args.min_size.unwrap_or(Bytes(0)),
        names: Globs::new(&args.name, false)?,
        min_overlap: args.min_overlap,
        is_noise: Globs::new(&noise, false)?,
        noise,
        format: args.format,
        style: Style {
            color: sink.wants_color(args.talk.color),
            columns: sink.is_terminal.then_some(sink.columns),
            ..Style::default()
        },
        output: args.output,
        folder: around.folder.clone(),
        talk: args.talk.on(around.stderr),
    })
}

/// The given folders, but for those that lie below others: they are seen there.
fn roots(given: Vec<OsString>) -> Result<Vec<Root>, WrongUse> {
    meant(&given)?;
    let given = match given.is_empty() {
        true => vec![OsString::from(".")],
        false => given,
    };
    let paths: Vec<PathBuf> = given.into_iter().map(PathBuf::from).collect();
    // These are the first calls on the given paths.
    let is_file = |path: &&PathBuf| {
        current::ask_about(path.as_os_str().as_bytes());
        fs::metadata(path).is_ok_and(|is| is.is_file())
    };
    match paths.iter().find(is_file) {
        None => Ok(outermost(paths).into_iter().map(Root::from).collect()),
        Some(file) => contradiction(format!(
            "{} is a file: give its folder; 'seekless find' is about files",
            sanitize::path(file)
        )),
    }
}
