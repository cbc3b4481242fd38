//! Every test of the program from outside, in one program: by room, each file one subject.

mod action;
mod catalog;
#[path = "../common/mod.rs"]
mod common;
mod device;
mod filesystems;
mod house;
mod plans;
mod report;
mod search;
mod users;
