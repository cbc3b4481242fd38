//! Reads the user's configuration file: TOML with a table for each command, and tables of presets.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use seekless::report::read::{OpenError, Source};
use toml::de::{DeTable, DeValue};

use super::sanitize;

/// More than anybody writes.
const MOST_BYTES: u64 = 1 << 20;

/// The table whose tables are presets.
const PRESET: &str = "preset";

/// Presets that need no file. A preset of the same name in the file replaces the one here.
const BUILT_IN: &str = r#"
# Leaves the disk and the page cache to other programs, and waits for disks that have to spin up.
[preset.nas]
io-idle = true
page-cache = "drop"
patience = 300

# Photos and videos: the copy with the original name stays.
[preset.photos]
keep = ["best-name", "oldest"]
[preset.photos.find]
type = ["image", "video"]
"#;

/// One option of one command, or of all commands that have it, in one place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The preset that it belongs to.
    pub preset: Option<String>,
    /// The command; every one that has the option if there is none.
    pub command: Option<String>,
    /// The option's long name, without its hyphens.
    pub option: String,
    /// What it is set to.
    pub value: Value,
    /// The line of the file; none if it is built in.
    pub line: Option<usize>,
}

impl Setting {
    /// A flag that was typed.
    pub fn typed_flag(option: &str) -> Self {
        Self {
            preset: None,
            command: None,
            option: option.to_owned(),
            value: Value::Flag(true),
            line: None,
        }
    }
}

/// What an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A flag, given or not.
    Flag(bool),
    /// Values, as they would be written on the command line.
    Words(Vec<String>),
}

/// All settings, in the order of the file's tables and keys.
#[derive(Debug, Default)]
pub struct ConfigFile {
    /// Where the file is, or would be.
    pub path: Option<PathBuf>,
    /// True if it is there and was read.
    pub is_there: bool,
    /// What it says, and what is built in.
    pub settings: Vec<Setting>,
    /// Presets without any option, and their lines.
    pub empty_presets: Vec<(String, usize)>,
}

impl ConfigFile {
    /// The built-in presets, and no file.
    pub fn none() -> Self {
        Self {
            // A test reads them: they are without flaw.
            settings: parse(BUILT_IN, false).unwrap_or_default().settings,
            ..Self::default()
        }
    }

    /// Reads the file, if it is there and nobody else could have written it. `is_optional` says that the command has
    /// the option that ignores the file.
    ///
    /// # Errors
    /// One line that names the file and, where there is one, the line in it.
    pub fn read(path: Option<PathBuf>, is_optional: bool) -> Result<Self, String> {
        let mut read = Self::none();
        let Some(path) = path else { return Ok(read) };
        if let Some(text) = text(&path, is_optional)? {
            let Parsed { settings, empty } = parse(&text, true).map_err(|flaw| {
                let place = sanitize::path(&path);
                format!("{place}:{}: {}", flaw.line, flaw.what)
            })?;
            let is_replaced = |built_in: &Setting| {
                let same = |setting: &Setting| setting.preset == built_in.preset;
                let is_empty =
                    |(preset, _): &(String, usize)| Some(preset) == built_in.preset.as_ref();
                settings.iter().any(same) || empty.iter().any(is_empty)
            };
            read.settings.retain(|built_in| !is_replaced(built_in));
            read.settings.extend(settings);
            read.empty_presets = empty;
            read.is_there = true;
        }
        read.path = Some(path);
        Ok(read)
    }

    /// The path, as it is shown.
    pub fn shown_path(&self) -> String {
        let path = self.path.as_deref();
        path.map(|path| sanitize::path(path).into_owned())
            .unwrap_or_default()
    }

    /// The message, with the place of the setting before it.
    pub fn at(&self, setting: &Setting, wrong: &str) -> String {
        match setting.line {
            Some(line) => format!("{}:{line}: {wrong}", self.shown_path()),
            None => format!("built-in preset: {wrong}"),
        }
    }

    /// The names of all presets, sorted.
    pub fn presets(&self) -> Vec<&str> {
        let names = self.settings.iter().filter_map(|it| it.preset.as_deref());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What the file holds; `None` if it is not there.
fn text(path: &Path, is_optional: bool) -> Result<Option<String>, String> {
    let place = sanitize::path(path).into_owned();
    let unless_optional = |words| match is_optional {
        true => words,
        false => "",
    };
    let unread = |error: &dyn std::fmt::Display| {
        let way_out = unless_optional("; --no-config ignores it");
        format!("cannot read the configuration file {place}: {error}{way_out}")
    };
    if let Err(error) = path.symlink_metadata()
        && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        return Err(unread(&error));
    }
    // The kind comes first: to open a FIFO, or a device, may wait for others.
    if let Ok(now) = path.metadata()
        && !now.is_file()
        && !now.is_dir()
    {
        return Err(unread(&"it is not a regular file: replace it by one"));
    }
    let source = match Source::open(path) {
        // The parts of the path need not be there, or may be files. A link to a disk that is not mounted may lead to
        // settings that keep files.
        Err(OpenError::Io(error))
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            return match broken_link(path) {
                Some(link) => Err(unread(&format!(
                    "{} is a broken symbolic link: repair or remove it",
                    sanitize::path(link)
                ))),
                None => Ok(None),
            };
        }
        source => source.map_err(|error| unread(&error))?,
    };
    if let Some(untrusted) = source.untrusted {
        return Err(format!(
            "the configuration file is not used, because another user could have written it: {untrusted}; {}{}",
            untrusted.way_out("XDG_CONFIG_HOME"),
            unless_optional(", or add --no-config"),
        ));
    }
    let mut bytes = Vec::new();
    let read = source.input.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error: io::Error| unread(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unread(&"it is longer than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| unread(&"it is not UTF-8"))?;
    Ok(Some(text))
}

/// The part of a path that is a symbolic link to nothing.
fn broken_link(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|part| part.is_symlink() && part.metadata().is_err())
}

/// What is wrong in one line.
#[derive(Debug)]
struct Flaw {
    line: usize,
    what: String,
}

/// What a file says.
#[derive(Debug, Default)]
struct Parsed {
    settings: Vec<Setting>,
    /// Presets without any option, and their lines.
    empty: Vec<(String, usize)>,
}

/// Reads the text of a file; `has_lines` says that its lines are worth naming.
fn parse(text: &str, has_lines: bool) -> Result<Parsed, Flaw> {
    let line_of = |at: usize| {
        1 + text.as_bytes()[..at]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
    };
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = line_of(at);
        Flaw {
            line,
            what: no_toml(
                error.message(),
                text.lines().nth(line - 1).unwrap_or_default(),
            ),
        }
    })?;
    let mut reading = Reading {
        line_of: &line_of,
        has_lines,
        settings: Vec::new(),
    };
    let mut empty = Vec::new();
    for (name, value) in document.get_ref() {
        let line = line_of(name.span().start);
        let table = reading.table(line, name.get_ref(), value.get_ref())?;
        if name.get_ref() != PRESET {
            reading.settings_of(None, Some(name.get_ref()), table)?;
            continue;
        }
        for (preset, value) in table {
            let line = line_of(preset.span().start);
            let table = reading.table(line, preset.get_ref(), value.get_ref())?;
            let before = reading.settings.len();
            reading.settings_of(Some(preset.get_ref()), None, table)?;
            if reading.settings.len() == before {
                empty.push((preset.get_ref().to_string(), line));
            }
        }
    }
    let mut settings = reading.settings;
    settings.sort_by_key(|setting| setting.line);
    Ok(Parsed { settings, empty })
}

/// The message of the parser, with the right form where a string has no quotes.
fn no_toml(message: &str, line: &str) -> String {
    match line.split_once('=') {
        Some((key, value)) if message.contains("must be quoted") => {
            let (key, value) = (key.trim(), value.trim());
            if value.is_empty() || value.starts_with('#') {
                return format!("{key} has no value: write one after the =, or delete the line");
            }
            format!("{key} needs quotes around its value: write {key} = \"{value}\"")
        }
        _ => message.replace('\n', "; "),
    }
}

struct Reading<'t> {
    line_of: &'t dyn Fn(usize) -> usize,
    has_lines: bool,
    settings: Vec<Setting>,
}

impl Reading<'_> {
    fn table<'v, 'i>(
        &self,
        line: usize,
        name: &str,
        value: &'v DeValue<'i>,
    ) -> Result<&'v DeTable<'i>, Flaw> {
        value.as_table().ok_or_else(|| Flaw {
            line,
            what: format!(
                "{name} is in no table: write options below the name of their command, as in [find], or of a \
                 preset, as in [preset.nas]"
            ),
        })
    }

    fn settings_of(
        &mut self,
        preset: Option<&str>,
        command: Option<&str>,
        table: &DeTable<'_>,
    ) -> Result<(), Flaw> {
        for (option, value) in table {
            let line = (self.line_of)(option.span().start);
            let name = option.get_ref();
            if let (Some(_), None, Some(below)) = (preset, command, value.get_ref().as_table()) {
                self.settings_of(preset, Some(name), below)?;
                continue;
            }
            let Some(value) = read_value(value.get_ref()) else {
                return Err(Flaw {
                    line,
                    what: format!(
                        "{name} has a value of the type {}: write true or false, a string, a number, or a list of strings",
                        value.get_ref().type_str()
                    ),
                });
            };
            self.settings.push(Setting {
                preset: preset.map(str::to_owned),
                command: command.map(str::to_owned),
                option: name.to_string(),
                value,
                line: self.has_lines.then_some(line),
            });
        }
        Ok(())
    }
}

fn read_value(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::Boolean(given) => Value::Flag(*given),
        DeValue::Array(values) => {
            let words = values.iter().map(|value| word(value.get_ref()));
            Value::Words(words.collect::<Option<_>>()?)
        }
        value => Value::Words(vec![word(value)?]),
    })
}

fn word(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_presets_are_without_flaw() {
        let built_in = parse(BUILT_IN, false).expect("no flaw");
        assert_eq!(ConfigFile::none().presets(), ["nas", "photos"]);
        assert!(
            built_in
                .settings
                .iter()
                .all(|setting| setting.line.is_none())
        );
    }

    #[test]
    fn each_setting_knows_its_line() {
        let text = "[find]\nmin-size = \"10k\"\nexclude = [\n  \".git\", # a comment\n  \"x\",\n]\n\n\
                    [preset.mine]\nverbose = 2\n[preset.mine.remove]\ntrash = true\n";
        let settings = parse(text, true).expect("no flaw").settings;
        let told = settings.iter().map(|setting| {
            let Setting {
                preset,
                command,
                option,
                value,
                line,
            } = setting;
            format!("{preset:?} {command:?} {option} {value:?} {line:?}")
        });
        insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_flaw_is_said_with_its_line() {
        let flaw = |text| {
            let Flaw { line, what } = parse(text, true).expect_err(text);
            format!("{line}: {what}")
        };
        let flaws = [
            "[find]\nmin-size = 10k\n",
            "[find]\nmin-size =\n",
            "min-size = \"10k\"\n",
            "[find]\nverbose = 1\nverbose = 2\n",
            "[find]\nexclude = [[\"x\"]]\n",
            "[find]\nx = { y = 1 }\n",
            "[preset]\nnas = 1\n",
            "[preset.a.find.b]\nc = 1\n",
        ];
        insta::assert_snapshot!(flaws.map(flaw).join("\n"));
    }
}
