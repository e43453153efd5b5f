"""An archive of tasks: read as the folders it was made of, and written as rows of parquet files."""
