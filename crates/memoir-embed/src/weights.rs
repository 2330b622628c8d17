//! The weights, where they lie in the program.

use safetensors::{Dtype, SafeTensors};

use crate::error::AssetError;

/// Kept aligned, so that whole numbers can be read in place.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/model.safetensors"));

/// The tensors by name.
pub(crate) struct WeightFile(SafeTensors<'static>);

impl WeightFile {
    pub(crate) fn open() -> Result<Self, AssetError> {
        SafeTensors::deserialize(&FILE.0).map(Self).map_err(AssetError::Damaged)
    }

    fn find(&self, name: &str, kind: Dtype) -> Result<&'static [u8], AssetError> {
        let tensor = self.0.tensor(name);
        let tensor = tensor.map_err(|source| AssetError::MissingTensor { name: name.to_owned(), source })?;
        if tensor.dtype() != kind {
            return Err(AssetError::WrongType { name: name.to_owned() });
        }
        Ok(tensor.data())
    }

    /// 8-bit weights, read in place.
    pub(crate) fn read_bytes(&self, name: &str) -> Result<&'static [i8], AssetError> {
        Ok(bytemuck::cast_slice(self.find(name, Dtype::I8)?))
    }

    /// 32-bit numbers.
    pub(crate) fn read_floats(&self, name: &str) -> Result<Vec<f32>, AssetError> {
        let bytes = self.find(name, Dtype::F32)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
