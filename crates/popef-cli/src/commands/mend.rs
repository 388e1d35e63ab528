//! Commands of `popef` that mend what a check found. A new file is written, so that nothing is lost.

use std::path::Path;

use popef::types::{BlobType, EngineOption, Text};
use popef::write::{BlobCopy, Packing};
use popef::{Blob, File, Metadata, Writer};
use popef_check::{Finding, Report, looks_like_credential};
use popef_open::{Opened, is_of_process, is_stdin, shell_path, shell_word};
use popef_show::{Mend, escape, type_word};

/// The rules that a command mends, the command, what it does, and its options for one finding. `None` if the command cannot help.
type Entry = (&'static [&'static str], &'static str, &'static str, fn(&File, &Finding) -> Option<Vec<String>>);

const MENDS: &[Entry] = &[
    (&["PE001", "PE002", "PE003", "PE004"], "recover", "keeps the whole blobs; the others are lost", |file, _| {
        (!file.is_empty()).then(Vec::new)
    }),
    (&["PE008", "PE009"], "set", "drops the bytes that are not part of tensors, feeds or metadata", |_, _| {
        Some(vec!["--drop-surplus".to_owned()])
    }),
    (&["PE013"], "set", "replaces the characters by _; what asks for the old name no longer finds it", renamed),
    (&["PE014"], "set", "empties the versions of all blobs", |_, _| Some(vec!["--set-version=".to_owned()])),
    (&["PE108", "PE109", "PE111"], "strip", "drops the data; do this only if nothing needs it", dropped),
    (&["PE307"], "strip", "drops the feed, so that the user provides the data", dropped),
    (
        &["PE201"],
        "set",
        "sets one IPU for each replica; if the model was compiled for more, write that number",
        |file, _| Some(vec![format!("--set=numIpus={}", only_metadata(file)?.replication_factor.max(1))]),
    ),
    (&["PE202"], "set", "sets the number for a model without replication", |file, _| {
        only_metadata(file).map(|_| vec!["--set=replicationFactor=1".to_owned()])
    }),
    (&["PE203"], "set", "sets the number for a model in one process", |file, _| {
        only_metadata(file).map(|_| vec!["--set=numProcesses=1".to_owned()])
    }),
    (&["PE220"], "set", "keeps only the last value, which Poplar takes", last_value),
    (&["PE506"], "set", "removes the option; revoke the credential all the same", without_option),
    (&["PE702"], "compress", "compresses the executables", |file, _| becomes_smaller(file).then(Vec::new)),
    (&["PE703", "PE704"], "strip", "drops the blob, which its framework may need", |file, finding| {
        match finding.blob {
            Some(_) => dropped(file, finding),
            None => (!file.prefix().is_empty()).then(|| vec!["--drop=prefix".to_owned()]),
        }
    }),
];

/// For each finding, the command that mends all findings of its rule in its file, if there is one.
pub(crate) fn mends(files: &[Opened], report: &Report) -> Vec<Option<Mend>> {
    let mut all: Vec<Option<Mend>> = Vec::with_capacity(report.findings.len());
    all.resize_with(report.findings.len(), || None);
    for (number, opened) in files.iter().enumerate() {
        let Some(file) = opened.file().filter(|_| is_plain(opened)) else { continue };
        let in_file = |finding: &Finding| finding.file == number;
        let mut found: Vec<_> = MENDS
            .iter()
            .flat_map(|entry| entry.0.iter().map(move |rule| (*rule, entry)))
            .filter(|(_, entry)| (entry.1 == "recover") == file.damage().is_some())
            .filter_map(|(rule, entry)| {
                let is_listed = !report.unlisted.iter().any(|more| more.file == number && more.rule.id == rule);
                let findings = report.findings.iter().filter(|finding| in_file(finding) && finding.rule.id == rule);
                let options = options_of(file, findings, entry.3).filter(|_| is_listed)?;
                Some((rule, entry, options))
            })
            .collect();
        let is_single = found.len() == 1;
        for (rule, (_, command, effect, _), options) in found.drain(..) {
            let Some(command) = line(command, &opened.path, &options, (!is_single).then_some(rule)) else { continue };
            let mend = Mend { command, effect };
            for (place, finding) in all.iter_mut().zip(&report.findings) {
                if in_file(finding) && finding.rule.id == rule {
                    *place = Some(mend.clone());
                }
            }
        }
    }
    all
}

/// Whether another command can open the file by its path: it is on this machine, and neither a pipe nor a name that only this process has.
fn is_plain(opened: &Opened) -> bool {
    let path = &opened.path;
    opened.network.is_none() && opened.foreign.is_none() && !is_stdin(path) && !is_of_process(path) && path.is_file()
}

/// The options for all findings, each once. `None` if a finding cannot be mended, or the list is empty.
fn options_of<'f>(
    file: &File,
    findings: impl Iterator<Item = &'f Finding>,
    options: fn(&File, &Finding) -> Option<Vec<String>>,
) -> Option<Vec<String>> {
    let (mut all, mut is_any) = (Vec::new(), false);
    for finding in findings {
        is_any = true;
        for option in options(file, finding)? {
            if !all.contains(&option) {
                all.push(option);
            }
        }
    }
    is_any.then_some(all)
}

/// The longest command that is shown.
const LONGEST: usize = 2000;

/// The command for a shell. `None` if it cannot be shown as it is.
fn line(command: &str, path: &Path, options: &[String], rule: Option<&str>) -> Option<String> {
    let ending = rule.map_or(String::new(), |rule| format!("-{rule}"));
    // What is before `mended` tells a.popef from other files named a, so that their commands write different files.
    let start = match path.extension() {
        Some(popef) if popef == "popef" => format!("{}-", path.file_stem()?.to_str()?),
        _ => format!("{}.", path.file_name()?.to_str()?),
    };
    let new = |again: usize| {
        let again = if again > 1 { format!("-{again}") } else { String::new() };
        path.with_file_name(format!("{start}mended{ending}{again}.popef"))
    };
    let new = (1..100).map(new).find(|new| !new.exists())?;
    let mut words = vec!["popef".to_owned(), command.to_owned(), shell_path(path)?];
    words.extend(options.iter().map(|option| shell_word(option)));
    words.extend(["-o".to_owned(), shell_path(&new)?]);
    let line = words.join(" ");
    (line.len() <= LONGEST && escape(&line.replace('\\', "")) == line.replace('\\', "")).then_some(line)
}

/// The metadata of a file with only one, so that `set` needs no name. `None` if `set` cannot write it again.
fn only_metadata(file: &File) -> Option<Metadata> {
    let mut all = file.metadata();
    let only = all.next().filter(|_| all.next().is_none())?;
    let metadata = only.read().ok()?;
    Writer::nowhere().copy(BlobCopy::of(only.blob()).info(&metadata)).ok()?;
    Some(metadata)
}

fn dropped(file: &File, finding: &Finding) -> Option<Vec<String>> {
    let blob = file.blob(finding.blob?)?;
    let name = blob.name()?;
    let same = |other: &Blob<'_>| other.blob_type() == blob.blob_type() && other.name().as_ref() == Some(&name);
    if file.blobs().filter(same).count() != 1 || name.to_str().is_err() {
        return None;
    }
    let glob = escape(&name.to_string_lossy()).chars().fold(String::new(), |mut glob, letter| {
        match letter {
            '*' | '?' | '[' => glob.extend(['[', letter, ']']),
            _ => glob.push(letter),
        }
        glob
    });
    Some(vec![format!("--drop={}:{glob}", type_word(blob.blob_type())?)])
}

fn renamed(file: &File, finding: &Finding) -> Option<Vec<String>> {
    let old = finding.names.first()?.to_str().ok()?;
    let names = || file.blobs().filter(|blob| blob.blob_type() != BlobType::Metadata).filter_map(|blob| blob.name());
    if names().filter(|name| *name == *old).count() != 1 {
        return None;
    }
    let is_odd = |letter: char| letter != '\\' && escape(letter.encode_utf8(&mut [0; 4])) != letter.to_string();
    let new: String = old.chars().map(|letter| if is_odd(letter) { '_' } else { letter }).collect();
    let text = format!("{}={new}", escape(old));
    // `set` ends the old name at the = before which a name stands.
    let known = text.match_indices('=').filter(|(end, _)| {
        let before = text.get(..*end).unwrap_or_default();
        names().any(|name| name == *before || escape(&name.to_string_lossy()) == before)
    });
    (known.count() == 1 && !names().any(|name| name == *new)).then(|| vec![format!("--rename={text}")])
}

/// The options of the engine or of the device that have this name, and the word for them.
fn options_named(file: &File, name: &Text<'_>) -> Option<Vec<(&'static str, Vec<EngineOption>)>> {
    let metadata = only_metadata(file)?;
    let lists = [("engine", metadata.engine_options), ("device", metadata.device_options)];
    let named = |options: Vec<EngineOption>| options.into_iter().filter(|option| option.name == *name).collect();
    Some(lists.into_iter().map(|(kind, options)| (kind, named(options))).collect())
}

fn last_value(file: &File, finding: &Finding) -> Option<Vec<String>> {
    let name = finding.names.first()?;
    let shown = name.to_str().ok().filter(|name| !name.contains('='))?;
    let mut options = Vec::new();
    for (kind, named) in options_named(file, name)? {
        if named.iter().any(looks_like_credential) {
            return None;
        }
        if let [_, .., last] = named.as_slice() {
            options.push(format!("--{kind}-option={shown}={}", last.value.to_str().ok()?));
        }
    }
    Some(options)
}

fn without_option(file: &File, finding: &Finding) -> Option<Vec<String>> {
    let name = finding.names.first()?;
    let shown = name.to_str().ok()?;
    let mut options = Vec::new();
    for (kind, named) in options_named(file, name)? {
        match named.as_slice() {
            [] => {}
            [only] if looks_like_credential(only) => options.push(format!("--drop-{kind}-option={shown}")),
            [_] => {}
            _ => return None,
        }
    }
    Some(options)
}

/// Whether the beginning of each executable that is not compressed becomes smaller.
fn becomes_smaller(file: &File) -> bool {
    const SAMPLE: u64 = 64 << 10;
    let smaller = |blob: Blob<'_>| {
        let data = blob.data();
        let sample = data.range(0..data.len().min(SAMPLE)).ok()?.read().ok()?;
        let mut writer = Writer::nowhere();
        let packed = writer.write_packed_executable("e", &sample, Packing::default()).ok()?;
        let plain = writer.write_executable("p", &sample).ok()?;
        Some(packed.size < plain.size)
    };
    let mut plain = file.executables().filter(|executable| !executable.is_compressed());
    plain.all(|executable| smaller(*executable.blob()).unwrap_or(false))
}

#[cfg(test)]
mod tests {

    use super::MENDS;

    /// Users who read only the rule learn that a command mends it.
    #[test]
    fn the_text_of_a_rule_names_the_command_that_mends_it() {
        let entries = MENDS.iter().flat_map(|(rules, command, ..)| rules.iter().map(move |rule| (*rule, *command)));
        // What to do about a credential is first of all to revoke it.
        for (id, command) in entries.filter(|(id, _)| *id != "PE506") {
            let rule = popef_check::rule_by_id(id).unwrap();
            assert!(rule.fix.contains(&format!("popef {command}")), "{id}: {}", rule.fix);
        }
    }
}
