//! Arguments for the configuration file, and of `seekless config`.

use clap::Args;

/// What every command has that reads the configuration file.
#[derive(Args, Clone, Debug)]
pub struct ConfigArgs {
    /// Use the options of this preset: nas, photos, or one of the configuration file
    ///
    /// nas leaves the disk and the page cache to other programs, and waits five minutes for a disk. photos looks for
    /// images and videos, and prefers original names. 'seekless config' shows each preset.
    #[arg(long, value_name = "NAME", help_heading = "Configuration")]
    pub preset: Option<String>,

    /// Do not read the configuration file
    #[arg(long, help_heading = "Configuration")]
    pub no_config: bool,
}

#[derive(Args, Debug)]
pub struct ConfigCommandArgs {
    /// Show every option of this command that has a value, and where the value comes from
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,

    /// Show the options that apply with this preset
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
}
