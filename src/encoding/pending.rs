//! Decoders that are still to come: each goes when its own file lands (take your name out of here).

use super::PageBytes;
use crate::error::{Error, Result};
use crate::sink::{ByteSink, PrimitiveSink};

macro_rules! pending {
    ($name:ident<B, T>) => {
        pub struct $name<B, T>(std::marker::PhantomData<(B, T)>);
        impl<B: PageBytes, T> $name<B, T> {
            pub fn new(_: B, _: usize) -> Result<Self> {
                Err(Error::unsupported(stringify!($name)))
            }
            pub fn read(&mut self, _: usize, _: &mut PrimitiveSink<T>) -> Result<usize> {
                Ok(0)
            }
            pub fn skip(&mut self, _: usize) -> Result<()> {
                Ok(())
            }
        }
    };
    ($name:ident<B> $($extra:ty),*) => {
        pub struct $name<B>(std::marker::PhantomData<B>);
        impl<B: PageBytes> $name<B> {
            pub fn new(_: B, _: usize $(, _: $extra)*) -> Result<Self> {
                Err(Error::unsupported(stringify!($name)))
            }
            pub fn read<S: ByteSink>(&mut self, _: usize, _: &mut S) -> Result<usize> {
                Ok(0)
            }
            pub fn skip(&mut self, _: usize) -> Result<()> {
                Ok(())
            }
        }
    };
}
pending!(AlpDecoder<B, T>);
