//! Reports: written, read back, damaged, large, shown, for scripts.

mod first_hour;
mod folders;
mod formats;
mod large_reports;
mod plan_reports;
mod screens;
mod scripts;
mod selection;
mod terminal;
