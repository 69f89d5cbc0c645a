"""What becomes of rows: files, pictures, the check for drift, the page of everything."""
