//! Opaque blobs that run code when they are loaded.

use super::super::findings::{Findings, Spot};
use super::super::rule::{Rule, When};
use super::super::run::{Check, opaque};
use super::super::severity::Severity;
use super::super::words::{count, quote};
use crate::model::Linked;
use crate::pickle::{ImportClass, Pickle, PickleFault};
use crate::read::OpaqueBlob;
use crate::types::Text;

pub(super) const RULES: &[Check] = &[
    Check {
        rule: Rule {
            id: "PE501",
            severity: Severity::Warning,
            title: "a Python pickle",
            meaning: "An opaque blob is a Python pickle, as that of PopTorch always is. Loading a pickle runs what it \
                      says, with the rights of whoever loads it. The names with this finding are what it imports; of \
                      very many, the first.",
            mend: "Load it only if you know who made the file. To run the model with Triton or a model runtime, the \
                   blob is not needed and can be left out.",
            when: When::Always,
        },
        run: opaque(|_, opaque, pickle, out| {
            let Some(pickle) = pickle else { return };
            let imports = pickle.imports.iter().map(|import| Text::from(import.path.as_str()));
            out.add(place(opaque, 0), imports, || {
                let number = u64::try_from(pickle.imports.len()).unwrap_or(u64::MAX);
                let (named, imports) = (named(opaque), count(number, "name"));
                format!("{named} is a Python pickle of protocol {} that imports {imports}", pickle.protocol)
            });
        }),
    },
    Check {
        rule: Rule {
            id: "PE502",
            severity: Severity::Error,
            title: "a pickle that can run programs or touch files",
            meaning: "A pickle imports something that runs programs or code, touches files or the network, or imports \
                      by name, or it hides what it imports. No exporter of models writes that. Loading it may do \
                      anything that you may do.",
            mend: "Do not load the file, and find out where it is from.",
            when: When::Always,
        },
        run: opaque(|_, opaque, pickle, out| {
            let what = "can run programs, touch files or import by name";
            imports(opaque, pickle, out, ImportClass::Dangerous, what);
        }),
    },
    Check {
        rule: Rule {
            id: "PE503",
            severity: Severity::Warning,
            title: "a pickle with imports that are not known",
            meaning: "A pickle imports names that are known neither as ordinary nor as dangerous: classes of the \
                      model's own, or of packages that are not listed here. Loading it imports those modules and calls \
                      them.",
            mend: "Look at the names. If they are of your own code, the file needs that code where it is loaded; if \
                   they are of nobody's that you know, do not load it.",
            when: When::Always,
        },
        run: opaque(|_, opaque, pickle, out| {
            imports(opaque, pickle, out, ImportClass::Unknown, "is not known here");
        }),
    },
    Check {
        rule: Rule {
            id: "PE504",
            severity: Severity::Error,
            title: "a pickle that cannot be followed to its end",
            meaning: "A pickle is cut, damaged, or made to confuse those who look at it. What it does behind that \
                      point is not known, and what comes before is run when it is loaded.",
            mend: "Export the model again. If it was not you who made it, do not load it.",
            when: When::Always,
        },
        run: opaque(|_, opaque, pickle, out| {
            if let Some(PickleFault { offset, reason, .. }) = pickle.and_then(|pickle| pickle.fault.as_ref()) {
                out.add(place(opaque, *offset), [], || {
                    let named = named(opaque);
                    format!("{named} is a Python pickle that cannot be followed from its byte {offset} on: {reason}")
                });
            }
        }),
    },
    Check {
        rule: Rule {
            id: "PE505",
            severity: Severity::Warning,
            title: "an archive that may hold pickles",
            meaning: "An opaque blob is a zip archive. torch.save writes such archives, with a pickle in them; what is \
                      in this one was not looked at.",
            mend: "Take the blob's data out, and look at the archive with a tool for it before you load it.",
            when: When::Always,
        },
        run: opaque(|_, opaque, _, out| {
            let mut first = [0; 4];
            let data = opaque.data();
            if data.len() >= 4 && data.read_at(0, &mut first).is_ok() && first == *b"PK\x03\x04" {
                out.add(place(opaque, 0), [opaque.name()], || {
                    format!("{} is a zip archive of {}", named(opaque), count(data.len(), "byte"))
                });
                out.skip("what is inside zip archives in opaque blobs", "only plain pickles are followed");
            }
        }),
    },
];

/// A byte of the data, as one of the file.
fn place(opaque: &Linked<OpaqueBlob<'_>>, offset: u64) -> Spot {
    let mut place = Spot::data(opaque.file, opaque.blob.blob());
    place.offset = place.offset.map(|data| data.saturating_add(offset));
    place
}

fn named(opaque: &Linked<OpaqueBlob<'_>>) -> String {
    format!("opaque blob {}", quote(&opaque.name()))
}

fn imports(
    opaque: &Linked<OpaqueBlob<'_>>,
    pickle: Option<&Pickle>,
    out: &mut Findings<'_>,
    class: ImportClass,
    what: &str,
) {
    for import in pickle.into_iter().flat_map(|pickle| pickle.imports_of(class)) {
        let path = Text::from(import.path.as_str());
        out.add(place(opaque, import.offset), [path.clone()], || {
            format!("{} is a pickle that imports {}, which {what}", named(opaque), quote(&path))
        });
    }
}
