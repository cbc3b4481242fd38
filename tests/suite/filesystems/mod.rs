//! Real file systems, and daemons that play others.

mod disks;
mod disks_table;
mod foreign;
mod real;
mod standins;
