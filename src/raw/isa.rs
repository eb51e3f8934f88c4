//! The instruction sets that have kernels of their own, and which of them this machine runs.

use std::sync::OnceLock;

/// An instruction set, or none in particular. The best comes first.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// AVX-512 with byte permutes: F, BW, DQ, VL and VBMI (Ice Lake, Zen 4 and later), and all of AVX2's.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with BMI1, BMI2 and POPCNT (Haswell, Zen and later).
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What every machine runs.
    Portable,
}

impl Isa {
    const ALL: &[Isa] = &[
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2,
        Isa::Portable,
    ];

    /// The best that this machine runs.
    pub(crate) fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::available().next().unwrap_or(Isa::Portable))
    }

    /// All that this machine runs.
    pub(crate) fn available() -> impl Iterator<Item = Isa> {
        Self::ALL.iter().copied().filter(|isa| isa.detected())
    }

    fn detected(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                Isa::Avx2.detected()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            Isa::Portable => true,
        }
    }
}
