use popef::DataType;

use super::{Error, Linear, Mapping, calc_linear_tile_mapping, number_of_elements};

/// The tiles that tensors are mapped onto.
///
/// ```
/// use poplar_inspect::tiles::Target;
/// use popef::DataType;
///
/// let target = Target::new(1472, 4)?;
/// assert_eq!(target.tiles(), 5888);
/// let half = target.linear(DataType::F16)?;
/// assert_eq!((half.grain, half.min_elements), (4, 64));
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    tiles_per_ipu: u32,
    ipus: u32,
    data_path_bytes: u64,
    min_bytes_per_tile: u64,
}

impl Target {
    /// A target of IPUs with a data path of 64 bits and at least 128 bytes of a tensor on each tile. poplibs has the 128 bytes
    /// in its code. The 64 bits are those of published IPUs: two `float` or four `half` at once.
    pub fn new(tiles_per_ipu: u32, ipus: u32) -> Result<Self, Error> {
        if tiles_per_ipu == 0 {
            return Err(Error::Zero { what: "tiles" });
        }
        if ipus == 0 {
            return Err(Error::Zero { what: "IPUs" });
        }
        match tiles_per_ipu.checked_mul(ipus) {
            Some(_) => Ok(Target { tiles_per_ipu, ipus, data_path_bytes: 8, min_bytes_per_tile: 128 }),
            None => Err(Error::TooLarge { what: "number of tiles" }),
        }
    }

    /// The same target with other defaults: the width of the data path, and the least bytes of a tensor on a tile.
    #[must_use]
    pub fn with_bytes(self, data_path_bytes: u64, min_bytes_per_tile: u64) -> Self {
        Target { data_path_bytes, min_bytes_per_tile, ..self }
    }

    /// The number of tiles of all IPUs.
    pub fn tiles(&self) -> u32 {
        // `new` has checked the product.
        self.tiles_per_ipu.saturating_mul(self.ipus)
    }

    /// The number of tiles of an IPU.
    pub fn tiles_per_ipu(&self) -> u32 {
        self.tiles_per_ipu
    }

    /// The number of IPUs.
    pub fn ipus(&self) -> u32 {
        self.ipus
    }

    /// The IPU that a tile is on.
    pub(super) fn ipu_of(&self, tile: u32) -> u32 {
        tile.checked_div(self.tiles_per_ipu).unwrap_or_default()
    }

    /// The vector width of a type: how many elements the data path holds, and at least one. Poplar's widths of integers are not public.
    pub fn vector_width(&self, element_type: DataType) -> Result<u64, Error> {
        self.data_path_bytes.checked_div(size_of(element_type)?).ok_or(Error::NoSize).map(|width| width.max(1))
    }

    /// How a tensor of a type is spread by default: the grain is the vector width, and a tile has at least 128 bytes.
    pub fn linear(&self, element_type: DataType) -> Result<Linear, Error> {
        let min_elements = self.min_bytes_per_tile.div_ceil(size_of(element_type)?);
        Ok(Linear::new(self.vector_width(element_type)?, min_elements))
    }

    pub(super) fn check(&self, mapping: &Mapping) -> Result<(), Error> {
        match (mapping.tiles(), self.tiles()) {
            (left, right) if left != right => Err(Error::DifferentTiles { left, right }),
            _ => Ok(()),
        }
    }
}

/// The type with a name of Poplar, such as `half` and `unsigned int`.
pub fn element_type_of_poplar(name: &str) -> Option<DataType> {
    Some(match name {
        "bool" => DataType::Bool,
        "quarter" => DataType::F8,
        "half" => DataType::F16,
        "float" => DataType::F32,
        "double" => DataType::F64,
        "char" | "signed char" => DataType::S8,
        "unsigned char" => DataType::U8,
        "short" => DataType::S16,
        "unsigned short" => DataType::U16,
        "int" | "long" => DataType::S32,
        "unsigned int" | "unsigned long" => DataType::U32,
        "long long" | "longlong" => DataType::S64,
        "unsigned long long" | "unsigned longlong" => DataType::U64,
        _ => return None,
    })
}

fn size_of(element_type: DataType) -> Result<u64, Error> {
    element_type.size().filter(|&size| size > 0).ok_or(Error::NoSize)
}

/// A variable of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    shape: Vec<u64>,
    element_type: DataType,
    elements: u64,
    mapping: Option<Mapping>,
}

impl Variable {
    /// Its shape.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of its elements.
    pub fn element_type(&self) -> DataType {
        self.element_type
    }

    /// The number of its elements.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// Where its elements are, if that is decided.
    pub fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_ref()
    }
}

/// A target, and variables that are mapped onto its tiles. It has just these parts of a `poplar::Graph`.
///
/// ```
/// use poplar_inspect::tiles::{Graph, Target};
/// use popef::DataType;
///
/// let mut graph = Graph::new(Target::new(4, 1)?);
/// let weights = graph.add_variable(DataType::F32, &[10, 10])?;
/// graph.map_tensor_linearly(weights, None)?;
/// let mapping = graph.variable(weights)?.mapping().unwrap();
/// assert_eq!(format!("{mapping:?}"), "4 tiles {0: [0, 32), 1: [32, 66), 2: [66, 100)}");
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    target: Target,
    variables: Vec<Variable>,
}

impl Graph {
    /// A graph without variables.
    pub fn new(target: Target) -> Self {
        Graph { target, variables: Vec::new() }
    }

    /// Its target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Adds a variable without a mapping, and returns its number.
    pub fn add_variable(&mut self, element_type: DataType, shape: &[u64]) -> Result<usize, Error> {
        let elements = number_of_elements(shape)?;
        self.variables.push(Variable { shape: shape.to_vec(), element_type, elements, mapping: None });
        Ok(self.variables.len().saturating_sub(1))
    }

    /// A variable.
    pub fn variable(&self, variable: usize) -> Result<&Variable, Error> {
        self.variables.get(variable).ok_or(Error::NoSuchVariable { variable })
    }

    /// All variables, by number.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Maps a variable. The mapping may leave elements out.
    pub fn set_tile_mapping(&mut self, variable: usize, mapping: Mapping) -> Result<(), Error> {
        self.target.check(&mapping)?;
        let of = self.variables.get_mut(variable).ok_or(Error::NoSuchVariable { variable })?;
        mapping.check_range(of.elements)?;
        of.mapping = Some(mapping);
        Ok(())
    }

    /// Spreads a variable evenly over all tiles, by the default of its type if `linear` is `None`: poplibs' `mapTensorLinearly`
    /// and `mapTensorLinearlyWithOffset`.
    pub fn map_tensor_linearly(&mut self, variable: usize, linear: Option<&Linear>) -> Result<(), Error> {
        let of = self.variable(variable)?;
        let linear = linear.map_or_else(|| self.target.linear(of.element_type()), |linear| Ok(*linear))?;
        let mapping = calc_linear_tile_mapping(self.target.tiles(), of.shape(), &linear)?;
        self.set_tile_mapping(variable, mapping)
    }
}
