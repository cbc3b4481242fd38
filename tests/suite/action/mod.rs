//! Actions: what they do to files, what may come between, and how undo takes them back.

mod acting;
mod bind_mounts;
mod crash;
mod empty_folders;
mod faults;
mod folder_noise;
mod folder_reports;
mod folders_refused;
mod full_disk;
mod hangs;
mod journals;
mod killed;
mod lost_replies;
mod many_steps;
mod moved_folders;
mod new_folders;
mod power;
mod race;
mod silence;
mod two_runs;
mod undo;
mod undo_folders;
mod undo_parents;
mod undo_unproven;
mod volumes;
