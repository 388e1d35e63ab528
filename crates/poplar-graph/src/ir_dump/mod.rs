//! IR dumps of PopART.

mod build;
mod facts;
mod json;
mod notes;
mod parameters;

use std::borrow::Cow;
use std::io::Read;

use poplar_inspect::tiles::ReadError;
use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::{Ir, Order};
use build::Builder;
use json::{Fault, Json};

pub use facts::DumpFacts;
pub use notes::{Note, NoteKind};
pub use parameters::DumpParameter;

/// An IR as PopART dumps it: into a folder that the environment variable `POPART_IR_DUMP` names, or by `Session._serializeIr`.
///
/// A dump is JSON of graphs with their ops, in which all values are texts. PopART does not escape them: names with quotes or
/// backslashes make it invalid. An invalid file is read as it is: the ends of its texts are guessed from what follows them.
///
/// # What a dump does not say
///
/// - Which tensors are the inputs and outputs of a graph, and in which order. [`Graph::inputs`](crate::Graph::inputs) and `outputs`
///   are empty.
/// - Which tensors are variables, constants or streams, and their values. [Parameters](IrDump::parameters) are the tensors that the main
///   graph uses and no op makes.
/// - Shapes and types of tensors that no op uses.
/// - The branches of an `If`. They look as if nothing called them.
/// - Whether ops are in the order in which they run. `_serializeIr` writes them in that order, and `POPART_IR_DUMP` by their numbers.
///   Callers who know pass [`Order::Schedule`].
///
/// # Cost
///
/// The file is read into memory. File and result take at most about 100 bytes for each byte of the file; usual dumps take less than 10.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IrDump {
    /// The graphs. The first one is the main graph.
    pub ir: Ir,
    /// Oddities: at most one note of each kind.
    pub notes: Vec<Note>,
    /// Why the file could not be read to its end. All ops before that place are here.
    pub damage: Option<ReadError>,
}

/// Takes graphs from elsewhere, without notes.
impl From<Ir> for IrDump {
    fn from(ir: Ir) -> Self {
        IrDump { ir, notes: Vec::new(), damage: None }
    }
}

impl IrDump {
    /// Reads a dump. `order` says what the order of its ops means, as far as the caller knows. If an op comes before one that makes
    /// its input, the order is unknown whatever the caller says, and a [note](NoteKind::NoSchedule) says so.
    ///
    /// Damage is not an error, if anything was read before it.
    ///
    /// ```
    /// use poplar_graph::{IrDump, Order};
    ///
    /// let json = r#"{"maingraph" :[{"type":"Loop","name":"","inputs":[{"name":"x","shape":"[2 2]","type":"FLOAT","index":"0"}],
    ///     "outputs":[{"name":"y","index":"0"}],"attributes":{"callee":"step","tripCountValue":"8"}}],"step" :[]}"#;
    /// let dump = IrDump::read(json.as_bytes(), Order::Unknown)?;
    /// let main = &dump.ir.graphs()[0];
    /// assert_eq!((main.ops.len(), main.tensors[0].bytes()), (1, Some(16)));
    /// # Ok::<(), poplar_inspect::tiles::ReadError>(())
    /// ```
    pub fn read(mut reader: impl Read, order: Order) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Self::parse(&bytes, order)
    }

    fn parse(bytes: &[u8], order: Order) -> Result<Self, ReadError> {
        let mut json = Json::new(bytes, has_escapes(bytes));
        let mut builder = Builder::default();
        let result = read_graphs(&mut json, &mut builder).and_then(|()| json.end());
        if let Some(odd) = json.odd() {
            builder.texts_were_guessed(odd);
        }
        let damage = result.err().map(|fault| fault.in_bytes(bytes));
        match damage {
            Some(damage) if builder.is_empty() => Err(damage),
            damage => {
                let (ir, notes) =
                    builder.finish(order).map_err(|error| json.wrong(0, &error.to_string()).in_bytes(bytes))?;
                Ok(IrDump { ir, notes, damage })
            }
        }
    }

    /// The note of a kind, if there is one.
    #[must_use]
    pub fn note(&self, kind: NoteKind) -> Option<&Note> {
        self.notes.iter().find(|note| note.kind == kind)
    }
}

/// Whether texts are escaped: the bytes are JSON, or its beginning.
fn has_escapes(bytes: &[u8]) -> bool {
    match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) => true,
        Err(error) => error.classify() == Category::Eof,
    }
}

fn read_graphs(json: &mut Json<'_>, builder: &mut Builder) -> Result<(), Fault> {
    json.object("an IR dump", |json, name| {
        let mut graph = builder.graph(&name, json.at());
        let result = json.list("a graph, which is a list of ops,", |json| {
            let op = read_op(json, graph.notes())?;
            graph.add(&op);
            Ok(())
        });
        graph.finish(result.is_ok());
        result
    })
}

/// An op as it is in the file.
#[derive(Debug, Default)]
struct DumpedOp<'b> {
    at: usize,
    op_type: Option<Cow<'b, str>>,
    name: Cow<'b, str>,
    inputs: Vec<DumpedTensor<'b>>,
    outputs: Vec<DumpedTensor<'b>>,
    attributes: Vec<(Cow<'b, str>, Cow<'b, str>)>,
}

/// An input or output of an op as it is in the file.
#[derive(Debug, Default)]
struct DumpedTensor<'b> {
    at: usize,
    index: Option<Cow<'b, str>>,
    name: Option<Cow<'b, str>>,
    shape: Option<Cow<'b, str>>,
    data_type: Option<Cow<'b, str>>,
}

fn read_op<'b>(json: &mut Json<'b>, notes: &mut notes::Notes) -> Result<DumpedOp<'b>, Fault> {
    let at = json.at();
    let mut op = DumpedOp { at, ..DumpedOp::default() };
    json.object("an op", |json, key| {
        match key.as_ref() {
            "type" => op.op_type = Some(json.value()?),
            "name" => op.name = json.value()?,
            "inputs" => op.inputs = read_tensors(json, &key, &mut op.attributes, notes)?,
            "outputs" => op.outputs = read_tensors(json, &key, &mut op.attributes, notes)?,
            "attributes" => json.object("the attributes of an op", |json, key| {
                let value = json.value()?;
                op.attributes.push((key, value));
                Ok(())
            })?,
            _ => {
                notes.add(NoteKind::UnknownKey, &key, json.at());
                let value = json.value()?;
                op.attributes.push((key, value));
            }
        }
        Ok(())
    })?;
    if op.op_type.is_none() {
        return Err(json.wrong(at, "an op has no type"));
    }
    Ok(op)
}

fn read_tensors<'b>(
    json: &mut Json<'b>,
    list: &str,
    attributes: &mut Vec<(Cow<'b, str>, Cow<'b, str>)>,
    notes: &mut notes::Notes,
) -> Result<Vec<DumpedTensor<'b>>, Fault> {
    let mut tensors = Vec::new();
    json.list("the inputs or outputs of an op", |json| {
        let at = json.at();
        let mut tensor = DumpedTensor { at, ..DumpedTensor::default() };
        json.object("an input or output of an op", |json, key| {
            let start = json.at();
            let value = json.value()?;
            match key.as_ref() {
                "name" => tensor.name = Some(value),
                "shape" => tensor.shape = Some(value),
                "type" => tensor.data_type = Some(value),
                "index" => tensor.index = Some(value),
                _ => {
                    notes.add(NoteKind::UnknownKey, &key, start);
                    attributes.push((format!("{list}.{}.{key}", tensors.len()).into(), value));
                }
            }
            Ok(())
        })?;
        if tensor.name.is_none() {
            return Err(json.wrong(at, "an input or output of an op has no name"));
        }
        tensors.push(tensor);
        Ok(())
    })?;
    Ok(tensors)
}
