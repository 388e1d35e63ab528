//! The vendor's listing.

use std::io;

use popef::read::{ExecutableBlob, OpaqueBlob};
use popef::types::{BlobType, Diagnostic, EngineOption, TensorType, Text};
use popef::{Blob, Content, DataType, Metadata};

use super::ListRenderer;
use super::payload;
use super::pieces::{self, Lines};
use crate::failure::Failures;
use crate::output::color::Kind::{Group, Name, Number, Plain, Type};
use crate::output::out::Out;
use crate::output::shown::{Show, Shown};
use crate::output::{POPEF_FILE, heading};
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};
use crate::report::tensor::TensorView;

/// Text as `popef_dump` prints it: a section for each kind of blob, with two spaces per level.
pub(crate) struct Listing;

impl ListRenderer for Listing {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        if report.input.index > 0 {
            out.end_line()?;
        }
        heading(out, POPEF_FILE, &report.path()).end_line()?;
        payload::write_before(out, report, failures)?;
        Sections { out, report, failures }.all()
    }
}

/// The sections of one file.
struct Sections<'a, 'r, 'f> {
    out: &'a mut Out,
    report: &'r FileReport<'f>,
    failures: &'a mut Failures,
}

/// The indentations of sections, groups, items and fields.
const SECTION: &str = "  ";
const GROUP: &str = "    ";
const ITEM: &str = "      ";
const FIELD: &str = "        ";

impl<'f> Sections<'_, '_, 'f> {
    fn all(&mut self) -> io::Result<()> {
        let select = self.report.options.selected();
        if select.metadata {
            self.metadata()?;
        }
        if select.anchors || select.user_anchors {
            self.anchors()?;
        }
        if select.executables {
            self.each("Executables:", BlobType::PoplarExecutable, Self::executable)?;
        }
        if select.tensors {
            self.each("Tensors:", BlobType::DataTensor, Self::tensor)?;
        }
        if select.feeds {
            self.each("Feeds:", BlobType::DataFeed, Self::tensor)?;
        }
        if select.opaques {
            self.each("Opaques:", BlobType::Opaque, Self::opaque)?;
        }
        if select.unknown {
            self.unknown()?;
        }
        Ok(())
    }

    /// A section with an item for each blob of a type. Nothing if there are no such blobs.
    fn each(
        &mut self,
        heading: &'static str,
        blob_type: BlobType,
        item: fn(&mut Self, &Blob<'f>) -> io::Result<()>,
    ) -> io::Result<()> {
        for (index, blob) in self.report.of_type(blob_type).enumerate() {
            if index == 0 {
                self.heading(SECTION, heading)?;
            }
            item(self, &blob)?;
        }
        Ok(())
    }

    fn heading(&mut self, indent: &'static str, heading: impl Show) -> io::Result<()> {
        self.out.put(indent).put_as(Group, heading).end_line()
    }

    fn metadata(&mut self) -> io::Result<()> {
        for view in self.report.metadata() {
            self.heading(SECTION, "Metadata:")?;
            self.text_field(GROUP, "Version", &view.blob.blob().version())?;
            match &view.value {
                Ok(metadata) => self.metadata_fields(metadata)?,
                Err(failure) => {
                    self.text_field(GROUP, "Executable", &view.blob.executable())?;
                    self.failure(GROUP, failure)?;
                }
            }
        }
        Ok(())
    }

    fn metadata_fields(&mut self, metadata: &Metadata) -> io::Result<()> {
        self.number_field("IpuVersion", metadata.ipu_version)?;
        self.text_field(GROUP, "Executable", &metadata.executable)?;
        self.number_field("Replication Factor", metadata.replication_factor)?;
        self.number_field("NumIpus", metadata.num_ipus)?;
        self.text_field(GROUP, "SeedHandle", &metadata.seed_handle)?;
        self.bool_field(GROUP, "IsInference", metadata.is_inference)?;
        self.bool_field(GROUP, "IsPOD", metadata.is_pod)?;
        self.number_field("NumProcesses", metadata.num_processes)?;
        self.number_field("DeviceIterations", metadata.device_iterations)?;
        self.options("Engine Options:", &metadata.engine_options)?;
        let flow = &metadata.program_flow;
        self.heading(GROUP, "Program Flow:")?;
        self.programs(ITEM, "load", &flow.load)?;
        self.programs(ITEM, "main", &flow.main)?;
        self.programs(ITEM, "save", &flow.save)?;
        self.programs_map(metadata)?;
        self.options("Device Options:", &metadata.device_options)
    }

    fn options(&mut self, heading: &'static str, options: &[EngineOption]) -> io::Result<()> {
        if options.is_empty() {
            return self.empty(heading);
        }
        self.heading(GROUP, heading)?;
        for option in options {
            self.out.put(ITEM).text(Name, &option.name).put(":");
            self.value(&option.value)?;
            if let Some(meaning) = option.profiling().filter(|_| self.report.options.inside) {
                self.out.put(ITEM).put("  (profiling: ").put(meaning).put(")").end_line()?;
            }
        }
        Ok(())
    }

    fn programs_map(&mut self, metadata: &Metadata) -> io::Result<()> {
        let mut programs: Vec<_> = metadata.programs_map.iter().collect();
        if programs.is_empty() {
            return self.empty("Programs Map:");
        }
        programs.sort_by_key(|program| program.index);
        self.heading(GROUP, "Programs Map:")?;
        for program in programs {
            self.out.put(ITEM).number(program.index).put(":");
            self.value(&program.name)?;
        }
        Ok(())
    }

    fn empty(&mut self, heading: &'static str) -> io::Result<()> {
        self.out.put(GROUP).put_as(Group, heading).put(" <empty>").end_line()
    }

    /// The anchors of each Metadata blob, with the executable's name if the file has several.
    fn anchors(&mut self) -> io::Result<()> {
        let several = self.report.all_metadata().len() > 1;
        for view in self.report.metadata() {
            let anchors: Vec<_> = view.anchors().collect();
            if anchors.is_empty() {
                self.failure_of(view)?;
                continue;
            }
            self.heading(SECTION, "Anchors:")?;
            if several {
                self.text_field(GROUP, "Executable", &view.blob.executable())?;
            }
            self.groups(&anchors)?;
        }
        Ok(())
    }

    /// Says why the anchors could not be read, unless the metadata section has said it.
    fn failure_of(&mut self, view: &MetadataView<'_>) -> io::Result<()> {
        match &view.value {
            Err(failure) if !self.report.options.selected().metadata => self.failure(SECTION, failure),
            _ => Ok(()),
        }
    }

    fn groups(&mut self, anchors: &[AnchorView<'_>]) -> io::Result<()> {
        let key = |view: &&AnchorView<'_>| {
            let (tensor_type, provider) = (view.anchor.tensor_type, view.provider);
            let order = [Provider::User, Provider::Unknown, Provider::Popef];
            (tensor_type == TensorType::Unknown, tensor_type, order.iter().position(|&one| one == provider))
        };
        let mut sorted: Vec<_> = anchors.iter().collect();
        sorted.sort_by_key(key);
        sorted.chunk_by(|one, other| key(one) == key(other)).try_for_each(|group| self.group(group))
    }

    /// Shows anchors of one type and provider.
    fn group(&mut self, anchors: &[&AnchorView<'_>]) -> io::Result<()> {
        let Some(first) = anchors.first() else { return Ok(()) };
        let provider = match first.provider {
            Provider::User => "User provided",
            Provider::Popef => "Popef provided",
            Provider::Unknown => "Provider unknown",
        };
        self.heading(GROUP, shown!("{} ({}):", heading_of(first.anchor.tensor_type), provider))?;
        anchors.iter().try_for_each(|view| self.anchor(view))
    }

    fn anchor(&mut self, view: &AnchorView<'_>) -> io::Result<()> {
        let anchor = view.anchor;
        self.name(ITEM, &anchor.name)?;
        self.tensor_info(FIELD, anchor.tensor_info.data_type, view.size, anchor.tensor_info.shape.iter().copied())?;
        self.programs(FIELD, "Programs", &anchor.programs)?;
        self.text_field(FIELD, "Handle", &anchor.handle)?;
        self.bool_field(FIELD, "IsPerReplica", anchor.is_per_replica)?;
        if anchor.use_remote_buffers {
            self.bool_field(FIELD, "UseRemoteBuffers", true)?;
            self.out.put(FIELD).put("Repeats: ").number(anchor.repeats).end_line()?;
        }
        view.failure.map_or(Ok(()), |failure| self.failure(FIELD, failure))
    }

    fn executable(&mut self, blob: &Blob<'f>) -> io::Result<()> {
        let Content::Executable(executable) = blob.content() else { return Ok(()) };
        self.name(GROUP, &executable.name())?;
        self.bool_field(ITEM, "Is compressed", executable.is_compressed())?;
        if executable.is_compressed() {
            self.out.put(ITEM).put("Uncompressed size: ").number(executable.uncompressed_size()).end_line()?;
        }
        self.blob_fields(blob)?;
        self.inside(&executable)
    }

    fn inside(&mut self, executable: &ExecutableBlob<'_>) -> io::Result<()> {
        let inside = match self.report.inside(executable) {
            None => return Ok(()),
            Some(Err(failure)) => return self.failure(ITEM, &failure),
            Some(Ok(inside)) => inside,
        };
        if let Some(compression) = inside.compression {
            self.out.put(ITEM).put("Compression: ").put_as(Type, compression.as_str()).end_line()?;
        }
        self.out.put(ITEM);
        pieces::poplar(self.out, inside.poplar_header.as_ref());
        self.out.end_line()?;
        self.tiles(executable)
    }

    fn tiles(&mut self, executable: &ExecutableBlob<'_>) -> io::Result<()> {
        let Some(view) = self.report.tiles(executable) else { return Ok(()) };
        if let Some(tiles) = &view.tiles {
            self.out.put(ITEM);
            pieces::tiles(self.out, tiles);
            self.out.end_line()?;
            if let Some(number) = tiles.largest_tile {
                self.out.put(ITEM).put("Largest tile: { number: ").number(number);
                self.out.put(", bytes: ").number(tiles.largest_bytes).put(" }").end_line()?;
            }
        }
        match (&view.failure, &view.not_read) {
            (Some(failure), _) => self.failure(ITEM, failure),
            (None, Some(error)) => {
                self.out.put(ITEM).put(if view.tiles.is_some() { "More tiles" } else { "Tiles" });
                self.out.put(": not read: ").put(Shown::message(&error.to_string())).end_line()
            }
            (None, None) => Ok(()),
        }
    }

    fn tensor(&mut self, blob: &Blob<'f>) -> io::Result<()> {
        let Some(mut view) = TensorView::of(&blob.content()) else { return Ok(()) };
        self.name(GROUP, &view.name)?;
        self.blob_fields(blob)?;
        self.tensor_info(ITEM, view.data_type, view.size, view.shape.iter())?;
        if let Some(tensors) = view.num_tensors {
            self.out.put(ITEM).put("Number of tensors: ").number(tensors).end_line()?;
        }
        if let Some(values) = view.values(self.report.options) {
            self.out.put(ITEM).put("Values: ").put(pieces::of_which(view.num_tensors));
            pieces::first(self.out, &values, Lines::ONE)?;
            self.out.end_line()?;
            self.out.put(ITEM).put("Statistics: { ");
            pieces::stats(self.out, &values);
            self.out.put(" }").end_line()?;
            view.failure = view.failure.or(values.late_failure().cloned().map(Box::new));
        }
        view.failure.as_ref().map_or(Ok(()), |failure| self.failure(ITEM, failure))
    }

    fn opaque(&mut self, blob: &Blob<'f>) -> io::Result<()> {
        let Content::Opaque(opaque) = blob.content() else { return Ok(()) };
        self.name(GROUP, &opaque.name())?;
        self.text_field(ITEM, "Executable", &opaque.executable())?;
        self.blob_fields(blob)?;
        self.payload(&opaque)
    }

    fn payload(&mut self, opaque: &OpaqueBlob<'f>) -> io::Result<()> {
        let wanted = self.report.options.inside.then(|| self.report.payload(opaque)).flatten();
        let Some(view) = wanted else { return Ok(()) };
        self.out.put(ITEM).put("Payload: ").put_as(Type, payload::headline(&view)).end_line()?;
        payload::write(self.out, FIELD.len(), &view)?;
        view.failure().into_iter().for_each(|failure| self.failures.push(failure));
        Ok(())
    }

    fn unknown(&mut self) -> io::Result<()> {
        for (index, blob) in self.report.unknown().enumerate() {
            if index == 0 {
                self.heading(SECTION, "Blobs of unknown type:")?;
            }
            self.out.put(GROUP).put("Type: ").number(blob.blob_type().number()).put(":").end_line()?;
            self.blob_fields(&blob)?;
        }
        Ok(())
    }

    fn name(&mut self, indent: &'static str, name: &Text<'_>) -> io::Result<()> {
        self.out.put(indent).put("Name: ").quoted(Name, name).put(":").end_line()
    }

    fn blob_fields(&mut self, blob: &Blob<'_>) -> io::Result<()> {
        self.text_field(ITEM, "Version", &blob.version())?;
        self.out.put(ITEM).put("Available read size: ").number(blob.data().len()).end_line()
    }

    fn tensor_info(
        &mut self,
        indent: &'static str,
        data_type: DataType,
        size: Option<u64>,
        shape: impl Iterator<Item = i64>,
    ) -> io::Result<()> {
        self.out.put(indent).put("TensorInfo: { dtype: ");
        pieces::data_type(self.out, data_type);
        self.out.put(", sizeInBytes: ");
        match size {
            Some(size) => self.out.number(size),
            None => self.out.put("<unknown>"),
        };
        self.out.put(", shape ");
        pieces::list(self.out, shape);
        self.out.put(" }").end_line()
    }

    fn programs(&mut self, indent: &'static str, name: &'static str, programs: &[u32]) -> io::Result<()> {
        self.out.put(indent).put(name).put(": ");
        pieces::list(self.out, programs.iter().copied());
        self.out.end_line()
    }

    fn text_field(&mut self, indent: &'static str, name: &'static str, text: &Text<'_>) -> io::Result<()> {
        self.out.put(indent).put(name).put(":");
        self.value(text)
    }

    /// A value after a colon. If it is empty, the line does not end with a space.
    fn value(&mut self, text: &Text<'_>) -> io::Result<()> {
        if !text.is_empty() {
            self.out.put(" ").text(Plain, text);
        }
        self.out.end_line()
    }

    fn number_field(&mut self, name: &'static str, number: u32) -> io::Result<()> {
        self.out.put(GROUP).put(name).put(": ").number(number).end_line()
    }

    fn bool_field(&mut self, indent: &'static str, name: &'static str, value: bool) -> io::Result<()> {
        self.out.put(indent).put(name).put(": ");
        self.out.put_as(Number, if value { "True" } else { "False" }).end_line()
    }

    fn failure(&mut self, indent: &'static str, failure: &Diagnostic) -> io::Result<()> {
        self.failures.push(failure);
        self.out.put(indent).put("Error: ").put(Shown::message(&failure.message)).end_line()
    }
}

fn heading_of(tensor_type: TensorType) -> Shown<'static> {
    match tensor_type {
        TensorType::Input => Shown::own("Inputs"),
        TensorType::Output => Shown::own("Outputs"),
        TensorType::Unknown => Shown::own("Unknown"),
        other => shown!("Type {}", other.number()),
    }
}
