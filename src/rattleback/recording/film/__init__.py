"""Film quality: pictures whose light is followed from surface to surface, drawn with Mitsuba."""
