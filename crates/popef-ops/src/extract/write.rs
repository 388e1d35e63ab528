//! Writes what was planned.

use std::io::{self, Write};

use popef::Blob;

use super::archive;
use super::files::Files;
use super::index::{Form, INDEX, write_begin, write_end};
use super::one::Npy;
use super::plan::{PREFIX, Plan, Planned};
use super::report::{ExtractedBlob, ExtractedFile, ExtractedPart};
use crate::error::Error;
use crate::listed::name_of;
use crate::work::in_order;

/// Called for each extracted blob.
pub(super) type Each<'e> = &'e mut dyn FnMut(ExtractedBlob) -> Result<(), Error>;

/// A written blob: its line of the index, and its report.
struct Done {
    line: Vec<u8>,
    row: ExtractedBlob,
}

/// Writes all files of a plan into a folder, which is empty. Sums them up in the report.
pub(super) fn write(
    plan: &Plan<'_>,
    input: usize,
    files: &Files<'_>,
    report: &mut ExtractedFile,
    each: Each<'_>,
) -> Result<(), Error> {
    let prefix = plan.file().prefix();
    if !prefix.is_empty() {
        let size = files.file(PREFIX, |file| file.data(&prefix))?;
        report.others.push(ExtractedPart { path: PREFIX.to_owned(), size });
    }
    archive::write(plan, files)?;
    let size = files.file(INDEX, |index| {
        write_begin(index, files.modified(), (!prefix.is_empty()).then_some(PREFIX))?;
        let done = |_: &mut _, blob: Blob<'_>| {
            let planned = plan.planned(&blob)?;
            let sizes = blob_of(files, &blob, &planned)?;
            let mut line = Vec::new();
            serde_json::to_writer(&mut line, &planned.entry).map_err(io::Error::from)?;
            Ok(Done { line, row: row(input, &blob, planned, sizes) })
        };
        in_order(plan.blobs(), done, |Done { line, row }| {
            index.write_all(if report.extracted == 0 { b"\n" } else { b",\n" })?;
            index.write_all(&line)?;
            report.add(&row);
            each(row)
        })?;
        Ok(write_end(index)?)
    })?;
    report.others.push(ExtractedPart { path: INDEX.to_owned(), size });
    Ok(())
}

/// The number of bytes written for a blob.
struct Sizes {
    /// The bytes in its own file, or for its data in an archive.
    main: u64,
    surplus: u64,
}

fn row(input: usize, blob: &Blob<'_>, planned: Planned, Sizes { main, surplus }: Sizes) -> ExtractedBlob {
    let (path, key) = planned.entry.data.map_or((None, None), |data| (Some(data.file), data.key));
    ExtractedBlob {
        input,
        index: blob.index(),
        blob_type: blob.blob_type(),
        name: name_of(blob).into(),
        path,
        key,
        surplus: planned.entry.surplus.map(|path| ExtractedPart { path, size: surplus }),
        data_size: blob.data().len(),
        extracted_size: main.saturating_add(surplus),
        notes: planned.notes,
    }
}

/// Writes the files that belong to one blob alone.
fn blob_of(files: &Files<'_>, blob: &Blob<'_>, planned: &Planned) -> Result<Sizes, Error> {
    let (entry, data) = (&planned.entry, blob.data());
    let main = match &entry.data {
        None => 0,
        Some(stored) => match stored.form {
            Form::Npz | Form::Safetensors => planned.len,
            Form::Json => files.file(&stored.file, |file| file.metadata(blob))?,
            Form::Raw if entry.compress.is_some() => files.file(&stored.file, |file| file.unpacked(blob))?,
            Form::Raw => files.file(&stored.file, |file| file.data(&data))?,
            Form::Npy => files.file(&stored.file, |file| {
                let Npy { header, data, .. } = Npy::of(blob)?;
                file.write_all(&header)?;
                file.data(&data)
            })?,
        },
    };
    let surplus = match &entry.surplus {
        None => 0,
        Some(surplus) => files.file(surplus, |file| file.data(&data.range(planned.len..data.len())?))?,
    };
    Ok(Sizes { main, surplus })
}
