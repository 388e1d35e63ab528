use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::tensor_map::seed;
use super::{ReadError, ReadErrorKind};

/// The lowered variables of a program: which bytes of which tile each one has. Poplar up to SDK 2.1 writes them as `vars.json`
/// if the engine's option `debug.loweredVarDumpFile` names such a file.
///
/// They take at most about 20 bytes of memory for each byte of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoweredVars {
    /// The number of tiles of the target.
    pub tiles: Option<u32>,
    /// The bytes of memory of a tile.
    pub tile_memory: Option<u64>,
    /// The first byte of interleaved memory.
    pub interleaved_start: Option<u64>,
    /// The first byte of each memory element.
    pub memory_elements: Vec<u64>,
    /// All variables, in the order of the file.
    pub variables: Vec<LoweredVar>,
    /// For each class of variables, the classes that may be live at the same time.
    pub interference: Vec<Vec<u32>>,
    /// The names of the categories of variables.
    pub categories: Vec<String>,
    /// Why the file could not be read to its end. Everything before that place is here.
    pub damage: Option<ReadError>,
}

/// A variable of [`LoweredVars`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoweredVar {
    /// Its number.
    pub var: u64,
    /// Its tile.
    pub tile: u32,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where it begins on its tile, if it is allocated.
    pub offset: Option<u64>,
    /// Its category: an index of [`LoweredVars::categories`].
    pub category: u32,
    /// Its class. Variables of a class are live at the same times.
    pub class: Option<u32>,
    /// Whether it is live as long as the program runs.
    pub always_live: bool,
}

impl LoweredVars {
    /// Reads a file. Damage is not an error, if anything was read before it.
    ///
    /// ```
    /// use poplar_inspect::tiles::LoweredVars;
    ///
    /// let json = r#"{"numTiles":1216,"targetMemoryInfo":{"tileMemory":262144},
    ///     "vars":[{"var":0,"info":{"allocated":true,"tile":3,"name":"v1#0","sizeBytes":16,"offset":352}}]}"#;
    /// let vars = LoweredVars::read(json.as_bytes())?;
    /// assert_eq!((vars.tile_memory, vars.variables[0].offset), (Some(262_144), Some(352)));
    /// # Ok::<(), poplar_inspect::tiles::ReadError>(())
    /// ```
    pub fn read(reader: impl Read) -> Result<Self, ReadError> {
        let mut vars = LoweredVars::default();
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
        let mut seen = Seen::default();
        let root = Root { vars: &mut vars, seen: &mut seen };
        match root.deserialize(&mut json).and_then(|()| json.end()) {
            Ok(()) => Ok(vars),
            Err(error) => {
                let error = ReadError::from(error);
                if !seen.keys.contains(&"vars") || matches!(error.kind, ReadErrorKind::Unreadable(_)) {
                    return Err(error);
                }
                vars.damage = Some(error);
                Ok(vars)
            }
        }
    }

    /// The name of a variable's category.
    pub fn category(&self, variable: &LoweredVar) -> &str {
        usize::try_from(variable.category).ok().and_then(|at| self.categories.get(at)).map_or("", String::as_str)
    }

    /// Whether variables of two classes may be live at the same time.
    pub(super) fn interfere(&self, left: u32, right: u32) -> bool {
        let has = |row: u32, class: u32| {
            let row = usize::try_from(row).ok().and_then(|row| self.interference.get(row));
            row.is_some_and(|row| row.binary_search(&class).is_ok())
        };
        has(left, right) || has(right, left)
    }
}

/// What the reader remembers besides the result.
#[derive(Default)]
struct Seen {
    keys: Vec<&'static str>,
    categories: BTreeMap<String, u32>,
}

/// The keys of the document that are read.
const KEYS: [&str; 4] = ["numTiles", "targetMemoryInfo", "vars", "equivalenceClassInterference"];

struct Root<'v> {
    vars: &'v mut LoweredVars,
    seen: &'v mut Seen,
}

seed!(Root, "an object with the key \"vars\"", deserialize_map, visit_map, MapAccess, |self, members| {
    while let Some(key) = members.next_key::<String>()? {
        let Some(key) = KEYS.into_iter().find(|known| *known == key) else {
            members.next_value::<IgnoredAny>()?;
            continue;
        };
        if self.seen.keys.contains(&key) {
            return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
        }
        self.seen.keys.push(key);
        match key {
            "numTiles" => self.vars.tiles = Some(members.next_value()?),
            "targetMemoryInfo" => members.next_value_seed(MemoryInfo(self.vars))?,
            "vars" => members.next_value_seed(Variables { vars: self.vars, seen: self.seen })?,
            _ => members.next_value_seed(Interference(self.vars))?,
        }
    }
    if self.seen.keys.contains(&"vars") { Ok(()) } else { Err(A::Error::missing_field("vars")) }
});

struct MemoryInfo<'v>(&'v mut LoweredVars);

seed!(MemoryInfo, "an object about memory", deserialize_map, visit_map, MapAccess, |self, members| {
    while let Some(key) = members.next_key::<String>()? {
        match key.as_str() {
            "tileMemory" => self.0.tile_memory = Some(members.next_value()?),
            "interleavedMemoryStart" => self.0.interleaved_start = Some(members.next_value()?),
            "memoryElementOffsets" => self.0.memory_elements = members.next_value()?,
            _ => _ = members.next_value::<IgnoredAny>()?,
        }
    }
    Ok(())
});

struct Variables<'v> {
    vars: &'v mut LoweredVars,
    seen: &'v mut Seen,
}

seed!(Variables, "a list of variables", deserialize_seq, visit_seq, SeqAccess, |self, variables| {
    while let Some(entry) = variables.next_element::<Entry>()? {
        let info = entry.info;
        let next = u32::try_from(self.seen.categories.len()).unwrap_or(u32::MAX);
        let category = match self.seen.categories.get(&info.category) {
            Some(known) => *known,
            None => {
                self.seen.categories.insert(info.category.clone(), next);
                self.vars.categories.push(info.category);
                next
            }
        };
        if info.allocated && info.offset.is_some_and(|offset| offset.checked_add(info.size_bytes).is_none()) {
            return Err(A::Error::custom(format_args!("variable {} ends beyond any memory", entry.var)));
        }
        self.vars.variables.push(LoweredVar {
            var: entry.var,
            tile: info.tile,
            name: info.name,
            size: info.size_bytes,
            offset: info.offset.filter(|_| info.allocated),
            category,
            class: info.equivalence_class,
            always_live: info.always_live,
        });
    }
    Ok(())
});

/// A variable as the file has it.
#[derive(serde::Deserialize)]
struct Entry {
    var: u64,
    info: Info,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    #[serde(default)]
    allocated: bool,
    tile: u32,
    #[serde(default)]
    name: String,
    size_bytes: u64,
    offset: Option<u64>,
    #[serde(default)]
    category: String,
    #[serde(default)]
    always_live: bool,
    equivalence_class: Option<u32>,
}

struct Interference<'v>(&'v mut LoweredVars);

seed!(Interference, "a list of lists of classes", deserialize_seq, visit_seq, SeqAccess, |self, rows| {
    while let Some(mut row) = rows.next_element::<Vec<u32>>()? {
        row.sort_unstable();
        row.shrink_to_fit();
        self.0.interference.push(row);
    }
    Ok(())
});
