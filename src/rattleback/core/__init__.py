"""The ground floor: number types, array groups, devices, recorded steps, choices, reports, checks and errors."""
