//! The version of a tool.

use std::sync::OnceLock;

/// The version, and the features of this build. `network` says whether the program reads from other machines.
pub fn built_with(network: bool) -> &'static str {
    static TEXTS: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
    let [without, with] = &TEXTS;
    (if network { with } else { without }).get_or_init(|| version_text(network))
}

fn version_text(network: bool) -> String {
    let named = |wanted: bool| {
        let names = popef::FEATURES
            .iter()
            .chain(&popef_payload::FEATURES)
            .filter(|(_, is_on)| *is_on == wanted)
            .map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let version = env!("CARGO_PKG_VERSION");
    let network = if network { "yes" } else { "no" };
    let without = Some(named(false)).filter(|names| !names.is_empty());
    let without = without.map(|names| format!("\nwithout: {names}")).unwrap_or_default();
    format!("{version}\nnetwork: {network}\nfeatures: {}{without}", named(true))
}
