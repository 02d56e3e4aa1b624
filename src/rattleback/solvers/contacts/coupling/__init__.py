"""Contacts and joints together."""
