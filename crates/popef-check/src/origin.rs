use popef::seam::named;
use popef_findings::{Rule, When};

use super::rules::rule_by_id;

named! {
    /// Where the facts behind a rule come from. `docs/FORMAT.md` uses the same words.
    ///
    /// ```
    /// use popef_check::{Origin, origin_of, rule_by_id};
    ///
    /// assert_eq!(rule_by_id("PE101").and_then(origin_of), Some(Origin::Documented));
    /// assert_eq!(Origin::Inferred.to_string(), "inferred");
    /// ```
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Origin("an origin") {
        /// The vendor or a public standard says so: Cap'n Proto, Python's pickles, IEEE 754.
        Documented = "documented",
        /// It was taken from public programs of the vendor.
        Recovered = "recovered",
        /// It is a conclusion that fits all known facts but is not confirmed. Such rules are notes.
        Inferred = "inferred",
        /// A policy requires it.
        Required = "required",
    }
}

/// The rules that judge by what programs of the vendor do.
const RECOVERED: &[&str] = &[
    "PE004", "PE016", "PE018", "PE104", "PE112", "PE113", "PE203", "PE205", "PE206", "PE207", "PE208", "PE209",
    "PE215", "PE226", "PE303", "PE401", "PE406", "PE407", "PE601", "PE602", "PE603", "PE604", "PE605", "PE606",
    "PE607", "PE608", "PE609", "PE610", "PE611", "PE612", "PE613", "PE614", "PE621", "PE622", "PE623", "PE624",
    "PE721", "PE722", "PE723", "PE724", "PE725", "PE726", "PE727", "PE728", "PE729", "PE732", "PE733",
];

/// The rules that judge by conclusions.
const INFERRED: &[&str] =
    &["PE008", "PE014", "PE204", "PE216", "PE402", "PE403", "PE408", "PE409", "PE410", "PE801", "PE802", "PE803"];

/// Returns where the facts are from that a rule judges by. `None` for a rule of another crate.
pub fn origin_of(rule: &Rule) -> Option<Origin> {
    rule_by_id(rule.id)?;
    Some(match (rule.when, rule.id) {
        (When::Policy, _) => Origin::Required,
        (_, id) if INFERRED.contains(&id) => Origin::Inferred,
        (_, id) if RECOVERED.contains(&id) => Origin::Recovered,
        _ => Origin::Documented,
    })
}
