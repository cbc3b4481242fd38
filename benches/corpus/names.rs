//! Names that break what reads, writes, sorts or prints names. Made for right answers, not for speed.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "names",
    summary: "names in no encoding, with newlines, quotes, control characters, 255 bytes, and deep folders; each twice",
    version: 1,
    make: Make::Seeded(make),
};

const NAMES: &[&[u8]] = &[
    b"\xff",
    b"\xff\xfe\xfd.jpg",
    b"latin1 \xe9t\xe9.txt",
    b"cut utf-8 \xe2\x82",
    b"overlong \xc0\xaf slash",
    b"surrogate \xed\xa0\x80.txt",
    b"line\nbreak",
    b"\nfirst",
    b"last\n",
    b"two\n\nlines",
    b"carriage\rreturn",
    b"tab\there",
    b"\x01\x02\x1b[31mred\x1b[0m\x7f",
    b"\x1b]0;title\x07",
    b"back\\slash",
    b"back\\nslash-n",
    b"\\x41",
    b"quote'single",
    b"quote\"double",
    b"`command`",
    b"$(touch hacked)",
    b"; rm -rf nothing",
    b"* ? [a-z] {a,b}",
    b" ",
    b" leading",
    b"trailing ",
    b"-",
    b"--",
    b"-rf",
    b"--help",
    b"...",
    b".hidden",
    b"..double",
    b"~",
    b"#comment",
    b"%s%n%d",
    b"a,b;c|d",
    b"CON.txt",
    "\u{202e}gpj.exe".as_bytes(),
    "e\u{301} and \u{e9}".as_bytes(),
    "\u{1f4f7} photo".as_bytes(),
    "\u{feff}bom".as_bytes(),
    "line\u{2028}separator".as_bytes(),
];

fn make(tree: &mut Tree, options: &Options) -> io::Result<()> {
    let mut rng = Rng::new(options.seed);
    for (index, name) in NAMES.iter().enumerate() {
        let content = Content::random(rng.bits(), 100 + index as u64 % 5);
        twice(tree, name, content)?;
        // The same name where it is a folder, and a file that only looks like a copy.
        tree.file([b"folders/", *name, b"/file"].concat(), content)?;
        tree.file(
            [b"unique/", *name].concat(),
            Content::random(rng.bits(), content.len()),
        )?;
    }
    for byte in (1..=255u8).filter(|&byte| byte != b'/' && byte != b'.') {
        twice(
            tree,
            &[b"byte ", &[byte][..]].concat(),
            Content::random(rng.bits(), 5000),
        )?;
    }
    for fill in [b'n', 0xfe, b'\n', b' '] {
        twice(tree, &[fill; 255], Content::random(rng.bits(), 300))?;
    }
    // Deep, but with room for the root below the 4,096 bytes a path may have.
    let deep = "d/".repeat(1500);
    let long = format!("{}/", "l".repeat(255)).repeat(12);
    let content = Content::random(rng.bits(), 777);
    tree.file(format!("{deep}bottom"), content)?;
    tree.file(format!("{long}bottom"), content)
}

fn twice(tree: &mut Tree, name: &[u8], content: Content) -> io::Result<()> {
    tree.file([b"a/", name].concat(), content)?;
    tree.file([b"b/", name].concat(), content)
}
