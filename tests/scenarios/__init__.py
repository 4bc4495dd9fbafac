"""Stories of clusters as text: commands, and what comes of them. README.md has the language."""
