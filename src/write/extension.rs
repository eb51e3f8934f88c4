//! Arrow's extension types as Parquet annotations: the way back of what the reader makes of annotations.
//!
//! Takes a field's metadata. An extension type on a storage type that it does not belong to is no annotation; the
//! Arrow schema in the footer keeps its name all the same.

use crate::arrow::schema::{DataType, Field};
use crate::metadata::{EdgeInterpolation, LogicalType, PhysicalType};

/// The annotation of a leaf of `physical` type (a group has none), where the field's extension type stands for one.
pub(super) fn annotation(field: &Field, physical: PhysicalType, byte_width: u16) -> Option<LogicalType> {
    use PhysicalType::{ByteArray, FixedLenByteArray};
    let is_group = matches!(field.data_type(), DataType::Struct(_));
    match (field.extension_type_name()?, physical, byte_width) {
        ("arrow.uuid", FixedLenByteArray, 16) => Some(LogicalType::Uuid),
        ("arrow.json", ByteArray, _) => Some(LogicalType::Json),
        ("arrow.parquet.variant", _, _) if is_group => {
            Some(LogicalType::Variant { specification_version: Some(1) })
        }
        ("geoarrow.wkb", ByteArray, _) => Some(geometry(field.extension_type_metadata().unwrap_or_default())),
        _ => None,
    }
}

/// GEOMETRY, or where the metadata of `geoarrow.wkb` has edges, GEOGRAPHY (Geospatial.md).
fn geometry(metadata: &str) -> LogicalType {
    let members = members(metadata);
    let member = |name: &str| members.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let crs = match (member("crs"), member("crs_type").and_then(string)) {
        // Geospatial.md: without a reference system the default is OGC:CRS84, and srid:0 says that none is known.
        (None | Some("null"), _) => Some("srid:0".to_owned()),
        (Some(crs), kind) => match string(crs) {
            Some(crs) if crs == "OGC:CRS84" => None,
            Some(crs) if kind.as_deref() == Some("srid") => Some(format!("srid:{crs}")),
            Some(crs) => Some(crs),
            // PROJJSON, an object: as it stands.
            None => Some(crs.to_owned()),
        },
    };
    let edges = member("edges").and_then(string);
    match edges.as_deref() {
        None | Some("planar") => LogicalType::Geometry { crs },
        Some(edges) => LogicalType::Geography { crs, algorithm: interpolation(edges) },
    }
}

fn interpolation(edges: &str) -> Option<EdgeInterpolation> {
    match edges {
        "vincenty" => Some(EdgeInterpolation::Vincenty),
        "thomas" => Some(EdgeInterpolation::Thomas),
        "andoyer" => Some(EdgeInterpolation::Andoyer),
        "karney" => Some(EdgeInterpolation::Karney),
        // Spherical is the default.
        _ => None,
    }
}

/// The members of a JSON object, values as they stand. What follows something that is not JSON is left out.
fn members(json: &str) -> Vec<(&str, &str)> {
    let mut members = Vec::new();
    let Some(mut rest) = json.trim_start().strip_prefix('{') else { return members };
    while let Some((key, after)) = token(rest) {
        let Some(after) = after.trim_start().strip_prefix(':') else { break };
        let Some((value, after)) = token(after) else { break };
        members.push((key.trim_end().trim_matches('"'), value));
        let Some(after) = after.trim_start().strip_prefix(',') else { break };
        rest = after;
    }
    members
}

/// The JSON value that `text` begins with, and what follows it.
fn token(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '{' | '[' => depth += 1,
            '}' | ']' | ',' | ':' if depth == 0 => return (at > 0).then(|| text.split_at(at)),
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The text of a JSON string; `None` for any other value. Escapes beyond `\"`, `\\` and `\/` do not occur in the names of
/// reference systems and stay as they are.
fn string(value: &str) -> Option<String> {
    let inner = value.trim_end().strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next @ ('"' | '\\' | '/')) if c == '\\' => {
                text.push(next);
                chars.next();
            }
            _ => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
    use std::collections::HashMap;

    fn wkb(metadata: &str) -> LogicalType {
        let field = Field::new("g", DataType::Binary, true).with_metadata(HashMap::from([
            (EXTENSION_TYPE_NAME_KEY.to_owned(), "geoarrow.wkb".to_owned()),
            (EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata.to_owned()),
        ]));
        annotation(&field, PhysicalType::ByteArray, 0).unwrap()
    }

    #[test]
    fn geometries_keep_their_reference_system() {
        let geometry = |crs: Option<&str>| LogicalType::Geometry { crs: crs.map(str::to_owned) };
        assert_eq!(wkb(r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#), geometry(None));
        assert_eq!(wkb(r#"{"crs" : "4326", "crs_type":"srid"}"#), geometry(Some("srid:4326")));
        for none in ["", "{}", "nonsense", r#"{"crs":null}"#] {
            assert_eq!(wkb(none), geometry(Some("srid:0")), "{none}");
        }
        assert_eq!(wkb(r#"{"crs":"a\"b\\c"}"#), geometry(Some("a\"b\\c")));
        assert_eq!(wkb(r#"{"crs":{"id":[1,"}"]},"x":1}"#), geometry(Some(r#"{"id":[1,"}"]}"#)));
    }

    #[test]
    fn edges_make_a_geography() {
        for (name, algorithm) in [("spherical", None), ("karney", Some(EdgeInterpolation::Karney))] {
            let expected = LogicalType::Geography { crs: None, algorithm };
            assert_eq!(wkb(&format!(r#"{{"crs":"OGC:CRS84","edges":"{name}"}}"#)), expected);
        }
    }

    #[test]
    fn an_extension_type_out_of_place_is_no_annotation() {
        let field = Field::new("u", DataType::FixedSizeBinary(15), true)
            .with_metadata(HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.uuid".to_owned())]));
        assert_eq!(annotation(&field, PhysicalType::FixedLenByteArray, 15), None);
        assert_eq!(annotation(&field, PhysicalType::FixedLenByteArray, 16), Some(LogicalType::Uuid));
    }
}
