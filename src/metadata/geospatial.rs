//! `GeospatialStatistics` of `parquet.thrift` (Geospatial.md), as they are in the file.

use crate::error::Result;
use crate::thrift::{Field, Reader, StructWriter, Wire};

/// Where the shapes of a GEOMETRY or GEOGRAPHY column lie, and of what kinds they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeospatialStatistics {
    /// A box around all shapes. For GEOGRAPHY, `x` may wrap: a minimum over the maximum crosses the antimeridian.
    pub bounding_box: Option<BoundingBox>,
    /// Codes of the kinds (WKB's, with 1000 for Z, 2000 for M, 3000 for ZM); empty is unknown.
    pub geospatial_types: Vec<i32>,
}

/// `BoundingBox` of `parquet.thrift`: each axis as minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, clippy::exhaustive_structs)]
pub struct BoundingBox {
    pub x: (f64, f64),
    pub y: (f64, f64),
    pub z: Option<(f64, f64)>,
    pub m: Option<(f64, f64)>,
}

impl GeospatialStatistics {
    pub(super) fn read(reader: &mut Reader<'_>, field: Field) -> Result<Option<Self>> {
        let mut statistics = GeospatialStatistics::default();
        let found = reader.struct_field(field, |r, field| {
            match field.id {
                1 => statistics.bounding_box = read_box(r, field)?,
                2 => {
                    let len = r.list(field, Wire::I32)?.unwrap_or(0);
                    statistics.geospatial_types = (0..len).map(|_| r.i32_value()).collect::<Result<_>>()?;
                }
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        Ok(found.then_some(statistics))
    }

    pub(super) fn write(&self, s: &mut StructWriter<'_>) {
        if let Some(bounds) = &self.bounding_box {
            s.structure(1, |s| {
                let axes = [Some(bounds.x), Some(bounds.y), bounds.z, bounds.m];
                for (id, axis) in [1, 3, 5, 7].into_iter().zip(axes) {
                    if let Some((min, max)) = axis {
                        s.double(id, min);
                        s.double(id + 1, max);
                    }
                }
            });
        }
        s.i32s(2, self.geospatial_types.iter().copied());
    }
}

/// A box that lacks a required side is no box.
fn read_box(reader: &mut Reader<'_>, field: Field) -> Result<Option<BoundingBox>> {
    let mut sides = [None; 8];
    reader.struct_field(field, |r, field| {
        let side = usize::try_from(field.id - 1).ok().and_then(|index| sides.get_mut(index));
        match side {
            Some(side) => *side = r.double(field)?,
            None => r.skip(field)?,
        }
        Ok(())
    })?;
    let [xmin, xmax, ymin, ymax, zmin, zmax, mmin, mmax] = sides;
    let (x, y) = (xmin.zip(xmax), ymin.zip(ymax));
    Ok(x.zip(y).map(|(x, y)| BoundingBox { x, y, z: zmin.zip(zmax), m: mmin.zip(mmax) }))
}
