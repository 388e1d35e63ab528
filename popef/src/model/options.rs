use crate::types::{EngineOption, Metadata};

impl EngineOption {
    /// The value as `true` or `false`; none if it is neither.
    ///
    /// ```
    /// let option = popef::types::EngineOption { name: "exchange.enablePrefetch".into(), value: "true".into() };
    /// assert_eq!((option.to_bool(), option.to_u64()), (Some(true), None));
    /// ```
    pub fn to_bool(&self) -> Option<bool> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// The value as a whole number that is not negative, in decimal digits.
    pub fn to_u64(&self) -> Option<u64> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// The value as a whole number in decimal digits.
    pub fn to_i64(&self) -> Option<i64> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// The value as a number.
    pub fn to_f64(&self) -> Option<f64> {
        self.value.to_str().ok()?.parse().ok()
    }
}

impl Metadata {
    /// The engine option of a name; of several, the last, as Poplar lets a later one override.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// let metadata = file.metadata().next().expect("the file has one").read()?;
    /// let prefetch = metadata.engine_option("exchange.enablePrefetch");
    /// assert_eq!(prefetch.and_then(|option| option.to_bool()), Some(true));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn engine_option(&self, name: &str) -> Option<&EngineOption> {
        last_of(&self.engine_options, name)
    }

    /// The device option of a name; of several, the last.
    pub fn device_option(&self, name: &str) -> Option<&EngineOption> {
        last_of(&self.device_options, name)
    }
}

fn last_of<'o>(options: &'o [EngineOption], name: &str) -> Option<&'o EngineOption> {
    options.iter().rev().find(|option| option.name == *name)
}
