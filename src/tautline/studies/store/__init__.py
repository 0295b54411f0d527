"""The Zarr store of a study."""
