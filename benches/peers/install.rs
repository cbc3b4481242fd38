//! Finds the tools on this machine, and installs those that are missing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::tools::{Origin, Tool};

/// A tool that can be run.
pub struct Installed {
    pub tool: &'static Tool,
    /// What it is called in tables.
    pub name: String,
    pub program: PathBuf,
    pub version: String,
}

impl Installed {
    /// Another build of the same tool, to be compared with it.
    pub fn base(&self, program: &Path) -> Self {
        Self {
            name: format!("{} (base)", self.name),
            program: program.to_owned(),
            version: version(program, self.tool.program),
            tool: self.tool,
        }
    }
}

/// Finds a tool or installs it; `asked` says that it was asked for by name.
pub fn ensure(tool: &'static Tool, seekless: &Path, asked: bool) -> Result<Installed, String> {
    let program = if tool.origin == Origin::Here {
        Some(seekless.to_owned())
    } else {
        find(tool.program)
    };
    let program = match program {
        Some(program) => program,
        None => {
            install(tool.origin, asked)?;
            find(tool.program)
                .ok_or_else(|| format!("{} was installed but is not in PATH", tool.program))?
        }
    };
    if let Some(option) = tool.needs
        && !output(&program, "--help").contains(option)
    {
        return Err(format!("this version has no option {option}"));
    }
    let version = version(&program, tool.program);
    Ok(Installed {
        name: tool.name.to_owned(),
        tool,
        program,
        version,
    })
}

fn install(origin: Origin, asked: bool) -> Result<(), String> {
    match origin {
        Origin::Here => Err("the program of this repository is not built".into()),
        Origin::CargoSlow(package) if !asked => Err(format!(
            "not installed; takes long to build, so name it in --tools or run `cargo install --locked {package}`"
        )),
        Origin::Cargo(package) | Origin::CargoSlow(package) => {
            run("cargo", &["install", "--locked", package])
        }
        Origin::Apt(package) => {
            if !rustix::process::geteuid().is_root() {
                return Err(format!(
                    "not installed, and only root can: `apt-get install {package}`"
                ));
            }
            let arguments = ["install", "-y", "--no-install-recommends", package];
            run("apt-get", &arguments).or_else(|_| {
                run("apt-get", &["update"])?;
                run("apt-get", &arguments)
            })
        }
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    eprintln!("installing: {line}");
    let mut command = Command::new(program);
    // Else packages would be built with what this bench was built with.
    command
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS");
    match command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
    {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` failed: {status}")),
        Err(error) => Err(format!("`{line}` failed: {error}")),
    }
}

/// Looks for a program in `PATH` and where cargo installs programs.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let cargo = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let mut folders = env::split_paths(&path).chain(cargo.map(|home| home.join("bin")));
    folders.find_map(|folder| Some(folder.join(program)).filter(|candidate| candidate.is_file()))
}

/// What a program calls its version: the first number with a dot in what it says.
fn version(program: &Path, name: &str) -> String {
    let said = output(program, "--version");
    let number = said
        .split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'));
    format!("{name} {}", number.unwrap_or("of unknown version"))
}

/// What a program prints when called with one option.
fn output(program: &Path, option: &str) -> String {
    let Ok(output) = Command::new(program)
        .arg(option)
        .stdin(Stdio::null())
        .output()
    else {
        return String::new();
    };
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
