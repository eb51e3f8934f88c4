//! The plan, carried out: record batches one after another.

use std::sync::Arc;

use super::leaf_reader::LeafReader;
use super::plan::Plan;
use super::projection::Projection;
use crate::arrow::array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use crate::arrow::schema::{ArrowError, Schema, SchemaRef};
use crate::column::{LeafDecoder, Levels, new_values};
use crate::error::{Error, ErrorKind, Result};
use crate::file::ParquetFile;
use crate::logical::{Column, Recipe};
use crate::metadata::{Repetition, Schema as FileSchema};
use crate::nested;
use crate::page::Workspace;

/// Reads the batches of a scan. An iterator of `Result<RecordBatch, ArrowError>`; `Send`, and tied to no lifetime.
///
/// A batch holds as many rows as were asked for, but for the last one, and but for those that are cut short because
/// 32-bit offsets could not hold more, or because a dictionary column's next dictionary begins. After an error comes
/// nothing more. [`ScanReader::next_batch`] gives this crate's own errors.
pub struct ScanReader {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// The leaves of all columns, in the order of [`Column::leaves`].
    leaves: Vec<LeafReader>,
    workspace: Workspace,
    batch_size: usize,
    rows_left: u64,
    failed: bool,
}

impl ScanReader {
    pub(crate) fn new(
        file: &ParquetFile,
        projection: Projection,
        plan: Plan,
        batch_size: usize,
    ) -> Result<Self> {
        let columns = projection.columns;
        let mut leaves = Vec::new();
        for column in &columns {
            for (leaf, decoder) in decoders(file.metadata().schema(), column)? {
                leaves.push(LeafReader::new(file.clone(), leaf, decoder, plan.groups.clone()));
            }
        }
        let fields: Vec<_> = columns.iter().map(|column| column.field.clone()).collect();
        let schema = Schema::new_with_metadata(fields, file.schema().metadata().clone());
        Ok(ScanReader {
            schema: Arc::new(schema),
            columns,
            leaves,
            workspace: Workspace::default(),
            batch_size,
            rows_left: plan.num_rows(),
            failed: false,
        })
    }

    /// The next batch; `None` at the end, and after an error.
    ///
    /// # Errors
    /// When a page is broken, missing or of a kind this build cannot read. The error says where.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.failed {
            return Ok(None);
        }
        let batch = self.read_batch();
        self.failed = batch.is_err();
        batch
    }

    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        let wanted = usize::try_from(self.rows_left).unwrap_or(usize::MAX).min(self.batch_size);
        let mut rows = wanted;
        // With no row left this still walks what remains of the plan: pages after the last row are an error.
        for leaf in &mut self.leaves {
            rows = rows.min(leaf.fill(wanted.max(1), &mut self.workspace)?);
        }
        if wanted == 0 {
            return Ok(None);
        }
        if rows == 0 {
            return Err(ErrorKind::OffsetOverflow { use_instead: "LargeUtf8 or LargeBinary" }.into());
        }
        let mut arrays = Vec::with_capacity(self.columns.len());
        let mut leaves = self.leaves.iter_mut();
        for column in &self.columns {
            let taken = leaves.by_ref().take(column.leaves().len()).map(|leaf| leaf.take(rows));
            let taken = taken.collect::<Result<Vec<_>>>()?;
            arrays.push(nested::assemble(column, &mut taken.into_iter())?);
        }
        self.rows_left -= rows as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?))
    }
}

/// A decoder for each leaf of `column`.
pub(crate) fn decoders(schema: &FileSchema, column: &Column) -> Result<Vec<(usize, LeafDecoder)>> {
    let mut tests = nested::tests(column).into_iter();
    let mut slots = nested::slot_levels(column).into_iter();
    let mut all = Vec::new();
    let mut leaves = Vec::new();
    column.visit(&mut |column| leaves.extend(column.as_leaf().map(|leaf| (leaf, column.field.clone()))));
    for (leaf, field) in leaves {
        let node = schema.leaf(leaf).ok_or_else(|| Error::invalid(format!("column {leaf}")))?;
        let physical =
            node.physical_type().ok_or_else(|| Error::invalid(format!("column {leaf} is a group")))?;
        let recipe = Recipe::new(node, field.data_type())?;
        // A list cannot be cut, and may hold more.
        let max_byte_len = if node.repetition_level == 0 { FLAT_AT_MOST } else { LISTS_AT_MOST };
        let values = new_values(recipe, physical, node.byte_width(), field.data_type(), max_byte_len)?;
        let levels = Levels {
            max_def: node.definition_level,
            max_rep: node.repetition_level,
            slot_def: slots.next().unwrap_or(0),
        };
        let nullable = field.is_nullable() || node.repetition == Repetition::Optional;
        all.push((leaf, LeafDecoder::new(levels, nullable, &tests.next().unwrap_or_default(), values)));
    }
    Ok(all)
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for ScanReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader")
            .field("schema", &self.schema)
            .field("batch_size", &self.batch_size)
            .field("rows_left", &self.rows_left)
            .finish_non_exhaustive()
    }
}

/// Bytes of the values of a dictionary in one array, wherever their offsets would allow more.
const FLAT_AT_MOST: usize = i32::MAX as usize;
const LISTS_AT_MOST: usize = 1 << 33;
