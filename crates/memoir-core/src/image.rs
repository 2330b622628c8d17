//! Images for models that can see.

use std::{fmt, sync::Arc};

use imagesize::{ImageSize, ImageType};

/// Maximum size of an image in bytes. Encoded for sending, it is a third larger and still below the providers' limits.
pub const MAX_IMAGE_BYTES: usize = 3_750_000;

/// Pixels per token, as providers count them.
const PIXELS_PER_TOKEN: u64 = 750;

/// Providers scale larger images down, so that they cost at most about this many tokens.
const MAX_TOKENS: u64 = 1600;

/// An image in a format that the providers accept. The bytes are shared, so a clone is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    format: Format,
    width: usize,
    height: usize,
    data: Arc<[u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gif,
    Jpeg,
    Png,
    Webp,
}

/// Why bytes cannot be sent as an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes are not an image in a supported format.
    #[error("it is not a PNG, JPEG, GIF or WebP image")]
    UnknownFormat,
    /// The image is too large.
    #[error("the image is larger than {MAX_IMAGE_BYTES} bytes; make it smaller")]
    TooLarge,
}

impl Image {
    /// Creates an image from the bytes of a file. Only its header is read.
    ///
    /// # Errors
    ///
    /// Fails if the format is not supported or the image is too large.
    pub fn new(data: Vec<u8>) -> Result<Self, ImageError> {
        let format = match imagesize::image_type(&data) {
            Ok(ImageType::Gif) => Format::Gif,
            Ok(ImageType::Jpeg) => Format::Jpeg,
            Ok(ImageType::Png) => Format::Png,
            Ok(ImageType::Webp) => Format::Webp,
            _ => return Err(ImageError::UnknownFormat),
        };
        if data.len() > MAX_IMAGE_BYTES {
            return Err(ImageError::TooLarge);
        }
        let ImageSize { width, height } =
            imagesize::blob_size(&data).map_err(|_| ImageError::UnknownFormat)?;
        Ok(Self { format, width, height, data: data.into() })
    }

    /// Returns the bytes of the file.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the media type, as in `image/png`.
    pub const fn media_type(&self) -> &'static str {
        match self.format {
            Format::Gif => "image/gif",
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::Webp => "image/webp",
        }
    }

    /// Estimates the number of tokens. Providers count differently.
    pub fn tokens(&self) -> u64 {
        let pixels = (self.width as u64).saturating_mul(self.height as u64);
        (pixels / PIXELS_PER_TOKEN).clamp(1, MAX_TOKENS)
    }
}

/// Describes the image in a few words: `PNG, 640 × 480 pixels, 12 kB`.
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.format {
            Format::Gif => "GIF",
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::Webp => "WebP",
        };
        let kilobytes = self.data.len().div_ceil(1000);
        write!(f, "{name}, {} × {} pixels, {kilobytes} kB", self.width, self.height)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the beginning of a PNG file, which holds the size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".iter().copied();
        header.chain(width.to_be_bytes()).chain(height.to_be_bytes()).chain([8, 2, 0, 0, 0]).collect()
    }

    #[test]
    fn the_header_tells_format_and_size() {
        let image = Image::new(png(640, 480));
        assert_eq!(image.as_ref().map(ToString::to_string), Ok("PNG, 640 × 480 pixels, 1 kB".to_owned()));
        assert_eq!(image.as_ref().map(Image::tokens), Ok(409));
        assert_eq!(image.map(|image| image.media_type()), Ok("image/png"));
        assert_eq!(Image::new(png(20_000, 20_000)).map(|image| image.tokens()), Ok(MAX_TOKENS));
    }

    #[test]
    fn other_files_and_large_images_are_refused() {
        let error = |data: Vec<u8>| Image::new(data).err();
        assert_eq!(error(b"<svg/>".to_vec()), Some(ImageError::UnknownFormat));
        assert_eq!(error(Vec::new()), Some(ImageError::UnknownFormat));
        assert_eq!(error(png(1, 1)[..14].to_vec()), Some(ImageError::UnknownFormat), "cut off");
        let mut large = png(10, 10);
        large.resize(MAX_IMAGE_BYTES + 1, 0);
        assert_eq!(error(large), Some(ImageError::TooLarge));
    }
}
