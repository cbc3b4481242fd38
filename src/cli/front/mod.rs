//! Before a command begins: its words, the files of arguments, and what is said about wrong ones.

pub mod config_file;
pub mod config_folder;
pub mod config_rules;
pub mod help;
pub mod in_force;
pub mod option_words;
pub mod problems;
pub mod refusal;
pub mod slips;
pub mod words;
