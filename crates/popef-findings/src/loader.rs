use popef::seam::named;

named! {
    /// A program that loads PopEF files and has requirements of its own.
    ///
    /// ```
    /// use popef_findings::Loader;
    ///
    /// assert_eq!("poptorch".parse(), Ok(Loader::Poptorch));
    /// assert_eq!(Loader::Triton.to_string(), "triton");
    /// ```
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Loader("a loader") {
        /// PopART, and programs that use its sessions.
        Popart = "popart",
        /// PopTorch.
        Poptorch = "poptorch",
        /// TensorFlow for the IPU.
        Tensorflow = "tensorflow",
        /// Triton's backend and the model runtimes, which do not use a framework.
        Triton = "triton",
    }
}
