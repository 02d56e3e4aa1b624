"""The gallery: all scenes with a picture and a sentence each, and links that open one with its settings."""
