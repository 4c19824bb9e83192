"""The analysis: links modules into one program and answers what rules ask. It never sees a syntax node."""
