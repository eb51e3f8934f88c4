//! The metadata of Arrow fields: field ids, extension types, and what the writer's own schema said.

use std::collections::HashMap;

use super::FIELD_ID_KEY;
use crate::arrow::schema::Field;
use crate::arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use crate::metadata::{EdgeInterpolation, LogicalType, PhysicalType, SchemaNode};

/// The metadata of a field that stands for `node`: its field id, and the extension type of its annotation.
pub(super) fn file_metadata(node: &SchemaNode) -> HashMap<String, String> {
    let mut metadata = field_id(node);
    if let Some((name, value)) = extension(node) {
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned());
        metadata.extend(value.map(|value| (EXTENSION_TYPE_METADATA_KEY.to_owned(), value)));
    }
    metadata
}

/// The field id of `node`, if it has one.
pub(super) fn field_id(node: &SchemaNode) -> HashMap<String, String> {
    node.field_id.iter().map(|id| (FIELD_ID_KEY.to_owned(), id.to_string())).collect()
}

/// `file`, and what the hint adds to it. The hint's extension type comes, in the place of the file's, where the
/// field has the type that the hint gives it (`same_type`).
pub(super) fn merge(
    file: HashMap<String, String>,
    hint: Option<&Field>,
    same_type: bool,
) -> HashMap<String, String> {
    let mut metadata = file;
    let Some(hint) = hint else { return metadata };
    if same_type && hint.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some() {
        metadata.remove(EXTENSION_TYPE_NAME_KEY);
        metadata.remove(EXTENSION_TYPE_METADATA_KEY);
    }
    for (key, value) in hint.metadata().iter() {
        let extension = key == EXTENSION_TYPE_NAME_KEY || key == EXTENSION_TYPE_METADATA_KEY;
        if !extension || same_type {
            metadata.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    metadata
}

/// `field` without the keys that make it an extension type.
pub(super) fn without_extension(field: &Field) -> Field {
    without(field, &[EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY])
}

/// `field` without its field id.
pub(super) fn without_field_id(field: &Field) -> Field {
    without(field, &[FIELD_ID_KEY])
}

fn without(field: &Field, keys: &[&str]) -> Field {
    let kept = field.metadata().iter().filter(|(key, _)| !keys.contains(&key.as_str()));
    let metadata: HashMap<String, String> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    field.clone().with_metadata(metadata)
}

/// Name and metadata of the Arrow extension type that an annotation stands for, where it belongs on the node.
fn extension(node: &SchemaNode) -> Option<(&'static str, Option<String>)> {
    use PhysicalType::{ByteArray, FixedLenByteArray};
    match (node.logical.as_ref()?, node.physical_type(), node.byte_width()) {
        (LogicalType::Uuid, Some(FixedLenByteArray), 16) => Some(("arrow.uuid", None)),
        (LogicalType::Json, Some(ByteArray), _) => Some(("arrow.json", Some(String::new()))),
        (LogicalType::Variant { .. }, None, _) => Some(("arrow.parquet.variant", Some(String::new()))),
        (LogicalType::Geometry { crs }, Some(ByteArray), _) => Some(("geoarrow.wkb", Some(wkb(crs, None)))),
        (LogicalType::Geography { crs, algorithm }, Some(ByteArray), _) => {
            let algorithm = algorithm.unwrap_or(EdgeInterpolation::Spherical);
            Some(("geoarrow.wkb", Some(wkb(crs, Some(algorithm)))))
        }
        _ => None,
    }
}

/// The metadata of `geoarrow.wkb`: coordinate reference system and edges as a JSON object (Geospatial.md).
fn wkb(crs: &Option<String>, edges: Option<EdgeInterpolation>) -> String {
    let mut members = Vec::new();
    match crs.as_deref() {
        None | Some("" | "OGC:CRS84") => {
            members.push(r#""crs":"OGC:CRS84","crs_type":"authority_code""#.to_owned());
        }
        // Geospatial.md: srid:0 says that the reference system is not known.
        Some("srid:0") => {}
        Some(crs) => match crs.strip_prefix("srid:") {
            Some(srid) => members.push(format!(r#""crs":{},"crs_type":"srid""#, json_string(srid))),
            None => members.push(format!(r#""crs":{}"#, json_string(crs))),
        },
    }
    if let Some(edges) = edges {
        let name = match edges {
            EdgeInterpolation::Spherical => "spherical",
            EdgeInterpolation::Vincenty => "vincenty",
            EdgeInterpolation::Thomas => "thomas",
            EdgeInterpolation::Andoyer => "andoyer",
            EdgeInterpolation::Karney => "karney",
        };
        members.push(format!(r#""edges":"{name}""#));
    }
    format!("{{{}}}", members.join(","))
}

/// `text` as a JSON string, quotes included.
fn json_string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::schema::DataType;

    #[test]
    fn writes_the_reference_system_as_json() {
        let system = |crs: &str| wkb(&Some(crs.to_owned()), None);
        assert_eq!(wkb(&None, None), r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#);
        assert_eq!(system("srid:0"), "{}");
        assert_eq!(system("srid:4326"), r#"{"crs":"4326","crs_type":"srid"}"#);
        assert_eq!(system("a\"b\\\u{1}é"), r#"{"crs":"a\"b\\\u0001é"}"#);
        let edges = wkb(&Some("srid:0".into()), Some(EdgeInterpolation::Karney));
        assert_eq!(edges, r#"{"edges":"karney"}"#);
    }

    #[test]
    fn takes_the_extension_type_of_the_hint_for_the_type_it_is_of() {
        let file: HashMap<String, String> = [
            (FIELD_ID_KEY.to_owned(), "7".to_owned()),
            (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.json".to_owned()),
            (EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new()),
        ]
        .into();
        let hint = Field::new("x", DataType::Utf8, true).with_metadata(HashMap::from([
            (FIELD_ID_KEY.to_owned(), "8".to_owned()),
            (EXTENSION_TYPE_NAME_KEY.to_owned(), "my.text".to_owned()),
            ("unit".to_owned(), "m".to_owned()),
        ]));
        let merged = merge(file.clone(), Some(&hint), true);
        assert_eq!(merged[EXTENSION_TYPE_NAME_KEY], "my.text");
        assert!(!merged.contains_key(EXTENSION_TYPE_METADATA_KEY));
        assert_eq!((merged[FIELD_ID_KEY].as_str(), merged["unit"].as_str()), ("7", "m"));
        let merged = merge(file, Some(&hint), false);
        assert_eq!(merged[EXTENSION_TYPE_NAME_KEY], "arrow.json");
        assert_eq!(merged["unit"], "m");
    }
}
