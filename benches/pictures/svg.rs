//! The colours and the frame of the pictures.

/// The colours of a picture.
pub struct Theme {
    /// The end of the file's name.
    pub name: &'static str,
    /// The background.
    pub background: &'static str,
    /// Lines around and between things.
    pub line: &'static str,
    /// Text.
    pub text: &'static str,
    /// Text that matters less.
    pub faint: &'static str,
    /// What is to be noticed.
    pub accent: &'static str,
    /// Bars of the other programs, one for each.
    pub bars: [&'static str; 3],
}

/// For a light and for a dark page.
pub const THEMES: &[Theme] = &[
    Theme {
        name: "light",
        background: "#ffffff",
        line: "#d0d7de",
        text: "#1f2328",
        faint: "#656d76",
        accent: "#1a7f37",
        bars: ["#57606a", "#8c959f", "#c0c7ce"],
    },
    Theme {
        name: "dark",
        background: "#0d1117",
        line: "#30363d",
        text: "#e6edf3",
        faint: "#8b949e",
        accent: "#3fb950",
        bars: ["#8b949e", "#6e7681", "#484f58"],
    },
];

/// A picture of this size in pixels, with a frame around `body`.
pub fn framed(width: f64, height: f64, font: &str, theme: &Theme, body: &str) -> String {
    let (inner_width, inner_height) = (width - 1.0, height - 1.0);
    let Theme {
        background,
        line,
        text,
        ..
    } = theme;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{font}\" fill=\"{text}\">\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"6\" fill=\"{background}\" \
         stroke=\"{line}\"/>\n{body}</svg>\n"
    )
}

/// Text as XML has it.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
