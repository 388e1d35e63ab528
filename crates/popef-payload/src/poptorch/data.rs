use super::model::{NamedTensor, Tensors, unwrapped};
use super::modes::{ConnectionType, OutputMode, SyncPattern};
use super::problem::PoptorchProblem;
use super::reader::Reader;
use super::time;
use super::value::{Input, Value};
use crate::pickle::PickleFault;
use crate::pickle::tree::{Ref, Values, View};
use popef::error::Error;
use popef::read::{Data, OpaqueBlob};
use popef::seam::{Problem, out_of_memory, push, with_room_for};

/// What PopTorch saves beside an executable: its options, what the inputs are, and perhaps the model.
///
/// It is read from a Python pickle without running it. If the pickle does not have a key, or its value cannot be read
/// without running code, the field is `None` or empty: the keys differ between versions of PopTorch.
///
/// With the feature `serde`, it serialises as an object with the keys in camel case. The key `kind` is `poptorch`.
///
/// ```
/// use popef_payload::poptorch::{OutputMode, PoptorchData};
///
/// let bytes = std::fs::read("examples/data/poptorch34-noexport.pickle")?;
/// let data = PoptorchData::read_bytes(&bytes)?;
/// assert_eq!(data.version.as_deref(), Some("3.4.0+0000000000_1234567-feedface"));
/// assert_eq!(data.replication_factor, Some(2));
/// assert_eq!(data.output_mode, Some(OutputMode::All));
/// assert_eq!(data.inputs[0].name.as_deref(), Some("x"));
/// assert_eq!(data.inputs[0].value.to_string(), "<tensor float32 [4, 3]>");
///
/// // Everything that is in the options:
/// let values = data.options.get("_values").expect("each version has them");
/// assert_eq!(values.get("auto_round_num_ipus").map(|value| value.to_string()).as_deref(), Some("False"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename = "poptorch", rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PoptorchData {
    /// The length of the data.
    pub bytes: u64,
    /// The class of the pickle's object. PopTorch's is `poptorch._poptorch_data.PoptorchData`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub class: Option<String>,
    /// The version of PopTorch that wrote it. Loading demands the same version.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub version: Option<String>,
    /// Whether the model itself was saved too.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exported_model: Option<bool>,
    /// Whether the model is for training. `None` also if the model was not saved.
    pub training: Option<bool>,
    /// The class of the model.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub model_class: Option<String>,
    /// The parameters of the model and of the modules inside it, each module once.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub parameters: Vec<NamedTensor>,
    /// The buffers of the model and of the modules inside it, each module once.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub buffers: Vec<NamedTensor>,
    /// The class of the optimizer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub optimizer_class: Option<String>,
    /// The loss scaling of an optimizer of PopTorch's.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub loss_scaling: Option<f64>,
    /// The inputs for which the model was compiled.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub inputs: Vec<Input>,
    /// The inputs that are given by name. Names are the keys when this is serialised.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serde_impls::map"))]
    pub kwargs: Vec<(String, Value)>,
    /// The state of the random number generators: the seed, and a state for each.
    pub rng_state: Option<Vec<u64>>,

    /// The number of replicas.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub replication_factor: Option<i64>,
    /// The number of batches that the IPUs process in one call.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub device_iterations: Option<i64>,
    /// The number of batches over which gradients are accumulated.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gradient_accumulation: Option<i64>,
    /// Which outputs are returned.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub output_mode: Option<OutputMode>,
    /// The n of [`OutputMode::EveryN`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub output_return_period: Option<i64>,
    /// When a program connects to the IPUs. Loading turns [`ConnectionType::Never`] into
    /// [`Always`](ConnectionType::Always).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub connection_type: Option<ConnectionType>,
    /// How the IPUs synchronise.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sync_pattern: Option<SyncPattern>,
    /// The version of the IPU, if the model was compiled without IPUs. Loading drops it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ipu_version: Option<i64>,
    /// The number of the device to use.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ipu_id: Option<i64>,
    /// The name of the model.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub model_name: Option<String>,
    /// The random seed in the options.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub random_seed: Option<i64>,
    /// The number of processes that run the model together.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub processes: Option<i64>,
    /// The number of the process that saved this.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub process_id: Option<i64>,
    /// Whether operators were cast to half precision by a policy. Since SDK 3.1, the options do not say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub autocast_enabled: Option<bool>,
    /// The class of the execution strategy, without its module.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub execution_strategy: Option<String>,
    /// The share of each IPU's memory that convolutions and matrix products may use for temporary values. Numbers of IPUs
    /// are the keys.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serde_impls::map"))]
    pub available_memory_proportion: Vec<(String, Value)>,
    /// Where tensors are, by kind. When this is serialised, the keys are in camel case too.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serde_impls::camel_map"))]
    pub tensor_locations: Vec<(String, Value)>,
    /// The options for PopART.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serde_impls::map"))]
    pub popart_options: Vec<(String, Value)>,
    /// When the compilation began, by the clock of the machine that compiled, without a time zone.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub compiled_at: Option<String>,
    /// How long the compilation took.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub compile_seconds: Option<f64>,

    /// All options, as far as they are plain values. An option that is in several groups is there several times.
    pub options: Value,
    /// The names that the pickle imports, each once, in the order of first use.
    pub globals: Vec<String>,
    /// The names that the inner pickles import. Those of tensors import a torch class for the type of elements.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub nested_globals: Vec<String>,
    /// Whether something was left out, because the pickle would become much larger when it is written out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub left_out: bool,
    /// Why the pickle could not be followed to its end. What comes later in it is not known, and what is here may be
    /// incomplete.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fault: Option<PickleFault>,
}

impl PoptorchData {
    /// Reads PopTorch's data. Does not run it.
    ///
    /// The data is read in parts. Time and memory are in proportion to the data; bytes of tensors are skipped. If the
    /// pickle is damaged, [`fault`](Self::fault) says so, and the rest is what comes before the damage.
    ///
    /// Fails if the data cannot be read, if it is not a pickle, or if there is not enough memory.
    pub fn read(data: &Data<'_>) -> Result<PoptorchData, Error> {
        read(data, |problem| data.error(problem))
    }

    /// Reads the data of a blob as PopTorch's, whatever the blob's name is, as [`read`](Self::read) does.
    pub fn read_blob(opaque: &OpaqueBlob<'_>) -> Result<PoptorchData, Error> {
        read(&opaque.data(), |problem| opaque.blob().error(problem, opaque.blob().data_offset()))
    }

    /// Reads PopTorch's data from bytes in memory, as [`read`](Self::read) does.
    pub fn read_bytes(bytes: &[u8]) -> Result<PoptorchData, Error> {
        PoptorchData::read(&Data::in_memory(bytes))
    }

    /// Returns the data, or its [fault](Self::fault) as an error with the code
    /// [`PayloadMalformed`](popef::error::ErrorCode::PayloadMalformed).
    pub fn whole(self) -> Result<PoptorchData, Error> {
        match self.fault {
            Some(PickleFault { offset, reason, .. }) => Err(PoptorchProblem::DamagedPickle { offset, reason }.into()),
            None => Ok(self),
        }
    }
}

fn read(data: &Data<'_>, error: impl Fn(Problem) -> Error) -> Result<PoptorchData, Error> {
    let values = Values::read(data)?.ok_or_else(|| error(PoptorchProblem::NotPickle.into()))?;
    if values.pickle.fault.as_ref().is_some_and(|fault| fault.no_memory) {
        return Err(error(out_of_memory(data.len())));
    }
    read_values(&values, &Reader::new(data))
}

fn read_values(values: &Values, reader: &Reader<'_>) -> Result<PoptorchData, Error> {
    let root = Maybe(values.root());
    // First, so that nothing in the pickle can use up what they may take.
    let (globals, nested_globals) = (names(values, false, reader)?, names(values, true, reader)?);
    let options = root.get("options");
    let plain_options = options.0.map_or(Ok(Value::Unknown), |options| reader.value(options))?;
    let general = options.get("_values");
    let (training, distributed) = (options.get("_training").get("_values"), options.get("_distributed").get("_values"));
    let model = root.get("model").map(unwrapped).filter(|model| !is_none(*model));
    let optimizer = root.get("_optimizer").filter(|optimizer| !is_none(*optimizer));
    let inputs = root.get("executable_inputs");
    let tensors = model.0.map_or_else(|| Ok(Tensors::default()), |model| Tensors::of(model, reader))?;
    let progress = options.get("_progress_bar");

    let mut data = PoptorchData {
        bytes: reader.data().len(),
        class: root.path(reader)?,
        version: root.get("version").text(reader)?,
        exported_model: root.get("model").0.map(|model| !is_none(model)),
        training: root.get("training").bool(),
        model_class: model.path(reader)?,
        parameters: tensors.parameters,
        buffers: tensors.buffers,
        optimizer_class: optimizer.path(reader)?,
        loss_scaling: optimizer.get("loss_scaling").float(),
        inputs: inputs_of(inputs, reader)?,
        kwargs: inputs.get("_kwargs").named_values(reader)?,
        rng_state: root.get("rng_state").0.map_or(Ok(None), |state| numbers(state, reader))?,
        replication_factor: general.get("replication_factor").int(),
        device_iterations: general.get("device_iterations").int(),
        gradient_accumulation: training.get("gradient_accumulation").int(),
        output_mode: general.get("output_mode").int().map(OutputMode::from_number),
        output_return_period: general.get("output_return_period").int(),
        connection_type: general.get("connection_type").int().map(ConnectionType::from_number),
        sync_pattern: general.get("sync_pattern").int().map(SyncPattern::from_number),
        ipu_version: general.get("ipu_version").int(),
        ipu_id: general.get("ipu_id").int(),
        model_name: general.get("model_name").text(reader)?,
        random_seed: general.get("random_seed").int(),
        processes: distributed.get("num_distributed_processes").int(),
        process_id: distributed.get("distributed_process_id").int(),
        autocast_enabled: options.get("_graphProcessing").get("_values").get("autocast_enabled").bool(),
        execution_strategy: options.get("_execution_strategy").class_name(reader)?,
        available_memory_proportion: general.get("available_memory_proportion").named_values(reader)?,
        tensor_locations: options.get("_tensor_locations").get("_values").named_values(reader)?,
        popart_options: options.get("_popart").get("options").named_values(reader)?,
        compiled_at: progress.get("_start_time").0.map_or(Ok(None), |start| time::date_and_time(start, reader))?,
        compile_seconds: progress.get("compilation_time").0.and_then(time::seconds),
        options: plain_options,
        globals,
        nested_globals,
        left_out: false,
        fault: values.pickle.fault.clone(),
    };
    data.left_out = reader.is_spent() || values.is_worn_out();
    Ok(data)
}

/// A value that may be missing. Every part of a missing value is missing too.
#[derive(Clone, Copy)]
struct Maybe<'t>(Option<Ref<'t>>);

impl<'t> Maybe<'t> {
    fn get(self, key: &str) -> Maybe<'t> {
        Maybe(self.0.and_then(|value| value.get(key)))
    }

    fn map(self, change: impl FnOnce(Ref<'t>) -> Ref<'t>) -> Maybe<'t> {
        Maybe(self.0.map(change))
    }

    fn filter(self, fits: impl FnOnce(&Ref<'t>) -> bool) -> Maybe<'t> {
        Maybe(self.0.filter(fits))
    }

    fn bool(self) -> Option<bool> {
        if let View::Bool(value) = self.0?.view() { Some(value) } else { None }
    }

    /// An integer, or the number of a member of an enumeration: its class is called with the number.
    fn int(self) -> Option<i64> {
        let value = self.0?;
        let number = if let View::Object = value.view() { value.arguments().next()? } else { value };
        if let View::Int(number) = number.view() { i64::try_from(number).ok() } else { None }
    }

    fn float(self) -> Option<f64> {
        match self.0?.view() {
            View::Float(value) => Some(value),
            // A larger number is not a loss scaling.
            View::Int(value) => i32::try_from(value).ok().map(f64::from),
            _ => None,
        }
    }

    fn text(self, reader: &Reader<'_>) -> Result<Option<String>, Error> {
        self.0.map_or(Ok(None), |value| reader.text(value))
    }

    fn path(self, reader: &Reader<'_>) -> Result<Option<String>, Error> {
        self.0.and_then(Ref::path).map_or(Ok(None), |path| reader.owned(path))
    }

    fn class_name(self, reader: &Reader<'_>) -> Result<Option<String>, Error> {
        let name = self.0.and_then(Ref::path).and_then(|path| path.rsplit('.').next());
        name.map_or(Ok(None), |name| reader.owned(name))
    }

    /// The values of a dictionary, with the names that its keys are.
    fn named_values(self, reader: &Reader<'_>) -> Result<Vec<(String, Value)>, Error> {
        let Some(dict) = self.0 else { return Ok(Vec::new()) };
        let Value::Dict(entries) = reader.value(dict)? else { return Ok(Vec::new()) };
        let name = |key| match key {
            Value::Text(name) => Some(name),
            Value::Int(number) => Some(number.to_string()),
            _ => None,
        };
        let mut named = Vec::new();
        for (key, value) in entries {
            if let Some(key) = name(key) {
                push(&mut named, (key, value))?;
            }
        }
        Ok(named)
    }
}

fn is_none(value: Ref<'_>) -> bool {
    matches!(value.view(), View::None)
}

fn inputs_of(inputs: Maybe<'_>, reader: &Reader<'_>) -> Result<Vec<Input>, Error> {
    let mut names = inputs.get("_arg_names").0.into_iter().flat_map(Ref::items);
    let mut list = Vec::new();
    for value in inputs.get("_args").0.into_iter().flat_map(Ref::items) {
        let name = Maybe(names.next()).text(reader)?;
        let value = reader.value(value)?;
        push(&mut list, Input { name, value })?;
        if reader.is_spent() {
            break;
        }
    }
    Ok(list)
}

/// A list of integers. `None` if it is something else.
fn numbers(list: Ref<'_>, reader: &Reader<'_>) -> Result<Option<Vec<u64>>, Error> {
    if !matches!(list.view(), View::List | View::Tuple) {
        return Ok(None);
    }
    let mut numbers = Vec::new();
    for item in list.items() {
        let View::Int(number) = item.view() else { return Ok(None) };
        let Ok(number) = u64::try_from(number) else { return Ok(None) };
        if !reader.pay(0) {
            return Ok(None);
        }
        push(&mut numbers, number)?;
    }
    Ok(Some(numbers))
}

/// The names that are imported, each once.
fn names(values: &Values, inner: bool, reader: &Reader<'_>) -> Result<Vec<String>, Error> {
    let mut seen = with_room_for(values.pickle.imports.len())?;
    seen.resize(values.pickle.imports.len(), false);
    let mut names = Vec::new();
    for place in values.imports(inner) {
        let place = usize::from(place);
        let Some(seen) = seen.get_mut(place).filter(|seen| !**seen) else { continue };
        *seen = true;
        let Some(import) = values.pickle.imports.get(place) else { continue };
        if let Some(name) = reader.owned(&import.path)? {
            push(&mut names, name)?;
        }
    }
    Ok(names)
}
