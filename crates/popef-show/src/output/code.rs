//! Code in each language that is written, with an escaper for words in it: HTML, XML, Graphviz, Mermaid, CSV, and GitHub's commands.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::marker::PhantomData;

use super::shown::{Show, Shown};

/// Makes [`Code`] in a language like `format!`. The format is the code; the pieces after it are words, which are escaped, or code.
#[macro_export]
macro_rules! code {
    ($language:ty: $format:literal $(, $piece:expr)* $(,)?) => {
        $crate::Code::<$language>::of_checked(format_args!(concat!($format) $(, $crate::InCode::<$language, _>::new(&$piece))*))
    };
}

/// Makes HTML or SVG: [`code!`](crate::code) in [`Markup`].
#[macro_export]
macro_rules! markup {
    ($($pieces:tt)*) => { $crate::code!($crate::Markup: $($pieces)*) };
}

/// Code in a language: the program's own, and words that were escaped for it.
///
/// ```
/// use popef_show::{Csv, Dot, GitHubData, GitHubProperty, Mermaid, Shown, Xml, code, markup};
///
/// let name = Shown::escaped("<\"a: 'b'\" & 100%>");
/// assert_eq!(markup!("<b>{}</b>", name).as_str(), "<b>&lt;&quot;a: &#39;b&#39;&quot; &amp; 100%&gt;</b>");
/// assert_eq!(code!(Xml: "<b>{}</b>", name).as_str(), "<b>&lt;&quot;a: 'b'&quot; &amp; 100%&gt;</b>");
/// assert_eq!(code!(Dot: "n{} [label=\"{}\"]", 1, name).as_str(), "n1 [label=\"<\\\"a: 'b'\\\" &amp; 100%>\"]");
/// assert_eq!(code!(Mermaid: "[{}]", name).as_str(), "[#60;#34;a: 'b'#34; #38; 100#37;#62;]");
/// assert_eq!(code!(Csv: "{}", name).as_str(), "\"<\"\"a: 'b'\"\" & 100%>\"");
/// assert_eq!(code!(GitHubData: "::{}", name).as_str(), "::<\"a: 'b'\" & 100%25>");
/// assert_eq!(code!(GitHubProperty: "title={}", name).as_str(), "title=<\"a%3A 'b'\" & 100%25>");
/// ```
///
/// Text that nobody has escaped does not compile:
///
/// ```compile_fail,E0277
/// popef_show::markup!("<b>{}</b>", String::from("<script>"));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::Xml: "<b>{}</b>", String::from("<!--"));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::Dot: "a [label=\"{}\"]", String::from("\""));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::Mermaid: "a[\"{}\"]", String::from("\""));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::Csv: "{}", String::from("a,b"));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::GitHubData: "::{}", String::from("\n::error::"));
/// ```
///
/// ```compile_fail,E0277
/// popef_show::code!(popef_show::GitHubProperty: "title={}", String::from(","));
/// ```
///
/// Nor does code in another language:
///
/// ```compile_fail,E0277
/// popef_show::markup!("<b>{}</b>", popef_show::code!(popef_show::Dot: "<script>"));
/// ```
pub struct Code<L> {
    text: Cow<'static, str>,
    language: PhantomData<L>,
}

impl<L: Language> Code<L> {
    fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Code { text: text.into(), language: PhantomData }
    }

    /// The text of the code.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Pieces with code between them.
    pub(crate) fn joined(pieces: impl IntoIterator<Item: CodeIn<L>>, between: &'static str) -> Self {
        let pieces = pieces.into_iter().map(|piece| InCode::new(&piece).to_string());
        Code::new(pieces.collect::<Vec<_>>().join(between))
    }

    #[doc(hidden)]
    pub fn of_checked(pieces: fmt::Arguments<'_>) -> Self {
        pieces.as_str().map_or_else(|| Code::new(pieces.to_string()), Code::new)
    }
}

/// The program's own code.
impl<L: Language> From<&'static str> for Code<L> {
    fn from(code: &'static str) -> Self {
        Code::new(code)
    }
}

/// Escapes the text.
impl<L: Language> From<Shown<'_>> for Code<L> {
    fn from(text: Shown<'_>) -> Self {
        Code::new(L::escaped(&text).into_owned())
    }
}

impl<L: Language> Default for Code<L> {
    fn default() -> Self {
        Code::new("")
    }
}

impl<L> fmt::Debug for Code<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// A language of outputs.
pub trait Language: private::Sealed {
    /// Whether a letter has a meaning in the language, and what stands for it then.
    #[doc(hidden)]
    fn escaped(words: &str) -> Cow<'_, str>;
}

mod private {
    pub trait Sealed {}
}

/// The languages, each with its escaper.
macro_rules! languages {
    ($($(#[$about:meta])* $name:ident: $escape:expr;)+) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl private::Sealed for $name {}

            impl Language for $name {
                fn escaped(words: &str) -> Cow<'_, str> {
                    let escape: fn(&str) -> Cow<'_, str> = $escape;
                    escape(words)
                }
            }
        )+
    };
}

languages! {
    /// HTML and SVG. Words have no tag, no entity, and no end of a quoted value.
    Markup: |words| replaced(words, entity);
    /// XML, between tags or in double quotes.
    Xml: |words| replaced(words, |letter| entity(letter).filter(|_| letter != '\''));
    /// Graphviz, in quotes. It takes backslashes for escapes, and in labels also names of letters between `&` and `;`.
    Dot: |words| replaced(words, |letter| Some(match letter {
        '\\' => "\\\\",
        '"' => "\\\"",
        '&' => "&amp;",
        _ => return None,
    }));
    /// Mermaid, in quotes.
    Mermaid: |words| mermaid(words).into();
    /// A field of CSV (RFC 4180).
    Csv: |words| match words.contains([',', '"']) {
        true => format!("\"{}\"", words.replace('"', "\"\"")).into(),
        false => words.into(),
    };
    /// The message of a command of GitHub.
    GitHubData: |words| replaced(words, data);
    /// A property of a command of GitHub.
    GitHubProperty: |words| replaced(words, |letter| data(letter).or(match letter {
        ':' => Some("%3A"),
        ',' => Some("%2C"),
        _ => None,
    }));
}

/// Words with some letters replaced, all of which have one byte.
fn replaced(words: &str, by: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    let mut text = String::new();
    let mut rest = words;
    while let Some((at, replacement)) = rest.char_indices().find_map(|(at, letter)| Some((at, by(letter)?))) {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        text.push_str(replacement);
        rest = after.get(1..).unwrap_or_default();
    }
    if text.is_empty() { Cow::Borrowed(words) } else { Cow::Owned(text + rest) }
}

/// The entity for a letter with a meaning in markup.
fn entity(letter: char) -> Option<&'static str> {
    Some(match letter {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

fn data(letter: char) -> Option<&'static str> {
    Some(match letter {
        '%' => "%25",
        '\r' => "%0D",
        '\n' => "%0A",
        _ => return None,
    })
}

/// Characters with a meaning in Mermaid, Markdown or HTML are written by their numbers.
fn mermaid(words: &str) -> String {
    let mut quoted = String::new();
    let mut before = None;
    let mut letters = words.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_word = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphanumeric());
        let is_special = match letter {
            '"' | '#' | '&' | '<' | '>' | '`' | '*' | '\\' | '%' | ';' => true,
            // Within a word it is a letter.
            '_' => !(is_word(before.as_ref()) && is_word(letters.peek())),
            // These characters would begin a list.
            '-' | '+' => before.is_none(),
            '.' | ')' => quoted.bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        if is_special {
            quoted.push_str(&format!("#{};", u32::from(letter)));
        } else {
            quoted.push(letter);
        }
        before = Some(letter);
    }
    quoted
}

/// What code in a language can have: words, which are escaped, and code in the same language.
pub trait CodeIn<L> {
    #[doc(hidden)]
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<L: Language, W: Show> CodeIn<L> for W {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => f.write_str(&L::escaped(words)),
            None => self.fmt(f),
        }
    }
}

impl<L: Language> CodeIn<L> for Code<L> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A piece of [`code!`](crate::code).
#[doc(hidden)]
#[derive(Debug)]
pub struct InCode<'p, L, P> {
    piece: &'p P,
    language: PhantomData<L>,
}

impl<'p, L, P: CodeIn<L>> InCode<'p, L, P> {
    pub fn new(piece: &'p P) -> Self {
        InCode { piece, language: PhantomData }
    }
}

impl<L, P: CodeIn<L>> Display for InCode<'_, L, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.piece.write(f)
    }
}
