import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'

/** The secrets of one run, by what they are; each is a text that stands nowhere else. */
export type Canaries = Readonly<Record<string, string>>

/** What an operator writes about one route, each part with a canary of that route. */
export function routeCanaries(slug: string): Canaries {
  const part = (what: string) => `cnryup${slug}${what}`
  return {
    [`user of ${slug}`]: part('user'),
    [`password of ${slug}`]: part('pass'),
    [`path of ${slug}`]: part('path'),
    [`query of ${slug}`]: part('query'),
    [`header of ${slug}`]: part('header'),
    [`credentials of ${slug} as they are sent`]: credentials(slug),
  }
}

/** Basic authentication of a route. */
export function credentials(slug: string): string {
  return Buffer.from(`cnryup${slug}user:cnryup${slug}pass`).toString('base64')
}

/** A route's URL with all its canaries. */
export function canaryUrl(scheme: string, host: string, slug: string): string {
  return `${scheme}://cnryup${slug}user:cnryup${slug}pass@${host}/cnryup${slug}path/v2?k=cnryup${slug}query`
}

/** The forms in which a secret could come out. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Base64 depends on where in three bytes the secret begins; the middle of each form does not depend on its neighbours.
  const shifted = [0, 1, 2].map(shift =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  return [secret, secret.toLowerCase(), bytes.toString('hex'), encodeURIComponent(secret), ...shifted].filter(
    form => form.length >= 8,
  )
}

/** Which of the secrets a text or file holds, in any form. */
export function found(text: string | Buffer, secrets: Canaries): string[] {
  const haystack = typeof text === 'string' ? Buffer.from(text) : text
  return Object.entries(secrets)
    .filter(([, secret]) => forms(secret).some(form => haystack.includes(form)))
    .map(([name]) => name)
}

/** Fails with the names of the secrets that a text holds. */
export function holdsNone(t: Test, text: string | Buffer, secrets: Canaries, what: string): void {
  t.same(found(text, secrets), [], what)
}

/** Every file below a directory. */
export async function filesBelow(dir: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = new Map<string, Buffer>()
  for (const entry of entries)
    if (entry.isFile()) files.set(entry.name, await readFile(join(entry.parentPath, entry.name)))
  return files
}
