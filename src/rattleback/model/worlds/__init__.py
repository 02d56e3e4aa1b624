"""What worlds side by side have in common and what differs: their scenes, and how these are made."""
