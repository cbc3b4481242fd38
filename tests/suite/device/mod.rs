//! Disks: what they are taken for, what the program says of them, and what it measures.

mod devices;
mod devices_command;
mod devices_mounted;
mod probe;
