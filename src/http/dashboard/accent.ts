/** The dashboard's colours from the one that the operator has: as it is where nothing has to be read, as near as can be read elsewhere. */

/** Red, green and blue, from 0 to 255. */
type Colour = readonly [number, number, number]

const BLACK: Colour = [0, 0, 0]
const WHITE: Colour = [255, 255, 255]

/** WCAG 2.2, 1.4.3: the least contrast of text. */
const READABLE = 4.5
/** The least contrast of a button with the page: what it says is read on it, so it only has to be seen. */
const VISIBLE = 1.5

/** Where the accent is used: the page and its cards (dashboard/src/style/colours.css), and what text turns to for more contrast. */
const LOOKS = {
  light: { paper: parse('#f6f7f9'), card: WHITE, end: BLACK, soft: 0.1 },
  dark: { paper: parse('#12151d'), card: parse('#1a1e29'), end: WHITE, soft: 0.22 },
} as const

/** The style sheet that lays `#rrggbb` over the dashboard's own accent, light and dark. */
export function accentSheet(accent: string): string {
  const brand = parse(accent)
  return `:root{${rules(brand, 'light')}}@media screen and (prefers-color-scheme:dark){:root{${rules(brand, 'dark')}}}`
}

/** Black or white, whichever can be read on a colour; white where both can. */
export function inkOn(accent: string): string {
  return written(inkOf(parse(accent)))
}

function rules(brand: Colour, look: keyof typeof LOOKS): string {
  const { paper, card, end, soft: part } = LOOKS[look]
  const soft = mix(card, brand, part)
  const text = toward(end, brand, READABLE, [paper, card, soft])
  const fill = toward(end, brand, VISIBLE, [paper, card])
  const ink = inkOf(fill)
  const colours = {
    accent: text,
    'accent-strong': mix(text, end, 0.2),
    'accent-soft': soft,
    'accent-fill': fill,
    // Away from its text.
    'accent-fill-strong': mix(fill, ink === WHITE ? BLACK : WHITE, 0.15),
    'on-accent': ink,
  }
  const list = Object.entries(colours).map(([name, colour]) => `--${name}:${written(colour)}`)
  // Without a hue links would look like text.
  return [...list, ...(isGrey(brand) ? ['--accent-underline:currentColor'] : [])].join(';')
}

/** The nearest mixture with `end` that has the contrast with each of the grounds. */
function toward(end: Colour, colour: Colour, least: number, grounds: readonly Colour[]): Colour {
  for (let part = 0; part < 1; part += 0.02) {
    const mixed = mix(colour, end, part)
    if (grounds.every(ground => contrast(mixed, ground) >= least)) return mixed
  }
  return end
}

function isGrey(colour: Colour): boolean {
  return Math.max(...colour) - Math.min(...colour) < 32
}

/** Of any colour one of the two has a contrast of 4.58 at least. */
function inkOf(ground: Colour): Colour {
  return contrast(WHITE, ground) >= READABLE ? WHITE : BLACK
}

function mix(one: Colour, other: Colour, part: number): Colour {
  const [red, green, blue] = one.map((value, i) => Math.round(value + (other[i]! - value) * part))
  return [red!, green!, blue!]
}

/** The contrast ratio of WCAG 2.2. */
function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

/** The relative luminance of WCAG 2.2. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map(value => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function parse(text: string): Colour {
  const [red, green, blue] = [1, 3, 5].map(at => Number.parseInt(text.slice(at, at + 2), 16))
  return [red!, green!, blue!]
}

function written(colour: Colour): string {
  return `#${colour.map(value => value.toString(16).padStart(2, '0')).join('')}`
}
