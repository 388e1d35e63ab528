//! Programs.

use super::lists::indices;
use crate::profile::document::{Doc, Result};
use crate::profile::problem::{ErrorKind, short};
use crate::profile::program::{Instructions, Program, ProgramKind};

pub(super) fn programs(doc: &mut Doc<'_>) -> Result<Vec<Program>> {
    doc.list(program)
}

fn program(doc: &mut Doc<'_>) -> Result<Program> {
    let (mut kind, mut name, mut children, mut sync_type) = (None, None, None, None);
    let (mut compute_set, mut exchange, mut target, mut memory_by_instruction) = (None, None, None, None);
    doc.object(|doc, key| match key {
        "type" => doc.fill(&mut kind, program_kind),
        "name" => doc.fill(&mut name, Doc::text),
        "children" => doc.fill(&mut children, |doc| Ok(indices(doc)?.into_boxed_slice())),
        "computeSet" => doc.fill(&mut compute_set, Doc::index),
        "exchange" => doc.fill(&mut exchange, Doc::index),
        "target" => doc.fill(&mut target, Doc::index),
        "syncType" => doc.fill(&mut sync_type, Doc::text),
        "memoryByInstruction" => doc.fill(&mut memory_by_instruction, instructions),
        _ => Ok(false),
    })?;
    let kind = kind.ok_or_else(|| doc.fail(ErrorKind::WrongForm, "the key \"type\" is missing"))?;
    Ok(Program {
        kind,
        name,
        children: children.unwrap_or_default(),
        compute_set,
        exchange,
        target,
        sync_type,
        memory_by_instruction,
        at: doc.position(),
    })
}

fn program_kind(doc: &mut Doc<'_>) -> Result<ProgramKind> {
    let kind = ProgramKind::of(&doc.text()?);
    if let ProgramKind::Other(tag) = &kind {
        doc.remark(format!("no program is known to be of type {:?}", short(tag)));
    }
    Ok(kind)
}

fn instructions(doc: &mut Doc<'_>) -> Result<Instructions> {
    let mut list: Vec<(Box<str>, u64)> = Vec::new();
    doc.object(|doc, key| {
        let bytes = doc.uint()?;
        list.push((key.into(), bytes));
        Ok(true)
    })?;
    list.sort();
    if list.windows(2).any(|pair| matches!(pair, [one, two] if one.0 == two.0)) {
        return Err(doc.fail(ErrorKind::Contradiction, "an instruction is there twice"));
    }
    Ok(list.into())
}
