"""Readers by format: each fills a description and the report.

| format | endings | told by |
|---|---|---|
| URDF | ``.urdf`` | the element ``robot`` |
"""
