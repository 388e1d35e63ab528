//! One HTML page about the files of a model, to look at and to pass on.
//!
//! The page needs no network and no other file. It can be read without scripts; the script adds a filter, sorting and the
//! treemap. Texts from files stay text: the writer of pages escapes them, the script only ever sets them as text, and the page's policy
//! forbids all scripts and styles but its own two.

mod blobs;
mod data;
mod findings;
mod model;
mod overview;
mod picture;
#[cfg(feature = "graphs")]
pub(crate) mod plain;
#[cfg(feature = "reports")]
pub(crate) mod profile;
#[cfg(feature = "reports")]
mod tables;
pub(crate) mod tiles;
mod values;

use std::io::{self, Write};

use crate::failure::Failures;
use crate::findings::group::Group;
use crate::output::html::Html;
use crate::output::shown::Shown;
use crate::report::file::FileReport;
use crate::report::sums::Sums;
use values::{Odd, ValuesOf};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The policy of the page: it may only use its own style and script, known by their hashes. A test says what the file
/// must be.
const POLICY: &str = include_str!("policy.txt");

/// A page about files.
///
/// ```
/// use std::path::Path;
///
/// use popef_check::{CheckOptions, check};
/// use popef_show::{CheckedFile, Failures, FileReport, FileToShow, Group, Options, Page, Provider, Shown};
///
/// let file = popef::File::from_bytes(Vec::new())?;
/// let input =
///     FileToShow { index: 0, path: Path::new("m.popef"), file: Some(&file), failure: None, provider: &|_| Provider::User };
/// let options = Options::default();
/// let checked = CheckedFile { path: "m.popef".into(), size: Some(0), failure: None, network: None };
/// let group = Group::new(vec![checked], check([&file], &CheckOptions::new()));
///
/// let mut html = Vec::new();
/// let reports = [FileReport::new(input, &options)];
/// let title = Shown::own("An empty file");
/// let page = Page { title: &title, made_by: "an example", reports: &reports, group: &group, stopped: &|| false };
/// page.write(&mut html, &mut Failures::default())?;
/// assert!(String::from_utf8(html)?.contains("<h1>An empty file</h1>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Page<'p, 'f> {
    /// The heading.
    pub title: &'p Shown<'p>,
    /// The program and its version.
    pub made_by: &'static str,
    /// The files, which belong together. All their blobs are shown, whatever a filter in the options says.
    pub reports: &'p [FileReport<'f>],
    /// What the checks found in them.
    pub group: &'p Group,
    /// Whether the work is to stop. It is called before each blob.
    pub stopped: &'p dyn Fn() -> bool,
}

impl std::fmt::Debug for Page<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("title", &self.title).field("reports", &self.reports).finish_non_exhaustive()
    }
}

impl Page<'_, '_> {
    /// Writes the page. Failures to read are in it, and in `failures`.
    pub fn write(&self, to: &mut dyn Write, failures: &mut Failures) -> io::Result<()> {
        let mut html = Html::new(to);
        // The head goes out before the values are read, which takes a while.
        head(&mut html, self.title, POLICY, &[STYLE]);
        html.send();
        let sums = Sums::of(self.reports);
        let mut values = ValuesOf::new(self);
        let largest = blobs::largest(self.reports);
        values.keep(&largest);
        html.put("<body>\n");
        overview::write(&mut html, self, &sums);
        html.put("<main>\n");
        model::write(&mut html, self);
        tiles::write(&mut html, self, failures);
        findings::write(&mut html, self.group);
        blobs::write(&mut html, self, &sums, &largest, &values);
        let mut odd = Odd::default();
        data::write(&mut html, self, &mut values, &mut odd, failures);
        if self.has_values() {
            odd.write(&mut html);
        }
        overview::write_unknown(&mut html, self, &sums);
        html.put(markup!("</main>\n<footer>Made by {}.</footer>\n", self.made_by));
        html.put("<script>").put(SCRIPT).put("</script>\n</body>\n</html>\n");
        html.finish()
    }

    /// Whether the values of tensors are read.
    fn has_values(&self) -> bool {
        self.reports.iter().any(|report| report.options.values.is_some())
    }
}

/// The head of a page, with its policy and styles.
fn head(html: &mut Html<'_>, title: &Shown<'_>, policy: &'static str, styles: &[&'static str]) {
    html.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.put("<meta http-equiv=\"Content-Security-Policy\" content=\"").put(policy.trim_end()).put("\">\n");
    html.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.put("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.put(markup!("<title>{}</title>\n", title));
    for style in styles {
        html.put("<style>").put(*style).put("</style>\n");
    }
    html.put("</head>\n");
}

#[cfg(test)]
pub(super) mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Base64, which policies write hashes in.
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |three: &[u8]| {
            let bits = three.iter().fold(0, |bits, &byte| bits << 8 | usize::from(byte)) << (8 * (3 - three.len()));
            let letter = |nth: usize| match nth <= three.len() {
                true => char::from(LETTERS[bits >> (18 - 6 * nth) & 63]),
                false => '=',
            };
            [0, 1, 2, 3].map(letter)
        };
        bytes.chunks(3).flat_map(group).collect()
    }

    /// Checks that the policy has the hashes, or renews it. A page may have no script.
    pub(super) fn hold_policy(path: &str, kept: &str, styles: &[&str], script: Option<&str>) {
        let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
        let styles: Vec<_> = styles.iter().map(|style| hash(style)).collect();
        let (styles, script) = (styles.join(" "), script.map_or("'none'".to_owned(), hash));
        let policy = format!(
            "default-src 'none'; style-src {styles}; script-src {script}; base-uri 'none'; form-action 'none'\n"
        );
        if std::env::var_os("POPEF_RENEW").is_some() {
            std::fs::write(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path), policy).unwrap();
            return;
        }
        assert_eq!(kept, policy, "POPEF_RENEW=1 cargo test -p popef-show --lib page");
    }

    pub(super) fn hold_nothing_foreign(texts: &[&str]) {
        for text in texts {
            for forbidden in ["</", "<!--", "http:", "https:", "url(", "@import", "innerHTML", "eval(", "fetch("] {
                assert!(!text.replace("http://www.w3.org/2000/svg", "").contains(forbidden), "{forbidden}");
            }
        }
    }

    #[test]
    fn the_policy_has_the_hashes_of_style_and_script() {
        hold_policy("src/page/policy.txt", POLICY, &[STYLE], Some(SCRIPT));
    }

    #[test]
    fn nothing_in_style_and_script_ends_them_or_asks_for_anything() {
        hold_nothing_foreign(&[STYLE, SCRIPT]);
    }
}
