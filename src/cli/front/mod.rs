//! Before a command begins: its words, the files of arguments, and what is said about wrong ones.

pub mod config;
pub mod option_words;
pub mod problems;
pub mod words;
