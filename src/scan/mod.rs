//! Metadata, projection and row selection to a plan, and the plan to record batches.
