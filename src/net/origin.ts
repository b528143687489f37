// Scheme, host and perhaps a port; `*` and credentials would never match what a browser sends.
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#\\@*]+$/i
const MAX_LENGTH = 300

/** An origin as browsers send it (lower case, punycode, no default port); null when it is none. */
export function normalizeOrigin(text: string): string | null {
  if (text.length > MAX_LENGTH || !ORIGIN.test(text)) return null
  try {
    const { protocol, host } = new URL(text)
    return host === '' ? null : `${protocol}//${host.toLowerCase()}`
  } catch {
    return null
  }
}
