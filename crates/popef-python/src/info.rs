//! Shapes and types, and the infos of tensors and feeds.

#![allow(non_snake_case, reason = "getters have the names of the vendor's API")]

use popef::types::{self, Text};
use pyo3::prelude::*;

use crate::enums::DataType;
use crate::error::raise;
use crate::field::{List, value_class};

value_class! {
    /// The shape and element type of a tensor.
    ///
    /// >>> import popef
    /// >>> info = popef.TensorInfo([2, 3], popef.DataType.F16)
    /// >>> info.sizeInBytes(), info == popef.TensorInfo([3, 2], popef.DataType.F16)
    /// (12, False)
    TensorInfo ("TensorInfo", "(shape=None, dataType=None)") of types::TensorInfo {
        /// The extent of each dimension, outermost first. Empty for a scalar.
        shape: List<i64> = shape, set_shape ("setShape");
        /// The type of the elements.
        data_type: DataType = dataType, set_data_type ("setDataType");
    }

    /// The size of a tensor in bytes: the product of the shape times the size of an element. A scalar has one element.
    #[pyo3(name = "sizeInBytes")]
    fn size_in_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.to_value(py)?.size_in_bytes().map_err(|error| raise(py, &error))
    }

    /// `sizeInBytes()` in the spelling of Python.
    #[getter(size_in_bytes)]
    fn size_in_bytes_attribute(&self, py: Python<'_>) -> PyResult<u64> {
        self.size_in_bytes(py)
    }
}

value_class! {
    /// The info of a tensor's data.
    ///
    /// >>> import popef
    /// >>> info = popef.TensorDataInfo("weights", popef.TensorInfo([2], popef.DataType.F32))
    /// >>> info.name(), info.tensorInfo().shape()
    /// ('weights', [2])
    TensorDataInfo ("TensorDataInfo", "(name=None, tensorInfo=None)") of types::TensorDataInfo {
        /// The name of the anchors that the data is for.
        name: Text<'static> = name, set_name ("setName");
        /// The tensor's shape and element type.
        tensor_info: Py<TensorInfo> = tensorInfo, set_tensor_info ("setTensorInfo");
    }
}

value_class! {
    /// The info of a feed: several tensors of one shape, for several runs.
    ///
    /// >>> import popef
    /// >>> info = popef.FeedDataInfo("labels", popef.TensorInfo([8], popef.DataType.S32), 100)
    /// >>> info.name(), info.numTensors()
    /// ('labels', 100)
    FeedDataInfo ("FeedDataInfo", "(name=None, tensorInfo=None, numTensors=None)") of types::FeedDataInfo {
        /// The name of the anchors that the data is for.
        name: Text<'static> = name, set_name ("setName");
        /// The shape and element type of each tensor.
        tensor_info: Py<TensorInfo> = tensorInfo, set_tensor_info ("setTensorInfo");
        /// How many tensors there are.
        num_tensors: u32 = numTensors, set_num_tensors ("setNumTensors");
    }
}
