"""What the graphics card is told: how solids are placed, how sun and sky light them, how light becomes colour.

    L = a (E_sun V_sun max(n·l, 0) + E_sky V_sky + E_bounce (1 − n_z)/2) + gloss

a colour of the surface, n normal, l towards the sun, V the part of sun and sky that is seen past other solids. Light is
added up as it is in nature (linear), then bent to the range of a screen and written as sRGB.

Two ways to know V. Drawn once (``QUICK``), the sun is a map of depths seen from it, read at several places for a soft
edge, and the sky a map of heights, read around a point: what rises by h at distance d hides h²/(h² + d²) of it. Drawn
many times, each time has its own place on the sun, its own direction of the sky and its own place in the pixel, and
the average has soft shadows, soft corners and smooth edges as they are.
"""

SOLID_VERTEX = """
#version 330
in vec3 core; in vec3 edge; in vec3 normal;
in vec3 place; in vec4 turn; in vec3 size; in float rounding; in vec3 colour;
uniform mat4 clip;
uniform bool stretched;
out vec3 point; out vec3 facing; out vec3 paint;
vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
    point = place + turned(turn, size * core + rounding * edge);
    facing = turned(turn, stretched ? normal / size : normal);
    paint = colour;
    gl_Position = clip * vec4(point, 1.0);
}
"""

DEPTH_VERTEX = """
#version 330
in vec3 core; in vec3 edge;
in vec3 place; in vec4 turn; in vec3 size; in float rounding;
uniform mat4 clip;
vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() { gl_Position = clip * vec4(place + turned(turn, size * core + rounding * edge), 1.0); }
"""

DEPTH_FRAGMENT = """
#version 330
void main() {}
"""

GROUND_VERTEX = """
#version 330
in vec2 corner;
uniform mat4 clip;
uniform vec3 middle; uniform vec3 along; uniform vec3 across; uniform float reach;
out vec3 point; out vec2 place;
void main() {
    place = reach * corner;
    point = middle + place.x * along + place.y * across;
    gl_Position = clip * vec4(point, 1.0);
}
"""

SCREEN_VERTEX = """
#version 330
in vec2 corner;
void main() { gl_Position = vec4(corner, 1.0, 1.0); }
"""

# What solids, ground and backdrop share.
BACKDROP = """
uniform vec2 pixels;
vec3 backdrop() {
    vec2 at = gl_FragCoord.xy / pixels;
    vec3 low = vec3(0.86, 0.87, 0.88), high = vec3(0.50, 0.60, 0.70);
    vec3 tone = mix(low, high, smoothstep(0.15, 1.15, at.y));
    vec2 off = at - vec2(0.5, 0.45);
    return tone * (1.0 - 0.35 * dot(off, off));
}
"""

LIGHT = """
uniform sampler2DShadow sun_map;
uniform mat4 sun_clip; uniform vec3 sun; uniform float sun_texel;
uniform mat4 sky_clip; uniform vec3 sky; uniform float sky_texel;
uniform vec3 eye;
const vec3 SUN = vec3(1.28, 1.18, 1.02), SKY = vec3(0.42, 0.49, 0.58), BOUNCE = vec3(0.26, 0.245, 0.225);

float seen(sampler2DShadow map, mat4 to_map, vec3 p, float spread) {
    vec3 at = (to_map * vec4(p, 1.0)).xyz;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
    vec2 a = vec2(0.95, 0.33) * spread, b = vec2(-0.33, 0.95) * spread;
    return 0.25 * (texture(map, vec3(at.xy + a, at.z)) + texture(map, vec3(at.xy - a, at.z))
                 + texture(map, vec3(at.xy + b, at.z)) + texture(map, vec3(at.xy - b, at.z)));
}

#ifdef QUICK
uniform sampler2D sky_map;
uniform float sky_depth;
float rises(vec3 at, vec2 off, float d) {
    float h = (at.z - texture(sky_map, at.xy + off).x) * sky_depth - 0.25 * d;
    // What is high up may hover there, and hides less.
    return h > 0.0 ? h * h / (h * h + d * d) * (0.3 + 0.7 / (1.0 + h * h / (60.0 * d * d))) : 0.0;
}
float sky_seen(vec3 p, vec3 n) {
    vec3 at = (sky_clip * vec4(p, 1.0)).xyz;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
    float s = 2.2 / float(textureSize(sky_map, 0).x), d = 2.4 * sky_texel;
    float near = rises(at, vec2(s, 0.4 * s), d) + rises(at, vec2(-0.4 * s, s), d)
               + rises(at, vec2(-s, -0.4 * s), d) + rises(at, vec2(0.4 * s, -s), d);
    float far = rises(at, vec2(1.4 * s, -1.8 * s), 2.2 * d) + rises(at, vec2(1.8 * s, 1.4 * s), 2.2 * d)
              + rises(at, vec2(-1.4 * s, 1.8 * s), 2.2 * d) + rises(at, vec2(-1.8 * s, -1.4 * s), 2.2 * d);
    return 1.0 - 0.1 * (near + far);
}
vec3 sky_light(vec3 p, vec3 n) { return SKY * (0.5 + 0.5 * n.z) * sky_seen(p, n); }
#else
uniform sampler2DShadow sky_map;
vec3 sky_light(vec3 p, vec3 n) {
    float lit = max(dot(n, sky), 0.0);
    if (lit == 0.0) return vec3(0.0);
    return SKY * 2.0 * lit * seen(sky_map, sky_clip, p + 4.0 * sky_texel * n, 3.0 / float(textureSize(sky_map, 0).x));
}
#endif

float fifth(float x) { return x * x * x * x * x; }
float sixty_fourth(float x) { x *= x; x *= x; x *= x; x *= x; x *= x; return x * x; }

vec3 lit(vec3 p, vec3 n, vec3 paint, float gloss) {
    vec3 to_eye = normalize(eye - p), half_way = normalize(to_eye + sun);
    float towards = max(dot(n, sun), 0.0);
    // The more a surface is aslant to the sun, the farther it must be left to stay out of its own shadow.
    vec3 off = sun_texel * ((1.0 + SPREAD) * sqrt(1.0 - towards * towards) * n + 0.8 * sun);
    if (towards > 0.0) towards *= seen(sun_map, sun_clip, p + off, SPREAD / float(textureSize(sun_map, 0).x));
    vec3 above = sky_light(p, n);
    vec3 light = SUN * towards + above + BOUNCE * (0.5 - 0.5 * n.z);
    float rim = fifth(1.0 - max(dot(n, to_eye), 0.0));
    float shine = 0.8 * sixty_fourth(max(dot(n, half_way), 0.0)) * towards;
    vec3 mirrored = SKY * (0.03 + 0.30 * rim) * smoothstep(-0.3, 0.9, reflect(-to_eye, n).z);
    return paint * light + gloss * (SUN * shine + mirrored);
}
"""

SOLID_FRAGMENT = """
in vec3 point; in vec3 facing; in vec3 paint;
out vec4 light;
void main() {
    vec3 n = normalize(gl_FrontFacing ? facing : -facing);
    light = vec4(shown(lit(point, n, paint, 1.0)), 1.0);
}
"""

GROUND_FRAGMENT = """
in vec3 point; in vec2 place;
uniform vec3 up; uniform vec3 middle; uniform vec2 phase; uniform float reach; uniform float cell; uniform float lines;
out vec4 light;
float line(vec2 at, float step_of, float wide) {
    vec2 here = at / step_of, per_pixel = max(fwidth(here), vec2(1e-6));
    vec2 off = abs(fract(here - 0.5) - 0.5) / per_pixel;
    // Lines that come closer than a few pixels to each other fade instead of flickering.
    vec2 dense = clamp(1.5 - 3.0 * per_pixel, 0.0, 1.0);
    vec2 ink = clamp(wide + 0.5 - off, 0.0, 1.0) * dense;
    return max(ink.x, ink.y);
}
void main() {
    float away = length(point - middle) / reach;
    float stay = 1.0 - smoothstep(0.12, 0.95, away);
    vec3 paint = vec3(0.66, 0.665, 0.67);
    float ink = lines * max(0.16 * line(place + phase, cell, 0.6), 0.30 * line(place + phase, 5.0 * cell, 0.9));
    vec3 here = lit(point, up, paint * (1.0 - ink), 0.12);
    light = vec4(shown(mix(backdrop(), here, stay)), 1.0);
}
"""

BACKDROP_FRAGMENT = """
out vec4 light;
void main() { light = vec4(shown(backdrop()), 1.0); }
"""

ADD_FRAGMENT = """
#version 330
uniform sampler2D drawn; uniform float weight;
out vec4 light;
void main() { light = weight * texelFetch(drawn, ivec2(gl_FragCoord.xy), 0); }
"""

# A shoulder that lets bright colours run out softly, sRGB, and noise below the last bit against stripes in gradients.
DEVELOPED = """
vec3 developed(vec3 x) {
    x = mix(x, 1.0 - 0.35 * exp((0.65 - x) / 0.35), step(0.65, x));
    x = mix(12.92 * x, 1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, x));
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    return x + (noise - 0.5) / 255.0;
}
"""

DEVELOP_FRAGMENT = f"""
#version 330
uniform sampler2D drawn;
out vec3 colour;
{DEVELOPED}
void main() {{ colour = developed(max(texelFetch(drawn, ivec2(gl_FragCoord.xy), 0).rgb, 0.0)); }}
"""

# Steps along slanted edges are blurred along the edge, which runs across the gradient of the brightness. A blur that
# leaves the range of the neighbours has met something else, and a shorter one is taken.
SMOOTH_FRAGMENT = """
#version 330
uniform sampler2D drawn;
out vec3 colour;
float brightness(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }
void main() {
    vec2 texel = 1.0 / vec2(textureSize(drawn, 0)), at = gl_FragCoord.xy * texel;
    vec3 middle = texture(drawn, at).rgb;
    float c = brightness(middle);
    float nw = brightness(texture(drawn, at + vec2(-0.5, 0.5) * texel).rgb);
    float ne = brightness(texture(drawn, at + vec2(0.5, 0.5) * texel).rgb);
    float sw = brightness(texture(drawn, at + vec2(-0.5, -0.5) * texel).rgb);
    float se = brightness(texture(drawn, at + vec2(0.5, -0.5) * texel).rgb);
    float low = min(c, min(min(nw, ne), min(sw, se))), high = max(c, max(max(nw, ne), max(sw, se)));
    colour = middle;
    if (high - low < 0.02 + 0.06 * high) return;
    vec2 along = vec2(-(nw + ne) + (sw + se), (nw + sw) - (ne + se));
    along /= max(min(abs(along.x), abs(along.y)), 0.02) + 1e-4;
    along = clamp(along, -6.0, 6.0) * texel;
    vec3 near = 0.5 * (texture(drawn, at + along / 6.0).rgb + texture(drawn, at - along / 6.0).rgb);
    vec3 wide = 0.5 * near + 0.25 * (texture(drawn, at + 0.5 * along).rgb + texture(drawn, at - 0.5 * along).rgb);
    float reached = brightness(wide);
    colour = reached < low || reached > high ? near : wide;
}
"""


def fragment(own: str, quick: bool, spread: float) -> str:
    """The source of a fragment shader with the light in it.

    Args:
        own: What is its own.
        quick: Whether a picture is drawn once, not many times.
        spread: Width of the soft edge of a shadow [texels].
    """
    return f"{_head(quick)}#define SPREAD {spread:.3f}\n{BACKDROP}{LIGHT}{own}"


def backdrop_fragment(quick: bool) -> str:
    """The source of the fragment shader of what is behind everything."""
    return f"{_head(quick)}{BACKDROP}{BACKDROP_FRAGMENT}"


def _head(quick: bool) -> str:
    """What is drawn once is shown as it is drawn; what is drawn many times is developed in the end."""
    if quick:
        return f"#version 330\n#define QUICK\n{DEVELOPED}\nvec3 shown(vec3 light) {{ return developed(light); }}\n"
    return "#version 330\nvec3 shown(vec3 light) { return light; }\n"
