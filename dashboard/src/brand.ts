/** Whose dashboard this is: what gateway.yaml says, as the page carries it (src/http/dashboard/branded.ts). */

/** What a link leads to, and how it is called; in the order in which they are shown. */
export const LINKS = [
  ['docs', 'Documentation'],
  ['support', 'Support'],
  ['terms', 'Terms of service'],
] as const

interface Brand {
  /** Null is Tollgate. */
  readonly name: string | null
  /** Path of an image; null is Tollgate's own. */
  readonly logo: string | null
  /** Whether the logo has the name in it. */
  readonly wide: boolean
  readonly links: Readonly<Partial<Record<(typeof LINKS)[number][0], string>>>
}

const carried = document.querySelector<HTMLMetaElement>('meta[name=brand]')?.content

export const brand: Brand =
  carried === undefined ? { name: null, logo: null, wide: false, links: {} } : (JSON.parse(carried) as Brand)

/** How titles call it. */
export const title = brand.name ?? 'Tollgate'

/** Who can help, at the beginning of a sentence. */
export const operator = brand.name ?? 'Whoever runs this gateway'

/** The same within a sentence. */
export const provider = brand.name ?? 'your provider'

/** What answers calls, at the beginning of a sentence. */
export const gateway = brand.name ?? 'The gateway'
