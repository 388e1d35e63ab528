use super::json::{Json, JsonLines};
use super::overview::Overview;
use super::renderer::ListRenderer;
use super::text::Listing;
use crate::output::named::named;
use crate::output::screen::Screen;
use crate::report::options::Options;

named! {
    /// The formats in which files are listed. A new one is a [`ListRenderer`] in a file of its own, one line here, and one in
    /// `renderer`.
    #[non_exhaustive]
    pub enum ListFormat {
        /// For people: the vendor's listing of what is selected, or an overview.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// One JSON object per line and blob.
        Ndjson = "ndjson",
    }
}

impl ListFormat {
    /// The renderer. Without a screen, text is not shortened.
    pub fn renderer(self, options: &Options, screen: Option<Screen>) -> Box<dyn ListRenderer> {
        match self {
            ListFormat::Text if options.select.is_some() => Box::new(Listing),
            ListFormat::Text => Box::new(Overview::new(screen, options.full_names)),
            ListFormat::Json => Box::new(Json),
            ListFormat::Ndjson => Box::new(JsonLines),
        }
    }
}
