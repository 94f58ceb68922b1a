//! Pages with codecs that are not built into the library. They are decoded in
//! plain Rust, to no more bytes than the page claims.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

/// Whether pages of that codec can be read, here or by the library.
pub(super) fn is_read(codec: Compression) -> bool {
    is_library(codec)
        || matches!(
            codec,
            Compression::ZSTD(_) | Compression::GZIP(_) | Compression::LZ4_RAW | Compression::BROTLI(_)
        )
}

/// Whether the library decodes it. It does so only where a page cannot expand
/// without limit: Snappy makes at most 64 bytes of 3.
pub(super) fn is_library(codec: Compression) -> bool {
    matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY)
}

/// The pages of a column, decompressed.
pub(super) struct Unpacked {
    /// The library is told that nothing is compressed, so it shows the bytes as they are.
    inner: SerializedPageReader<Bytes>,
    codec: Compression,
    /// The size that each page claims, and that was checked.
    sizes: VecDeque<usize>,
}

impl Unpacked {
    pub(super) fn new(
        file: &Bytes,
        column: &ColumnChunkMetaData,
        n_rows: usize,
        sizes: Vec<usize>,
    ) -> Result<Self> {
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let inner = SerializedPageReader::new(Arc::new(file.clone()), &plain, n_rows, None)?;
        Ok(Self { inner, codec: column.compression(), sizes: sizes.into() })
    }

    /// `packed` without compression but for its first bytes, which have none.
    fn unpacked(&self, packed: &Bytes, plain: usize, size: usize) -> Result<Bytes> {
        let damaged = |what: &str| ParquetError::General(format!("a page cannot be decompressed: {what}"));
        let (levels, packed) = packed.split_at_checked(plain).ok_or_else(|| damaged("it is too short"))?;
        let size = size.checked_sub(plain).ok_or_else(|| damaged("it is too short"))?;
        let mut out = levels.to_vec();
        if size > 0 {
            unpack(self.codec, packed, size, &mut out).map_err(|problem| damaged(&problem))?;
        }
        match out.len() == plain + size {
            true => Ok(out.into()),
            false => Err(damaged("it has another length than it says")),
        }
    }
}

/// Adds at most one byte more than `size`, which is enough to see that there is too much.
fn unpack(
    codec: Compression,
    packed: &[u8],
    size: usize,
    out: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    let limit = size as u64 + 1;
    let read = |reader: &mut dyn Read, out: &mut Vec<u8>| {
        reader.take(limit).read_to_end(out).map(|_| ()).map_err(|error| error.to_string())
    };
    match codec {
        Compression::ZSTD(_) => {
            // There may be several frames in a row.
            let (mut rest, end) = (packed, out.len() + size);
            while !rest.is_empty() && out.len() < end {
                let frame =
                    ruzstd::decoding::StreamingDecoder::new(&mut rest).map_err(|error| error.to_string());
                read(&mut frame?, out)?;
            }
            Ok(())
        }
        Compression::GZIP(_) => read(&mut flate2::read::MultiGzDecoder::new(packed), out),
        Compression::BROTLI(_) => read(&mut brotli_decompressor::Decompressor::new(packed, 4096), out),
        Compression::LZ4_RAW => {
            let block = lz4_flex::block::decompress(packed, size).map_err(|error| error.to_string())?;
            out.extend_from_slice(&block);
            Ok(())
        }
        other => Err(format!("{other:?} is not read")),
    }
}

impl Iterator for Unpacked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Unpacked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.inner.get_next_page()? else { return Ok(None) };
        let size = self.sizes.pop_front();
        let size =
            size.ok_or_else(|| ParquetError::General("it has more pages than were seen".to_owned()))?;
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.unpacked(buf, 0, size)?
            }
            Page::DataPageV2 {
                buf, is_compressed: true, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                *buf = self.unpacked(buf, levels, size)?;
            }
            Page::DataPageV2 { .. } => {}
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.sizes.pop_front();
        self.inner.skip_next_page()
    }
}
