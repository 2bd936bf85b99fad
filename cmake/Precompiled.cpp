// Carries the precompiled header that all rooms reuse.
