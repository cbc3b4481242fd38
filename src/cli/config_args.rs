//! Arguments for the configuration files, and of `seekless config`.

use clap::Args;

use super::document_format::DocumentArgs;

/// What every command has that reads configuration files.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Use the options of this preset: nas, photos (only in find), or a file preset.NAME
    ///
    /// nas leaves the disk and the page cache to other programs, and waits five minutes for a disk. photos only looks
    /// for images and videos. 'seekless config' shows each preset.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Do not read configuration files
    #[arg(long)]
    pub no_config: bool,
}

#[derive(Args, Debug)]
pub struct ConfigCommandArgs {
    /// Show only the options of this command
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,

    /// Show the options that apply with this preset
    #[arg(long, value_name = "NAME", requires = "command")]
    pub preset: Option<String>,

    #[command(flatten)]
    pub document: DocumentArgs,
}
