import { trimSlashes } from '../net/http-path.ts'

/** The parts of a base URL with its placeholder still in it. */
export interface BaseUrl {
  readonly scheme: 'http' | 'https'
  /** With the port. */
  readonly host: string
  /** Without a trailing slash. */
  readonly path: string
}

const SUBDOMAIN = '{subdomain}'
const SLUG = '{slug}'
const PORT = '{port}'

/** The base URL with the port that the gateway listens on where it says `{port}`. */
export function withPort(text: string, port: number): string {
  return text.replaceAll(PORT, String(port))
}

/** Splits a base URL; null when it is none. */
export function parseBaseUrl(text: string): BaseUrl | null {
  const [, scheme, host, path] = /^(https?):\/\/([^/?#@\s]+)(\/[^?#\s]*)?$/.exec(text) ?? []
  if ((scheme !== 'http' && scheme !== 'https') || host === undefined) return null
  if (!URL.canParse(`${scheme}://${host.replaceAll(/[{}]/g, '')}`)) return null
  return { scheme, host, path: trimSlashes(path ?? '') }
}

/** What is wrong with a base URL; null when nothing is. */
export function baseUrlFault(text: string): { message: string; hint: string } | null {
  const hint = `put ${SUBDOMAIN} in the host (http://${SUBDOMAIN}.localhost:8080) or ${SLUG} in the path (http://127.0.0.1:8080/${SLUG})`
  const ported = withPort(text, 1)
  const url = parseBaseUrl(ported)
  if (url === null)
    return {
      message: 'the base URL is not an http:// or https:// URL without user, query and fragment',
      hint,
    }
  const placeholders = ported.match(/\{[^{}]*\}/g) ?? []
  const inHost = url.host.includes(SUBDOMAIN)
  const inPath = url.path.split('/').includes(SLUG)
  if (placeholders.length === 1 && inHost !== inPath) return null
  return { message: 'the base URL must tell the networks apart in exactly one place', hint }
}

/**
 * The host that the dashboard has by default, without port: the pattern without `{subdomain}.`, or the one host that all networks
 * share in the path form; null with any other pattern.
 */
export function dashboardHostOf(text: string): string | null {
  const host = (parseBaseUrl(text)?.host ?? '').replace(/:\d+$/, '').toLowerCase()
  if (host.startsWith(`${SUBDOMAIN}.`)) return host.slice(SUBDOMAIN.length + 1)
  return host === '' || host.includes(SUBDOMAIN) ? null : host
}
