//! Access to the weights embedded in the executable.

use safetensors::{Dtype, SafeTensors};

use crate::error::AssetError;

/// Aligns the data so that tensors can be read in place.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

static ENCODER: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/model.safetensors"));
static READER: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/reader.safetensors"));

/// The tensors of a model, by name.
pub(crate) struct WeightFile(SafeTensors<'static>);

impl WeightFile {
    pub(crate) fn open_encoder() -> Result<Self, AssetError> {
        SafeTensors::deserialize(&ENCODER.0).map(Self).map_err(AssetError::Damaged)
    }

    pub(crate) fn open_reader() -> Result<Self, AssetError> {
        SafeTensors::deserialize(&READER.0).map(Self).map_err(AssetError::Damaged)
    }

    fn find(&self, name: &str, kind: Dtype) -> Result<&'static [u8], AssetError> {
        let tensor = self.0.tensor(name);
        let tensor = tensor.map_err(|source| AssetError::MissingTensor { name: name.to_owned(), source })?;
        if tensor.dtype() != kind {
            return Err(AssetError::WrongType { name: name.to_owned() });
        }
        Ok(tensor.data())
    }

    /// Returns an 8-bit tensor without copying it.
    pub(crate) fn read_bytes(&self, name: &str) -> Result<&'static [i8], AssetError> {
        Ok(bytemuck::cast_slice(self.find(name, Dtype::I8)?))
    }

    /// Returns a copy of a 32-bit floating-point tensor.
    pub(crate) fn read_floats(&self, name: &str) -> Result<Vec<f32>, AssetError> {
        let bytes = self.find(name, Dtype::F32)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
