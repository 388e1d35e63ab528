use popef::seam::named;

named! {
    /// The severity of a finding.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Severity("a severity") {
        /// Worth knowing, and normal in many files.
        Note = "note",
        /// Most likely not intended.
        Warning = "warning",
        /// It will fail, or its effect is unknown.
        Error = "error",
    }
}
