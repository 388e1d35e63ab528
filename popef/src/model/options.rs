use crate::types::{EngineOption, Metadata};

impl EngineOption {
    /// Returns the value as a `bool`, if it is `true` or `false`.
    ///
    /// ```
    /// let option = popef::types::EngineOption { name: "exchange.enablePrefetch".into(), value: "true".into() };
    /// assert_eq!((option.to_bool(), option.to_u64()), (Some(true), None));
    /// ```
    pub fn to_bool(&self) -> Option<bool> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// Returns the value as a `u64`, if it is a decimal integer in that range.
    pub fn to_u64(&self) -> Option<u64> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// Returns the value as an `i64`, if it is a decimal integer in that range.
    pub fn to_i64(&self) -> Option<i64> {
        self.value.to_str().ok()?.parse().ok()
    }

    /// Returns the value as an `f64`, if it is a number.
    pub fn to_f64(&self) -> Option<f64> {
        self.value.to_str().ok()?.parse().ok()
    }
}

impl Metadata {
    /// Finds the last engine option with a name. In Poplar, a later option overrides an earlier one.
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

    /// Finds the last device option with a name.
    pub fn device_option(&self, name: &str) -> Option<&EngineOption> {
        last_of(&self.device_options, name)
    }
}

fn last_of<'o>(options: &'o [EngineOption], name: &str) -> Option<&'o EngineOption> {
    options.iter().rev().find(|option| option.name == *name)
}
