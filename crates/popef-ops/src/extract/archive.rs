//! Files with several arrays.

use popef::Blob;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::index::{Entry, Form};
use super::plan::{Item, Plan, whole};
use super::write::{NewFile, Target};
use crate::error::{Code, Error};
use crate::formats::{SafetensorsHeader, npy_header};
use crate::work::copy;

/// An array of an archive.
struct Member<'p> {
    blob: Blob<'p>,
    key: &'p str,
    len: u64,
}

/// Writes the archives of a plan.
pub(super) fn write(plan: &Plan<'_>, target: &Target<'_>) -> Result<(), Error> {
    let mut files: Vec<(&str, Form, Vec<Member<'_>>)> = Vec::new();
    for (item, entry) in plan.items.iter().zip(&plan.index.blobs) {
        let Some((file, form, member)) = member(plan, item, entry) else { continue };
        match files.iter_mut().find(|(known, ..)| *known == file) {
            Some((.., members)) => members.push(member),
            None => files.push((file, form, vec![member])),
        }
    }
    for (file, form, members) in files {
        match form {
            Form::Npz => target.write(file, |file| npz(file, &members))?,
            _ => target.write(file, |file| safetensors(file, members))?,
        }
    }
    Ok(())
}

fn member<'p>(plan: &'p Plan<'_>, item: &Item, entry: &'p Entry) -> Option<(&'p str, Form, Member<'p>)> {
    let data = entry.data.as_ref()?;
    let key = data.key.as_deref()?;
    Some((&data.file, data.form, Member { blob: plan.file.blob(item.blob)?, key, len: item.len }))
}

fn npz(file: &mut NewFile<'_>, members: &[Member<'_>]) -> Result<(), Error> {
    let progress = file.progress();
    let mut zip = ZipWriter::new(file);
    for Member { blob, key, len } in members {
        let header = blob.as_data().and_then(|data| whole(&data)).and_then(|(info, _)| npy_header(&info));
        let header = header.unwrap_or_default();
        // Entries of 4 GiB and more need larger fields. Those must be asked for before the length is known.
        let is_large = len.saturating_add(1 << 20) > u64::from(u32::MAX);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(is_large);
        zip.start_file(format!("{key}.npy"), options).map_err(failed)?;
        copy(&mut &*header, &mut zip, &crate::Silent)?;
        copy(&mut blob.data().range(0..*len)?.reader(), &mut zip, progress)?;
    }
    zip.finish().map_err(failed)?;
    Ok(())
}

fn failed(error: zip::result::ZipError) -> Error {
    match error {
        zip::result::ZipError::Io(error) => Error::io("write the archive", error),
        error => Error::io("write the archive", std::io::Error::other(error.to_string())),
    }
}

/// Elements of the largest types come first, so that all are aligned.
fn safetensors(file: &mut NewFile<'_>, mut members: Vec<Member<'_>>) -> Result<(), Error> {
    let size = |member: &Member<'_>| member.blob.as_data().and_then(|data| data.data_type().size());
    members.sort_by_key(|member| std::cmp::Reverse(size(member)));
    let mut header = SafetensorsHeader::default();
    let too_large = || Error::new(Code::WrongArguments, "a .safetensors file cannot have so many tensors");
    for member in &members {
        let whole = member.blob.as_data().and_then(|data| whole(&data));
        whole.and_then(|(info, _)| header.push(member.key, &info)).ok_or_else(too_large)?;
    }
    std::io::Write::write_all(file, &header.into_bytes().ok_or_else(too_large)?)?;
    members.iter().try_for_each(|member| file.data(&member.blob.data().range(0..member.len)?))
}
