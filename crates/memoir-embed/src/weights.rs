//! The weights, where they lie in the program.

use safetensors::{Dtype, SafeTensors};

/// Kept aligned, so that whole numbers can be read in place.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/model.safetensors"));

/// The tensors by name.
pub(crate) struct Weights(SafeTensors<'static>);

impl Weights {
    pub(crate) fn open() -> Result<Self, String> {
        SafeTensors::deserialize(&FILE.0)
            .map(Self)
            .map_err(|error| format!("the embedding model is damaged: {error}"))
    }

    fn bytes(&self, name: &str, kind: Dtype) -> Result<&'static [u8], String> {
        let tensor =
            self.0.tensor(name).map_err(|error| format!("the embedding model has no {name}: {error}"))?;
        if tensor.dtype() == kind { Ok(tensor.data()) } else { Err(format!("{name} has the wrong type")) }
    }

    /// 8-bit weights, read in place.
    pub(crate) fn eights(&self, name: &str) -> Result<&'static [i8], String> {
        Ok(bytemuck::cast_slice(self.bytes(name, Dtype::I8)?))
    }

    /// 32-bit numbers.
    pub(crate) fn floats(&self, name: &str) -> Result<Vec<f32>, String> {
        let bytes = self.bytes(name, Dtype::F32)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
