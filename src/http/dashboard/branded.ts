/** The files of the dashboard that the configuration decides: its page, the logo and the colours. */
import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { DashboardConfig } from '../../config/dashboard/types.ts'
import type { Snapshot } from '../../snapshot/types.ts'
import { accentSheet, inkOn } from './accent.ts'
import type { Asset } from './asset.ts'

/** Kept under names that stay, and asked for again: processes that serve one dashboard take an edit one after the other. */
const LOGO = '/assets/logo'
const ACCENT = '/assets/accent.css'

/** The dashboard's own accent, as in dashboard/src/style/colours.css. */
const OWN_ACCENT = '#3f51c7'

/** The files by path, made once for each configuration; none where the dashboard is Tollgate's own. */
export function brandedFiles(
  page: Asset,
): (snapshot: Pick<Snapshot, 'gateway' | 'logo'>) => ReadonlyMap<string, Asset> {
  let made: { readonly of: DashboardConfig | null; readonly files: ReadonlyMap<string, Asset> } = {
    of: null,
    files: new Map(),
  }
  return ({ gateway: { dashboard }, logo }) => {
    if (made.of !== dashboard) made = { of: dashboard, files: filesOf(page, dashboard, logo) }
    return made.files
  }
}

function filesOf(
  page: Asset,
  dashboard: DashboardConfig | null,
  content: string | null,
): ReadonlyMap<string, Asset> {
  const files = new Map<string, Asset>()
  if (dashboard === null) return files
  const { name, accent, logo } = dashboard
  if (logo !== null && content !== null)
    files.set(LOGO, fileOf(logo.type, Buffer.from(content, 'base64'), true))
  else if (name !== null) files.set(LOGO, fileOf('image/svg+xml', initial(name, accent ?? OWN_ACCENT), true))
  if (accent !== null) files.set(ACCENT, fileOf('text/css; charset=utf-8', accentSheet(accent)))
  const html = branded(page.body.toString(), dashboard, files)
  return files.set('/', fileOf(page.type, html))
}

function fileOf(type: string, content: string | Buffer, isImage = false): Asset {
  const body = Buffer.from(content)
  const etag = `"${hash('sha256', body, 'base64url')}"`
  const gzip = type === 'image/png' ? null : gzipSync(body)
  return { type, body, gzip, etag, hashed: false, isImage }
}

/** The page with the name as its title, the logo as its icon, and what the program shows of both (dashboard/src/brand.ts). */
function branded(
  html: string,
  { name, logo, links }: DashboardConfig,
  files: ReadonlyMap<string, Asset>,
): string {
  const brand = { name, logo: files.has(LOGO) ? LOGO : null, wide: logo?.wide ?? false, links }
  const head = [`<meta name="brand" content="${escaped(JSON.stringify(brand))}" />`]
  if (files.has(ACCENT)) head.push(`<link rel="stylesheet" href="${ACCENT}" />`)
  const named =
    name === null ? html : html.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(name)}</title>`)
  const marked =
    brand.logo === null
      ? named
      : named.replace(/<link rel="icon"[^<>]*>/, `<link rel="icon" href="${LOGO}" />`)
  return marked.replace('</head>', () => `${head.join('')}</head>`)
}

/** The first letter of a name on its colour. */
function initial(name: string, accent: string): string {
  const [letter = ''] = name.toUpperCase()
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    `<rect width="32" height="32" rx="8" fill="${accent}"/>`,
    `<text x="16" y="22.5" text-anchor="middle" font-family="system-ui,sans-serif" font-size="18" font-weight="650" fill="${inkOn(accent)}">`,
    `${escaped(letter)}</text></svg>`,
  ].join('')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, one => ENTITIES[one]!)
}
