//! The findings, rule by rule: severity, place, and what to do.

use std::collections::BTreeMap;

use popef::error::Location;
use popef::types::Text;
use popef_check::Finding;

use crate::findings::group::Group;
use crate::output::html::{Html, quiet};
use crate::output::shown::Shown;
use crate::output::units::thousands;

/// The number of findings of a rule that are shown at once. The others can be unfolded.
const FIRST: usize = 5;
/// The maximum number of findings of a rule on the page.
const MOST: usize = 1000;

pub(super) fn write(html: &mut Html<'_>, group: &Group) {
    html.put("<section id=\"findings\">\n<h2>Findings of the checks</h2>\n");
    if group.report.findings.is_empty() {
        html.put("<p>Nothing was found.</p>\n");
    }
    for findings in by_rule(&group.report.findings) {
        rule(html, group, &findings);
    }
    html.put("</section>\n");
}

/// The findings of each rule, the worst rules first.
fn by_rule(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut rules: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    findings.iter().for_each(|finding| rules.entry(finding.rule.id).or_default().push(finding));
    let mut rules: Vec<_> = rules.into_values().collect();
    rules.sort_by_key(|findings| std::cmp::Reverse(findings.first().map(|finding| finding.severity)));
    rules
}

fn rule(html: &mut Html<'_>, group: &Group, findings: &[&Finding]) {
    let Some(&first) = findings.first() else { return };
    html.put(markup!(
        "<article class=\"finding {}\">\n<h3><span class=\"badge\">{}</span> {} <small>{}</small></h3>\n",
        first.severity,
        first.severity,
        first.rule.title,
        first.rule.id
    ));
    list(html, group, findings.get(..FIRST).unwrap_or(findings));
    if let Some(more) = findings.get(FIRST..).filter(|more| !more.is_empty()) {
        let listed = more.get(..MOST).unwrap_or(more);
        let all = unlisted(group, first).saturating_add(more.len());
        html.put(markup!("<details><summary>{} more", thousands(all)));
        if listed.len() < all {
            html.put(markup!(", of which {} are listed", thousands(listed.len())));
        }
        html.put("</summary>\n");
        list(html, group, listed);
        if more.len() > MOST {
            html.put("<p><code>popef check</code> lists the first 100 of each file.</p>\n");
        }
        html.put("</details>\n");
    }
    html.put(markup!("<p class=\"quiet\">{}</p>\n", first.rule.meaning));
    html.put(markup!("<p><strong>To fix it:</strong> {}</p>\n", Shown::message(group.advice(first))));
    html.put("</article>\n");
}

/// The number of findings of the same rule that are only counted.
fn unlisted(group: &Group, first: &Finding) -> usize {
    let of_rule = group.report.unlisted.iter().filter(|unlisted| unlisted.rule.id == first.rule.id);
    let counts = of_rule.map(|unlisted| usize::try_from(unlisted.count).unwrap_or(usize::MAX));
    counts.fold(0, usize::saturating_add)
}

fn list(html: &mut Html<'_>, group: &Group, findings: &[&Finding]) {
    html.put("<ul>\n");
    for finding in findings {
        html.put("<li>");
        if group.files.len() > 1
            && let Some(path) = group.path(finding.file)
        {
            html.name(&Text::from(path.as_os_str().as_encoded_bytes())).put(": ");
        }
        let place = Location { blob: finding.blob, offset: finding.offset };
        html.put(quiet(place)).put(Shown::message(&finding.message));
        html.put("</li>\n");
    }
    html.put("</ul>\n");
}
