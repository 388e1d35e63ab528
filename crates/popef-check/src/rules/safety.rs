//! Rules about what is dangerous to load or to publish.

use super::super::findings::{Findings, Spot};
use super::super::options::UNKNOWN_IMPORTS;
use super::super::run::{Check, Pickled, model, opaque_pickle_and_set, pickle};
use super::super::set::Set;
use super::super::start::holder_of_pickles;
use super::super::words::{count, quote};
use popef::model::Linked;
use popef::read::OpaqueBlob;
use popef::types::{EngineOption, Metadata, Text};
use popef_findings::Rule;
use popef_payload::pickle::{ImportClass, Pickle, PickleFault, PickleImport, UnseenMember};

pub(super) const RULES: &[Check] = &[
    Rule::note("PE501", "a Python pickle")
        .meaning(
            "An opaque blob is a Python pickle, as PopTorch's blob always is, or an archive with pickles, as \
             torch.save writes it. Loading a pickle runs the code that it names, with the rights of the user who loads \
             it. The finding lists the names that it imports, at most the first 100. Other rules report names that are \
             dangerous or not known, and no more: compiled packages such as NumPy and pandas trust the states of their \
             objects, so false ones let them read and write elsewhere in memory, and loading may take any time and memory.",
        )
        .fix(
            "Load it only if you know who made the file, also if no other rule reports it. Triton and the model runtimes do not need the blob: it can be \
             removed for them. A policy with no-pickles = true forbids pickles.",
        )
        .run(pickle(|_, pickled, out| {
            let pickle = pickled.pickle;
            if pickle.archive.is_some() && pickle.pickles == 0 {
                return;
            }
            let imports = pickle.imports.iter().map(|import| Text::from(import.path.as_str()));
            out.add(pickled.start, imports, || {
                let imports = match u64::try_from(pickle.imports.len()).unwrap_or(u64::MAX) {
                    0 => "nothing".to_owned(),
                    number => count(number, "name"),
                };
                let (named, protocol) = (pickled.named(), pickle.protocol);
                match pickle.archive {
                    Some(kind) => {
                        let pickles = count(pickle.pickles, "Python pickle");
                        let import = if pickle.pickles == 1 { "imports" } else { "import" };
                        format!("{named} is a {kind} archive with {pickles} that {import} {imports}")
                    }
                    None => format!("{named} is a Python pickle of protocol {protocol} that imports {imports}"),
                }
            });
        })),
    Rule::error("PE502", "a pickle that can run programs or use files")
        .meaning(
            "A pickle imports something that runs programs or code, reads or writes files, uses the network, or \
             imports by name; or it hides what it imports, changes a class or an object that is not its own, or calls \
             something in a way that is not known to only build values; or it reads values of which there may be no \
             end, so that loading never ends. From Python's own library, torch, NumPy, pandas and TensorFlow, everything \
             counts that is not known to only build values. No exporter writes such a pickle. Loading it can do \
             anything that the user who loads it can do.",
        )
        .fix("Do not load the file. Find out where it is from.")
        .run(pickle(|_, pickled, out| {
            imports(pickled, out, ImportClass::Dangerous, |_| false, PickleImport::danger);
        })),
    Rule::warning(UNKNOWN_IMPORTS, "a pickle with imports that are not known")
        .meaning(
            "A pickle imports names that are known neither as ordinary nor as dangerous: classes of the model's own \
             code, or of a package that these checks do not know. Loading it imports those modules and calls what is \
             named, so the file is not safe to unpickle. If the pickle changes what such a function returned, that has \
             a finding of its own, even if a policy knows the function: list it as \"(change of a result of NAME)\". \
             It is an error for PopTorch, which unpickles the blob, and with a policy, which can list the names.",
        )
        .fix(
            "Look at the names. If they are from your own code, list them under known-imports in a policy; the code \
             must be installed where the file is loaded. If you do not know them, do not load the file.",
        )
        .run(pickle(|set, pickled, out| {
            let known = |import: &PickleImport| set.policy.knows_import(&import.path);
            imports(pickled, out, ImportClass::Unknown, known, |_| "which these checks do not know");
        })),
    Rule::error("PE504", "a pickle that cannot be followed to its end")
        .meaning(
            "A pickle is cut, damaged, or made to mislead whoever examines it. What it does after that point is not \
             known, and what comes before runs when it is loaded. Or an archive with pickles is such that programs \
             find different members in it.",
        )
        .fix("Export the model again. If you did not make the file, do not load it.")
        .run(pickle(|_, pickled, out| {
            if let Some(fault @ PickleFault { offset, reason, .. }) = &pickled.pickle.fault {
                out.add(pickled.place(*offset), [], || {
                    let what = match (pickled.pickle.archive, &fault.member) {
                        (Some(kind), None) => format!("{} is a {kind} archive", pickled.named()),
                        (_, member) => format!("{} is a Python pickle", pickled.named_in(member.as_deref())),
                    };
                    format!("{what} that cannot be followed beyond its byte {offset}: {reason}")
                });
            }
        })),
    Rule::warning("PE505", "an archive with a part that was not examined")
        .meaning(
            "torch.save writes zip archives with a pickle inside, which these checks examine like any other pickle. \
             This archive has a member that they cannot read: it is encrypted, damaged, sparse, compressed by another \
             method than deflate, or unpacks to many times the length of the archive. It may be a pickle, so the file \
             is not safe to unpickle. An opaque blob that is compressed as a whole, or an array of NumPy, is counted \
             under what was skipped: pickles in it are not examined, nor are those in such members of an archive.",
        )
        .fix(
            "Save the object again with torch.save, and export the model again. If you did not make the file, do not \
             load it.",
        )
        .run(opaque_pickle_and_set(holder, unseen, |_, _| {})),
    Rule::warning("PE506", "a credential in the options")
        .meaning(
            "An engine or device option looks like a password, a key or a token: by its name, or by the form of its \
             value. Whoever has the file can read it. The value is not shown here.",
        )
        .fix("If it is a credential, revoke it, and export the model again without it.")
        .run(model(|_, model, out| {
            let Metadata { engine_options, device_options, .. } = model.metadata();
            for (kind, options) in [("engine", engine_options), ("device", device_options)] {
                for option in options.iter().filter(|option| is_credential(option)) {
                    out.add(Spot::model(model), [option.name.by_ref()], || {
                        format!("{kind} option {} looks like a credential", quote(&option.name))
                    });
                }
            }
        })),
];

/// Reports what in an archive was not looked at.
fn unseen(_: &Set, pickled: &Pickled<'_>, out: &mut Findings<'_>) {
    for UnseenMember { member, offset, why, .. } in &pickled.pickle.unseen {
        out.add(pickled.place(*offset), [Text::from(&**member)], || {
            format!("{} was not looked at: {why}", pickled.named_in(Some(member)))
        });
    }
    if pickled.pickle.passed_over > 0 {
        let members = count(pickled.pickle.passed_over, "long member");
        out.skip(&format!("{members} of {}", pickled.named()), "by their first bytes and names they are no pickles");
    }
}

/// Records that pickles in data of other kinds were not looked for.
fn holder(_: &Set, blob: &Linked<OpaqueBlob<'_>>, _: Option<&Pickle>, out: &mut Findings<'_>) {
    let mut first = [0; 16];
    // The pass reads the data before, and reports a failure itself.
    let first = blob.blob.data().read_up_to(0, &mut first).unwrap_or_default();
    if let Some(what) = holder_of_pickles(first) {
        let why = format!("it is {what}, which these checks do not unpack to look for pickles");
        out.skip(&format!("the content of opaque blob {}", quote(&blob.blob.name())), &why);
    }
}

/// Parts of the names of options that contain credentials, in lower case without separators.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "authtoken",
    "accesstoken",
    "credential",
];

/// The prefixes of credentials for well-known services.
const SECRET_STARTS: &[&str] =
    &["AKIA", "ASIA", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "hf_", "xoxb-", "xoxp-", "sk-"];

/// Returns whether the value of an option must not be shown.
pub(crate) fn is_credential(option: &EngineOption) -> bool {
    const LONGEST: usize = 256;
    let value = option.value.as_bytes();
    let is_switch = value.len() < 4 || value == b"true" || value == b"false" || value.iter().all(u8::is_ascii_digit);
    let name: String = option.name.chars().take(LONGEST).filter(|letter| letter.is_alphanumeric()).collect();
    let name = name.to_ascii_lowercase();
    let is_named = || SECRET_NAMES.iter().any(|part| name.contains(part)) || name.ends_with("token");
    let is_token = || {
        value.len() >= 20
            && !value.contains(&b' ')
            && SECRET_STARTS.iter().any(|start| value.starts_with(start.as_bytes()))
            || value.starts_with(b"-----BEGIN ")
    };
    !is_switch && (is_named() || is_token() || has_password(value))
}

/// A URL with a user and a password: `https://user:password@host`.
fn has_password(value: &[u8]) -> bool {
    let Some(scheme) = value.windows(3).position(|part| part == b"://") else { return false };
    let host = value.iter().skip(scheme.saturating_add(3)).take_while(|byte| !matches!(byte, b'/' | b'?' | b'#'));
    let mut user = host.skip_while(|&&byte| byte != b':').skip(1);
    user.next().is_some_and(|&first| first != b'@') && user.any(|&byte| byte == b'@')
}

fn imports(
    pickled: &Pickled<'_>,
    out: &mut Findings<'_>,
    class: ImportClass,
    is_allowed: impl Fn(&PickleImport) -> bool,
    can: impl Fn(&PickleImport) -> &'static str,
) {
    for import in pickled.pickle.imports_of(class).filter(|import| !is_allowed(import)) {
        let path = Text::from(import.path.as_str());
        out.add(pickled.place(import.offset), [path], || {
            let named = pickled.named_in(import.member.as_deref());
            format!("{named} is a pickle that {}", described(&import.path, can(import)))
        });
    }
}

/// Describes what a pickle does by an import. The path is in parentheses if the import has no name.
fn described(path: &str, can: &str) -> String {
    let within = |start: &str| path.strip_prefix(start)?.strip_suffix(')');
    let unnamed = match path {
        "(computed)" => "computes the name of an import while it is loaded",
        "(call of a value)" => "calls what it does not import",
        "(change of a value)" => "changes what it does not import",
        "(change of an attribute of Python's own)" => "may set an attribute that Python looks up by itself",
        _ => "",
    };
    if !unnamed.is_empty() {
        return unnamed.to_owned();
    }
    if let Some(function) = within("(change of a result of ") {
        return format!("changes what {} returned, which other objects may share", quote(&function.into()));
    }
    if let Some(class) = within("(change of ") {
        return format!("changes {} itself, and so all objects of that class", quote(&class.into()));
    }
    if let Some(code) = within("(extension-") {
        return format!("imports by the extension code {code}, which only the program that loads it can resolve");
    }
    if let Some(series) = within("(loop over ") {
        return format!("reads all that {} gives, which may never end", quote(&series.into()));
    }
    match within("(call of ") {
        Some(called) => {
            format!("calls or fills {} in a way that is not known to only build values", quote(&called.into()))
        }
        None => format!("imports {}, {can}", quote(&path.into())),
    }
}
