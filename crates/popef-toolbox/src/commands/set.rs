//! `popef set`.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use popef::File;
use popef::types::Text;
use popef_cli::end::unwritten;
use popef_cli::filter::Filter;
use popef_cli::format::{Format, FormatArgs, json_document, json_line, json_line_in};
use popef_cli::input::open_whole;
use popef_cli::output::ChangeArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_cli::values::path;
use popef_open::{is_stdin, open_plain};
use popef_ops::set::{Change, Changes, FieldPath, Given, NewFinding, Outcome, Plan, Rename, Weights};
use popef_ops::{Code, Error, FilePath, InFile, OutputPath};
use popef_show::operations::write_changes;
use popef_show::{Out, Shown, counted, size};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Command;
use crate::common::findings::{check_strict, say_findings};
use crate::common::values::{GivenArrays, named_arrays};

/// Change metadata, names and weights, and nothing else
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef set [OPTIONS] -o <NEW> <FILE>\n       popef set [OPTIONS] --in-place <FILE>", after_help = "\
Examples:
  popef set model.popef --set numIpus=4 --set isPOD=true -o pod.popef
  popef set model.popef --engine-option target.syncReplicasIndependently=true --in-place
  popef set model.popef --set 'anchors[input].tensorInfo.shape=[4,224,224,3]' --dry-run
  popef set model.popef --unset 'engineOptions[debug.trace]' --in-place
  popef set model.popef --merge patch.json -o new.popef
  popef set model.popef --tensors weights.safetensors -o retrained.popef
  popef set model.popef --tensors encoder/w=w.npy --in-place
  popef set model.popef --rename old.weight=new.weight --in-place")]
pub(crate) struct Args {
    /// File to change; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// Set a field of the metadata
    ///
    /// PATH is a field of the JSON that `popef dump --format json` shows: numIpus, seedHandle, programFlow.main,
    /// engineOptions[NAME], deviceOptions[NAME], programsMap[INDEX], or anchors[NAME].FIELD, where FIELD is name, type,
    /// handle, tensorInfo.dataType, tensorInfo.shape, programs, isPerReplica, useRemoteBuffers or repeats. inputs[NAME] and
    /// outputs[NAME] are the anchors of that direction. Options and programs are added if they are missing. An anchor is
    /// added with anchors[NAME]=JSON. A NAME with brackets that do not match is written in quotes, as in JSON.
    #[arg(long, value_name = "PATH=VALUE", value_parser = FieldPath::parse_assignment, help_heading = "Metadata")]
    set: Vec<(FieldPath, Given)>,
    /// Remove an element of a list of the metadata, or empty a text or a list
    #[arg(long, value_name = "PATH", value_parser = FieldPath::parse::<str>, help_heading = "Metadata")]
    unset: Vec<FieldPath>,
    /// Merge FILE, a JSON document, into the metadata; `-` is standard input
    ///
    /// The document has fields like the metadata in JSON, only those that change. null unsets. A list replaces the whole
    /// list. An object in the place of a list changes only the elements that it names: {"anchors": {"input":
    /// {"repeats": 2}}, "engineOptions": {"debug.trace": null}}. Merged before --unset and --set.
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Metadata")]
    merge: Vec<PathBuf>,
    /// Set an option for the Poplar engine
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, help_heading = "Metadata")]
    engine_option: Vec<(String, String)>,
    /// Drop an option for the Poplar engine
    #[arg(long, value_name = "NAME", help_heading = "Metadata")]
    drop_engine_option: Vec<String>,
    /// Set an option for the device
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, help_heading = "Metadata")]
    device_option: Vec<(String, String)>,
    /// Drop an option for the device
    #[arg(long, value_name = "NAME", help_heading = "Metadata")]
    drop_device_option: Vec<String>,
    /// The executable whose metadata is changed, if the file has several
    #[arg(long, value_name = "EXECUTABLE", help_heading = "Metadata")]
    model: Option<String>,
    /// Give blobs another name
    ///
    /// References to them get the new name too: anchors to tensors and feeds, metadata and opaque blobs to executables.
    /// --type says which blobs are meant if those of several types have the name.
    #[arg(long, value_name = "OLD=NEW", help_heading = "Blobs")]
    rename: Vec<String>,
    /// Do not change references to renamed blobs
    #[arg(long, requires = "rename", help_heading = "Blobs")]
    keep_references: bool,
    /// Replace the data of tensors and feeds by arrays of the same name
    ///
    /// FILE is an .npz, .safetensors or .npy file, or a folder of .npy files such as `popef extract` makes. NAME=FILE is for the
    /// tensor NAME, whatever the array in the file is called. Each array must have the type and shape of its tensor; that of a feed has
    /// the runs in front. Bytes stand for 8-bit floats. Bytes after the end of a tensor stay.
    #[arg(long, value_name = "[NAME=]FILE", value_hint = ValueHint::AnyPath, value_parser = named_arrays(), help_heading = "Blobs")]
    tensors: Vec<GivenArrays>,
    /// Add the tensors of --tensors that the file does not have, if it has an input of that name
    #[arg(long, requires = "tensors", help_heading = "Blobs")]
    add_missing: bool,
    /// Drop the bytes after the end of tensors and feeds, and after metadata, which are not part of them
    #[arg(long, help_heading = "Blobs")]
    drop_surplus: bool,
    /// Set the version of the chosen blobs
    #[arg(long, value_name = "VERSION", help_heading = "Blobs")]
    set_version: Option<String>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: ChangeArgs,
    /// Write nothing if the checks find errors or warnings that the old file does not have
    #[arg(long, help_heading = "Output")]
    strict: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.merge.iter().chain([&self.file]).filter(|path| is_stdin(path)).nth(1).is_some() {
            return Err(Error::new(Code::WrongArguments, "standard input (-) can be read only once"));
        }
        let changes = self.changes()?;
        let file = open_whole(tool, &self.file)?;
        self.filter.check([&file], &[&self.file])?;
        let changes = Changes { renames: self.renames(&file)?, ..changes };
        check_strict(self.strict, self.output.place())?;
        if changes.is_empty() {
            return Err(Error::new(Code::WrongArguments, "there is nothing to set, such as --set numIpus=4"));
        }
        // This comes before arrays are compared.
        self.output.target(&self.file)?.check([&file])?;
        self.check_new_names(&changes.renames, &file, tool)?;
        let plan = Plan::of(&file, &changes, &|blob| self.filter.takes(blob), &tool.progress("comparing"));
        let plan = plan.map_err(|error| error.in_file(&self.file))?;
        let done = self.write(&plan, tool)?;
        let report = Report { file: &self.file, output: &self.output, plan: &plan, done: done.as_ref(), old: file.size() };
        let mut out = tool.report();
        report.show(self.format.format, &mut out).map_err(unwritten)?;
        say_findings(tool, report.findings());
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.output.place()).format(self.format.format)
    }
}

impl Args {
    fn changes(&self) -> Result<Changes, Error> {
        let mut fields = Vec::new();
        for merge in &self.merge {
            fields.push(Change::Merge(patch(merge)?, Some(merge.clone())));
        }
        let removed = [("engineOptions", &self.drop_engine_option), ("deviceOptions", &self.drop_device_option)];
        for (list, names) in removed {
            for name in names {
                fields.push(Change::Unset(option_named(list, name)?));
            }
        }
        fields.extend(self.unset.iter().cloned().map(Change::Unset));
        fields.extend(self.set.iter().cloned().map(|(path, value)| Change::Set(path, value)));
        let set = [("engineOptions", &self.engine_option), ("deviceOptions", &self.device_option)];
        for (list, options) in set {
            for (name, value) in options {
                fields.push(Change::Set(option_named(list, name)?, Given::Word(value.clone())));
            }
        }
        Ok(Changes {
            model: self.model.clone().map(Text::from),
            fields,
            renames: Vec::new(),
            keep_references: self.keep_references,
            weights: self.tensors.iter().cloned().map(weights).collect(),
            add_missing: self.add_missing,
            version: self.set_version.clone().map(Text::from),
            drop_surplus: self.drop_surplus,
        })
    }

    /// Names may contain a `=`, so that only the file tells the old name from the new one.
    fn renames(&self, file: &File) -> Result<Vec<Rename>, Error> {
        self.rename.iter().map(|text| Rename::parse(text, file)).collect()
    }

    /// Warns of new names that are empty, or that another input or output has.
    fn check_new_names(&self, renames: &[Rename], file: &File, tool: &Tool) -> Result<(), Error> {
        if renames.is_empty() {
            return Ok(());
        }
        let mut anchors = HashSet::new();
        for metadata in file.metadata() {
            anchors.extend(metadata.read()?.anchors.into_iter().map(|anchor| anchor.name));
        }
        for Rename { from, to } in renames {
            let moves_away = renames.iter().any(|other| other.from == *to);
            if to.is_empty() {
                tool.say(&format!("warning: the new name of \"{from}\" is empty"));
            } else if from != to && !moves_away && anchors.contains(to) && anchors.contains(from) {
                tool.say(&format!("warning: another input or output has the name \"{to}\", which \"{from}\" gets too"));
            }
        }
        Ok(())
    }

    /// Writes the file, unless it is replaced in place and does not change.
    fn write(&self, plan: &Plan<'_>, tool: &Tool) -> Result<Option<Outcome>, Error> {
        if plan.is_empty() && self.output.is_in_place() {
            return Ok(None);
        }
        let watch = tool.progress("writing");
        let target = self.output.target(&self.file)?;
        target.check_sources(self.merge.iter().map(PathBuf::as_path))?;
        plan.write(target, self.strict, &watch).map(Some)
    }
}

fn weights(given: GivenArrays) -> Weights {
    match given {
        GivenArrays::At(path) => Weights::At(path),
        GivenArrays::For(name, path) => Weights::For(name.into(), path),
    }
}

/// The option with this name in a list. A name with the list before it would be added under that whole name.
fn option_named(list: &str, name: &str) -> Result<FieldPath, Error> {
    let rest = name.strip_prefix(list).and_then(|rest| rest.strip_prefix(['.', '[']));
    match rest.map(|rest| rest.trim_end_matches(']')) {
        Some(rest) => Err(Error::new(Code::WrongArguments, format!("there is no option {name}; did you mean {rest}?"))),
        None => FieldPath::element(list, name.to_owned()),
    }
}

/// A name and a value. The names of options have no `=`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or("needed NAME=VALUE, there is no =")?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

/// The maximum length of a document that is merged, which is held in memory.
const LONGEST_PATCH: u64 = 16 << 20;

fn patch(path: &Path) -> Result<Value, Error> {
    let text = document(path, "read the patch")?;
    let wrong = |error: serde_json::Error| Error::new(Code::WrongArguments, format!("it is not JSON: {error}"));
    serde_json::from_slice(&text).map_err(|error| wrong(error).in_file(path))
}

/// Reads a short document, which may come from standard input.
pub(super) fn document(path: &Path, doing: &'static str) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let read = |from: &mut dyn Read, text: &mut Vec<u8>| from.take(LONGEST_PATCH.saturating_add(1)).read_to_end(text);
    let result = match is_stdin(path) {
        true => read(&mut io::stdin(), &mut text),
        false => open_plain(path).and_then(|mut file| read(&mut file, &mut text)),
    };
    result.map_err(|error| Error::io(doing, error).in_file(path))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LONGEST_PATCH {
        let message = format!("the document is longer than {LONGEST_PATCH} bytes");
        return Err(Error::new(Code::WrongArguments, message).in_file(path));
    }
    Ok(text)
}

/// The changes, made or planned.
struct Report<'r> {
    file: &'r Path,
    output: &'r ChangeArgs,
    plan: &'r Plan<'r>,
    /// `None` if nothing was to be written.
    done: Option<&'r Outcome>,
    old: u64,
}

/// The report in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'r> {
    #[serde(flatten)]
    path: FilePath,
    #[serde(flatten)]
    output: Option<OutputPath>,
    /// Whether a file was written. For a dry run: whether one would be.
    written: bool,
    size_before: u64,
    size_after: u64,
    #[serde(serialize_with = "changes", skip_serializing_if = "Option::is_none")]
    blobs: Option<&'r Plan<'r>>,
    new_findings: Option<&'r [NewFinding]>,
}

/// Serialises the changes one after the other, because there may be millions.
fn changes<S: Serializer>(plan: &Option<&Plan<'_>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(plan.iter().flat_map(|plan| plan.changes()))
}

impl Report<'_> {
    fn show(&self, format: Format, out: &mut Out) -> io::Result<()> {
        match format {
            Format::Text => self.text(out)?,
            Format::Json => json_document(out, &self.document())?,
            Format::Ndjson => {
                let file = &InFile::from(self.file);
                self.plan.changes().try_for_each(|blob| json_line_in(out, "blob", file, &blob))?;
                json_line(out, "report", &Document { blobs: None, ..self.document() })?;
            }
        }
        out.send()
    }

    fn findings(&self) -> Option<&[NewFinding]> {
        self.done?.new_findings.as_deref()
    }

    fn document(&self) -> Document<'_> {
        Document {
            path: self.file.into(),
            output: self.output.path(self.file).map(OutputPath::from),
            written: self.done.is_some(),
            size_before: self.old,
            size_after: self.size(),
            blobs: Some(self.plan),
            new_findings: self.findings(),
        }
    }

    fn size(&self) -> u64 {
        self.done.map_or(self.old, |done| done.size)
    }

    fn text(&self, out: &mut Out) -> io::Result<()> {
        write_changes(out, self.plan)?;
        out.put(Shown::from(self.summary())).end_line()
    }

    fn summary(&self) -> String {
        let blobs = self.plan.len();
        let size = size(self.size());
        let output = match self.output.path(self.file) {
            Some(path) if !is_stdin(path) => path.display().to_string(),
            _ => "the new file".to_owned(),
        };
        let changes = match blobs {
            0 => "nothing changes".to_owned(),
            _ => format!("{} changed", counted(blobs, "blob", "blobs")),
        };
        match (self.done, self.output.dry_run) {
            (None, true) => format!("{}: nothing changes; the file would not be written again", self.file.display()),
            (None, false) => format!("{}: nothing changes; the file was not written again", self.file.display()),
            (Some(_), true) => format!("{output} would be written: {changes}, {size}"),
            (Some(_), false) => format!("{output} was written: {changes}, {size}"),
        }
    }
}
