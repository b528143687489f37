/** A span as it waits to be exported: what of it is OpenTelemetry's own is added then. */

/** One span. Every string in it comes from the snapshot or from us. */
export interface Span {
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly traceId: string
  readonly spanId: string
  /** Null for the first of its trace. */
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | null
  /** A trace that it belongs to by the word of somebody who is not believed; null where nobody says so. */
  readonly link: { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean } | null
  /** Milliseconds since the Unix epoch. */
  readonly begin: number
  readonly end: number
  readonly attributes: Attributes
  /** What went wrong, in a word; null where nothing did. */
  readonly error: string | null
}

/** By their names. */
export type Attributes = Readonly<Record<string, string | number | boolean>>
