//! Arrays as short text, a word a row: `1 null "a" [1,2] {x:1,y:null}`.

use std::fmt::Write;

use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::*;
use marquetry::arrow::array::{Array, downcast_dictionary_array, downcast_primitive_array};
use marquetry::arrow::schema::DataType;

/// A word for each row.
pub fn words(array: &dyn Array) -> Vec<String> {
    (0..array.len()).map(|row| word(array, row)).collect()
}

/// The value of one row.
pub fn word(array: &dyn Array, row: usize) -> String {
    let mut out = String::new();
    write(&mut out, array, row);
    out
}

fn write(out: &mut String, array: &dyn Array, row: usize) {
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return out.push_str("null");
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)).unwrap(),
        DataType::Utf8 => write!(out, "{:?}", array.as_string::<i32>().value(row)).unwrap(),
        DataType::LargeUtf8 => write!(out, "{:?}", array.as_string::<i64>().value(row)).unwrap(),
        DataType::Utf8View => write!(out, "{:?}", array.as_string_view().value(row)).unwrap(),
        DataType::Binary => hex(out, array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => hex(out, array.as_binary::<i64>().value(row)),
        DataType::BinaryView => hex(out, array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => hex(out, array.as_fixed_size_binary().value(row)),
        DataType::Decimal32(..) => out.push_str(&array.as_primitive::<Decimal32Type>().value_as_string(row)),
        DataType::Decimal64(..) => out.push_str(&array.as_primitive::<Decimal64Type>().value_as_string(row)),
        DataType::Decimal128(..) => {
            out.push_str(&array.as_primitive::<Decimal128Type>().value_as_string(row));
        }
        DataType::Decimal256(..) => {
            out.push_str(&array.as_primitive::<Decimal256Type>().value_as_string(row));
        }
        DataType::List(_) => list(out, array.as_list::<i32>().value(row).as_ref()),
        DataType::LargeList(_) => list(out, array.as_list::<i64>().value(row).as_ref()),
        DataType::ListView(_) => list(out, array.as_list_view::<i32>().value(row).as_ref()),
        DataType::LargeListView(_) => list(out, array.as_list_view::<i64>().value(row).as_ref()),
        DataType::FixedSizeList(..) => list(out, array.as_fixed_size_list().value(row).as_ref()),
        DataType::Map(..) => entries(out, array, row),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            joined(out, ['{', '}'], columns, |out, (field, column)| {
                write!(out, "{}:", field.name()).unwrap();
                write(out, column, row);
            });
        }
        DataType::Dictionary(..) => downcast_dictionary_array!(
            array => write(out, array.values(), array.key(row).unwrap()),
            other => panic!("{other}")
        ),
        other => downcast_primitive_array!(
            array => write!(out, "{:?}", array.value(row)).unwrap(),
            _ => panic!("no words for {other}")
        ),
    }
}

fn hex(out: &mut String, bytes: &[u8]) {
    out.push('x');
    bytes.iter().for_each(|byte| write!(out, "{byte:02x}").unwrap());
}

fn list(out: &mut String, items: &dyn Array) {
    joined(out, ['[', ']'], 0..items.len(), |out, item| write(out, items, item));
}

fn entries(out: &mut String, array: &dyn Array, row: usize) {
    let map = array.as_map();
    let offsets = map.value_offsets();
    joined(out, ['{', '}'], offsets[row] as usize..offsets[row + 1] as usize, |out, entry| {
        write(out, map.keys(), entry);
        out.push(':');
        write(out, map.values(), entry);
    });
}

fn joined<I>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = I>,
    mut one: impl FnMut(&mut String, I),
) {
    out.push(open);
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        one(out, item);
    }
    out.push(close);
}
