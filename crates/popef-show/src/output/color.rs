//! Colours: whether, and which.

use owo_colors::{Style, XtermColors};

use popef::seam::named;

/// The kind of a piece of the output, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anything else, without a colour.
    Plain,
    /// A name.
    Name,
    /// A type.
    Type,
    /// A number.
    Number,
    /// A heading.
    Group,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note.
    Note,
    /// A thing that only the first of two files has.
    Removed,
    /// A thing that only the second of two files has.
    Added,
}

/// The text before and after a piece of each kind.
pub(crate) struct Palette([Paint; Kind::ALL.len()]);

pub(crate) struct Paint {
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Green, purple and brown, each light enough for a black background and dark enough for a white one.
const NAME: u8 = 28;
const TYPE: u8 = 133;
const NUMBER: u8 = 130;
/// Red and green, as other tools colour differences.
const REMOVED: u8 = 161;
const ADDED: u8 = 28;
/// Red, brown and blue, in bold. Yellow is not legible on white; brown is the nearest colour that is.
const ERROR: u8 = 161;
const WARNING: u8 = 130;
const NOTE: u8 = 31;

impl Kind {
    /// All kinds, in the order of their numbers.
    const ALL: [Kind; 10] = [
        Kind::Plain,
        Kind::Name,
        Kind::Type,
        Kind::Number,
        Kind::Group,
        Kind::Error,
        Kind::Warning,
        Kind::Note,
        Kind::Removed,
        Kind::Added,
    ];

    fn style(self) -> Style {
        let colored = |number: u8| Style::new().color(XtermColors::from(number));
        match self {
            Kind::Plain => Style::new(),
            Kind::Name => colored(NAME),
            Kind::Type => colored(TYPE),
            Kind::Number => colored(NUMBER),
            Kind::Group => Style::new().bold(),
            Kind::Error => colored(ERROR).bold(),
            Kind::Warning => colored(WARNING).bold(),
            Kind::Note => colored(NOTE).bold(),
            Kind::Removed => colored(REMOVED),
            Kind::Added => colored(ADDED),
        }
    }
}

impl Palette {
    pub(crate) fn new() -> Self {
        Palette(Kind::ALL.map(|kind| {
            let style = kind.style();
            Paint { before: style.prefix_formatter().to_string(), after: style.suffix_formatter().to_string() }
        }))
    }

    pub(crate) fn paint(&self, kind: Kind) -> Option<&Paint> {
        self.0.get(kind as usize)
    }
}

named! {
    /// When the output has colours.
    #[derive(Default)]
    pub enum When {
        /// On a terminal, unless the environment says otherwise.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

impl When {
    /// Whether an output has colours, by the rules of no-color.org and bixense.com/clicolors. `variable` looks up a variable
    /// of the environment.
    ///
    /// ```
    /// use popef_show::When;
    ///
    /// assert!(When::Auto.colors(true, |_| None));
    /// assert!(!When::Auto.colors(true, |name| (name == "NO_COLOR").then(|| "1".to_owned())));
    /// ```
    pub fn colors(self, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
        match self {
            When::Always => true,
            When::Never => false,
            When::Auto => auto(variable, is_terminal),
        }
    }
}

/// The rules in their order.
fn auto(variable: impl Fn(&str) -> Option<String>, terminal: bool) -> bool {
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let zero = |name| variable(name).is_some_and(|value| value == "0");
    if set("NO_COLOR") {
        return false;
    }
    if set("CLICOLOR_FORCE") && !zero("CLICOLOR_FORCE") {
        return true;
    }
    terminal && !zero("CLICOLOR") && variable("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::{ERROR, NAME, NOTE, NUMBER, TYPE, WARNING, auto};

    fn auto_with(variables: &[(&str, &str)], terminal: bool) -> bool {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        auto(find, terminal)
    }

    #[test]
    fn auto_follows_terminal_and_environment() {
        assert!(auto_with(&[("TERM", "xterm")], true));
        assert!(!auto_with(&[("TERM", "xterm")], false));
        assert!(!auto_with(&[("TERM", "dumb")], true));
        assert!(!auto_with(&[("CLICOLOR", "0")], true));
        assert!(auto_with(&[("CLICOLOR", "1")], true));
        assert!(!auto_with(&[("NO_COLOR", "1")], true));
        assert!(auto_with(&[("NO_COLOR", "")], true));
        assert!(auto_with(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], false));
        assert!(!auto_with(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!auto_with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
    }

    /// The contrast of WCAG 2 between a colour of the 6x6x6 cube and a grey.
    fn contrast(color: u8, other: f64) -> f64 {
        let cube = color - 16;
        let part = |step: u8| if step == 0 { 0.0 } else { (55.0 + 40.0 * f64::from(step)) / 255.0 };
        let linear = |value: f64| if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        let [r, g, b] = [cube / 36, cube / 6 % 6, cube % 6].map(|step| linear(part(step)));
        let light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        (light.max(other) + 0.05) / (light.min(other) + 0.05)
    }

    #[test]
    fn colors_stand_out_from_black_and_from_white() {
        for color in [NAME, TYPE, NUMBER, ERROR, WARNING, NOTE] {
            assert!(contrast(color, 0.0) > 4.0 && contrast(color, 1.0) > 4.0, "color {color}");
        }
    }
}
