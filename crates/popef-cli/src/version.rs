//! The version of a tool.

use std::sync::OnceLock;

/// The version, and the features of this build.
pub fn built_with() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(version_text)
}

fn version_text() -> String {
    let named = |wanted: bool| {
        let names = popef::FEATURES
            .iter()
            .chain(&popef_payload::FEATURES)
            .filter(|(_, is_on)| *is_on == wanted)
            .map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let version = env!("CARGO_PKG_VERSION");
    let network = if popef_open::READS_ADDRESSES { "yes" } else { "no" };
    let without = Some(named(false)).filter(|names| !names.is_empty());
    let without = without.map(|names| format!("\nwithout: {names}")).unwrap_or_default();
    format!("{version}\nnetwork: {network}\nfeatures: {}{without}", named(true))
}
