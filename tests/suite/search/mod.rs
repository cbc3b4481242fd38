//! Searches: the right sets, whatever is looked at, and an end.

mod alike;
mod bwlimit;
mod bwlimit_device;
mod cache;
mod compare;
mod crosscheck;
mod determinism;
mod endless;
mod find;
mod folders_obeyed;
mod hangs;
mod hostile;
mod identity;
mod motion;
mod oracle;
mod shared_blocks;
mod twice;
mod verdicts;
mod verify;
