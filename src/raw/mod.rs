//! The only place with `unsafe`: memory maps, uninitialised spare capacity, SIMD kernels. Each function outside checks first.
#![allow(unsafe_code)]
