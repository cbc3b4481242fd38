//! Completions, manual, help.

use super::*;

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = seekless(Tree::new().root(), &format!("completions {shell}"))
            .run()
            .exits(0);
        assert!(run.stdout_text().contains("isolate"), "{shell}");
    }
}

#[test]
fn bash_accepts_its_completions() {
    let tree = Tree::new();
    let run = seekless(tree.root(), "completions bash").run().exits(0);
    tree.write("script", &run.stdout);
    let status = Command::new("bash")
        .arg("-n")
        .arg(tree.path("script"))
        .status();
    assert!(status.expect("bash is there").success());
}

#[test]
fn the_manual_is_a_page_of_roff() {
    let run = seekless(Tree::new().root(), "man").run().exits(0);
    let page = run.stdout_text();
    assert!(page.contains(".TH") && page.contains("seekless"), "{page}");
}

#[test]
fn help_and_version_go_to_stdout() {
    let help = seekless(Tree::new().root(), "--help").run().exits(0);
    assert!(help.stdout_text().contains("--isolate"), "{help}");
    seekless(Tree::new().root(), "find --help").run().exits(0);
    let version = seekless(Tree::new().root(), "--version").run().exits(0);
    assert!(version.stdout_text().starts_with("seekless "), "{version}");
}

/// These are for the benches, and only in a program that is built for them.
#[test]
fn options_for_measurements_are_not_in_the_help() {
    let tree = Tree::new();
    let help = seekless(tree.root(), "find --help").run().exits(0);
    let help = help.stdout_text();
    assert!(help.contains("--depth-random"), "{help}");
    for option in ["--order", "--without"] {
        assert!(!help.contains(option), "{option}: {help}");
    }
}
