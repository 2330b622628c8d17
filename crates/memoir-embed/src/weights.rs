//! Access to the weights of a model.

use std::borrow::Cow;

use safetensors::{Dtype, SafeTensors};

use crate::{error::AssetError, linear::Linear};

/// Aligns the data so that tensors can be read in place.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

static ENCODER: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/model.safetensors"));
static READER: &Aligned<[u8]> = &Aligned(*include_bytes!("../assets/reader.safetensors"));

/// A matrix with 8-bit numbers and one scale per row.
pub(crate) struct QuantizedRows {
    pub(crate) values: Cow<'static, [i8]>,
    pub(crate) scales: Vec<f32>,
}

/// The weights of a model, by the names that BERT has for them.
pub(crate) trait Weights {
    /// Returns the embeddings of all words.
    fn words(&self) -> Result<QuantizedRows, AssetError>;

    /// Returns the embeddings of all positions, to which the one of the first token type has been added.
    fn positions(&self) -> Result<Vec<f32>, AssetError>;

    /// Returns a linear layer for rows of `inputs` numbers.
    fn linear(&self, name: &str, inputs: usize) -> Result<Linear, AssetError>;

    /// Returns a tensor of 32-bit floating-point numbers.
    fn floats(&self, name: &str) -> Result<Vec<f32>, AssetError>;
}

/// The tensors of a built-in model. They are part of the executable and already quantized.
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
    fn read_bytes(&self, name: &str) -> Result<&'static [i8], AssetError> {
        Ok(bytemuck::cast_slice(self.find(name, Dtype::I8)?))
    }
}

impl Weights for WeightFile {
    fn words(&self) -> Result<QuantizedRows, AssetError> {
        Ok(QuantizedRows {
            values: self.read_bytes("embeddings.word_embeddings.weight")?.into(),
            scales: self.floats("embeddings.word_embeddings.weight.scale")?,
        })
    }

    fn positions(&self) -> Result<Vec<f32>, AssetError> {
        self.floats("embeddings.positions")
    }

    fn linear(&self, name: &str, inputs: usize) -> Result<Linear, AssetError> {
        let rows = QuantizedRows {
            values: self.read_bytes(&format!("{name}.weight"))?.into(),
            scales: self.floats(&format!("{name}.weight.scale"))?,
        };
        let bias = self.floats(&format!("{name}.bias"))?;
        Linear::new(name, rows, bias, self.floats(&format!("{name}.weight.sum"))?, inputs)
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, AssetError> {
        let bytes = self.find(name, Dtype::F32)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
