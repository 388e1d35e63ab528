//! Programs.

use super::lists::indices;
use crate::profile::document::{Doc, Result};
use crate::profile::problem::{ErrorKind, short};
use crate::profile::program::{Instructions, Program, ProgramKind};

pub(super) fn programs(doc: &mut Doc<'_>) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    doc.array(|doc, _| {
        programs.push(program(doc)?);
        Ok(())
    })?;
    Ok(programs)
}

fn program(doc: &mut Doc<'_>) -> Result<Program> {
    let (mut kind, mut name, mut children, mut sync_type) = (None, None, None, None);
    let (mut compute_set, mut exchange, mut target, mut memory_by_instruction) = (None, None, None, None);
    doc.object(|doc, key| {
        match key {
            "type" => {
                let read = program_kind(doc)?;
                doc.once(&mut kind, read)?;
            }
            "name" => {
                let read = doc.text()?;
                doc.once(&mut name, read)?;
            }
            "children" => {
                let read = indices(doc)?.into_boxed_slice();
                doc.once(&mut children, read)?;
            }
            "syncType" => {
                let read = doc.text()?;
                doc.once(&mut sync_type, read)?;
            }
            "memoryByInstruction" => {
                let read = instructions(doc)?;
                doc.once(&mut memory_by_instruction, read)?;
            }
            _ => {
                let slot = match key {
                    "computeSet" => &mut compute_set,
                    "exchange" => &mut exchange,
                    "target" => &mut target,
                    _ => return Ok(false),
                };
                let read = doc.index()?;
                doc.once(slot, read)?;
            }
        }
        Ok(true)
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
