"""The analysis: links modules into one program and answers the questions that rules ask. It never sees a syntax node."""
