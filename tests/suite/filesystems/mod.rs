//! Real file systems, and daemons that play others.

mod disks;
mod disks_table;
mod foreign;
mod overlay;
mod real;
mod standins;
