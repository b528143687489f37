/** Figures as they are read. */
const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

/** 1,234,567 */
export const figure = (value: number): string => whole.format(value)

/** 1.25M */
export const brief = (value: number): string => short.format(value)

/** A share of a whole; a dash where the whole is nothing. */
export const share = (part: number, of: number): string => (of === 0 ? '–' : percent.format(part / of))

/** The noun for so many, where the figure stands apart. */
export const plural = (value: number, noun: string): string => `${noun}${value === 1 ? '' : 's'}`

/** "1 endpoint", "2 endpoints". */
export const count = (value: number, noun: string): string => `${figure(value)} ${plural(value, noun)}`

/** How a value differs from an earlier one: "+12%"; a dash where there was none. */
export function trend(value: number, before: number): string {
  if (before === 0) return value === 0 ? '±0%' : 'new'
  const change = Math.round((value / before - 1) * 100)
  return change === 0 ? '±0%' : `${change > 0 ? '+' : '−'}${whole.format(Math.abs(change))}%`
}
