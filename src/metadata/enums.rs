//! The small enumerations of `parquet.thrift`, each open at its end: a number we do not know stays a number.

use std::fmt;

/// Defines an enumeration of `parquet.thrift` with its numbers and the names that the format gives them.
macro_rules! thrift_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A number that this crate does not know.
            Unknown(i32),
        }

        impl $name {
            /// From the number in the file.
            pub fn from_number(number: i32) -> Self {
                match number {
                    $($number => $name::$variant,)*
                    other => $name::Unknown(other),
                }
            }

            /// The number in the file.
            pub fn number(self) -> i32 {
                match self {
                    $($name::$variant => $number,)*
                    $name::Unknown(other) => other,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant => f.pad($text),)*
                    $name::Unknown(number) => f.pad(&format!("UNKNOWN({number})")),
                }
            }
        }
    };
}

thrift_enum! {
    /// `Type`: how a leaf's values are stored.
    PhysicalType {
        /// One bit.
        Boolean = 0, "BOOLEAN";
        /// 4 bytes, signed.
        Int32 = 1, "INT32";
        /// 8 bytes, signed.
        Int64 = 2, "INT64";
        /// 12 bytes: nanoseconds of the day, then a Julian day number (deprecated).
        Int96 = 3, "INT96";
        /// IEEE 754 single precision.
        Float = 4, "FLOAT";
        /// IEEE 754 double precision.
        Double = 5, "DOUBLE";
        /// Any number of bytes.
        ByteArray = 6, "BYTE_ARRAY";
        /// As many bytes as the schema says.
        FixedLenByteArray = 7, "FIXED_LEN_BYTE_ARRAY";
    }
}

thrift_enum! {
    /// `FieldRepetitionType`.
    Repetition {
        /// Exactly once.
        Required = 0, "REQUIRED";
        /// Null or once.
        Optional = 1, "OPTIONAL";
        /// Any number of times.
        Repeated = 2, "REPEATED";
    }
}

thrift_enum! {
    /// `Encoding` (Encodings.md).
    Encoding {
        /// Values back to back.
        Plain = 0, "PLAIN";
        /// Dictionary indices, the old name.
        PlainDictionary = 2, "PLAIN_DICTIONARY";
        /// Run length and bit-packing hybrid.
        Rle = 3, "RLE";
        /// Bit-packed levels, most significant bit first (deprecated).
        BitPacked = 4, "BIT_PACKED";
        /// Bit-packed differences of integers.
        DeltaBinaryPacked = 5, "DELTA_BINARY_PACKED";
        /// Packed lengths, then all bytes.
        DeltaLengthByteArray = 6, "DELTA_LENGTH_BYTE_ARRAY";
        /// Shared prefixes, then suffixes.
        DeltaByteArray = 7, "DELTA_BYTE_ARRAY";
        /// Dictionary indices.
        RleDictionary = 8, "RLE_DICTIONARY";
        /// The k-th bytes of all values together.
        ByteStreamSplit = 9, "BYTE_STREAM_SPLIT";
        /// Adaptive lossless floating point.
        Alp = 10, "ALP";
    }
}

thrift_enum! {
    /// `CompressionCodec` (Compression.md).
    Compression {
        /// None.
        Uncompressed = 0, "UNCOMPRESSED";
        /// Raw Snappy, no framing.
        Snappy = 1, "SNAPPY";
        /// Gzip members, one or several.
        Gzip = 2, "GZIP";
        /// Never supported by anybody.
        Lzo = 3, "LZO";
        /// Brotli.
        Brotli = 4, "BROTLI";
        /// LZ4 blocks in an undocumented Hadoop framing (deprecated).
        Lz4 = 5, "LZ4";
        /// Zstandard frames.
        Zstd = 6, "ZSTD";
        /// One bare LZ4 block.
        Lz4Raw = 7, "LZ4_RAW";
    }
}

thrift_enum! {
    /// `PageType`.
    PageType {
        /// Version 1: levels and values are compressed together.
        DataPage = 0, "DATA_PAGE";
        /// Never defined; skipped.
        IndexPage = 1, "INDEX_PAGE";
        /// A column chunk's dictionary.
        DictionaryPage = 2, "DICTIONARY_PAGE";
        /// Version 2: levels stand before the compressed values.
        DataPageV2 = 3, "DATA_PAGE_V2";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_numbers_it_does_not_know() {
        assert_eq!(Encoding::from_number(8), Encoding::RleDictionary);
        for number in -1..20 {
            assert_eq!(Encoding::from_number(number).number(), number);
        }
        assert_eq!(Compression::from_number(77).to_string(), "UNKNOWN(77)");
        assert_eq!(PageType::DataPageV2.to_string(), "DATA_PAGE_V2");
    }
}
