/** Whose dashboard it is, as gateway.yaml says it. */

/** What a link of the dashboard leads to. */
export type LinkName = 'support' | 'docs' | 'terms'

/** A logo as its file was when the configuration was loaded; `Config.logo` has the content. */
export interface LogoFile {
  /** Absolute. */
  readonly file: string
  readonly type: 'image/svg+xml' | 'image/png'
  /** At least twice as wide as high, so that it has the name in it. */
  readonly wide: boolean
  /** Hex. */
  readonly sha256: string
}

/** The look of the dashboard. */
export interface DashboardConfig {
  /** Who runs the gateway; null is Tollgate. */
  readonly name: string | null
  readonly logo: LogoFile | null
  /** `#rrggbb` in lower case; null is the dashboard's own. */
  readonly accent: string | null
  /** URLs with https: or mailto:. */
  readonly links: Readonly<Partial<Record<LinkName, string>>>
}
