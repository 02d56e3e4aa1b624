"""What readers stand on: XML with lines, files inside named folders, meshes."""
