import t from 'tap'
import { readFileSync } from 'node:fs'
import { accentSheet, inkOn } from '../../src/http/dashboard/accent.ts'

/** The colours of a style sheet, by name, in light and in dark. */
function coloursOf(sheet: string): Record<string, string>[] {
  const [light, dark] = sheet.split('@media')
  return [light!, dark!].map(part =>
    Object.fromEntries(
      [...part.matchAll(/--([\w-]+): ?(#[0-9a-f]{3,6});?/g)].map(([, name, value]) => [name!, value!]),
    ),
  )
}

function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.replaceAll(/[0-9a-f]/g, '$&$&') : colour
  const [red, green, blue] = [1, 3, 5].map(at => {
    const value = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one) + 0.05, luminance(other) + 0.05]
  return Math.max(a / b, b / a)
}

const own = coloursOf(readFileSync(new URL('../../dashboard/src/style/colours.css', import.meta.url), 'utf8'))
const steps = ['00', '40', '80', 'c0', 'ff']
const all = steps.flatMap(red => steps.flatMap(green => steps.map(blue => `#${red}${green}${blue}`)))

t.test('whatever the accent is, what is written in it or on it can be read, light and dark', t => {
  const least = { link: 99, hovered: 99, button: 99, chosen: 99, seen: 99 }
  for (const accent of all)
    for (const [i, branded] of coloursOf(accentSheet(accent)).entries()) {
      const colours = { ...own[i], ...branded }
      const ratio = (one: string, ...grounds: string[]) =>
        Math.min(...grounds.map(ground => contrast(colours[one]!, colours[ground]!)))
      least.link = Math.min(least.link, ratio('accent', 'paper', 'card', 'accent-soft'))
      least.hovered = Math.min(least.hovered, ratio('accent-strong', 'paper', 'card', 'accent-soft'))
      least.button = Math.min(least.button, ratio('on-accent', 'accent-fill', 'accent-fill-strong'))
      least.chosen = Math.min(least.chosen, ratio('ink', 'accent-soft'))
      least.seen = Math.min(least.seen, ratio('accent-fill', 'paper', 'card'))
    }
  for (const [what, ratio] of Object.entries(least))
    t.ok(ratio >= (what === 'seen' ? 1.5 : 4.5), `${what}: ${ratio.toFixed(2)}`)
  t.end()
})

t.test('a colour that can be read is used as it is', t => {
  const [light, dark] = coloursOf(accentSheet('#0a6b4f'))
  t.match(light, { accent: '#0a6b4f', 'accent-fill': '#0a6b4f', 'on-accent': '#ffffff' })
  t.match(dark, { 'accent-fill': '#0a6b4f', 'on-accent': '#ffffff' })
  t.match(coloursOf(accentSheet('#ffcc00'))[1], { accent: '#ffcc00', 'accent-fill': '#ffcc00' })
  t.match(accentSheet('#222222'), '--accent-underline:currentColor', 'a link in grey is underlined')
  t.notMatch(accentSheet('#0a6b4f'), 'underline')
  t.equal(inkOn('#ffcc00'), '#000000')
  t.equal(inkOn('#0a6b4f'), '#ffffff')
  t.end()
})
