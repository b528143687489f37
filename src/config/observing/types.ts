/** `log:` and `tracing:` of gateway.yaml: what is written of calls, which are traced, and where their spans go. */

/** What is written to standard output, and of calls. */
export interface LogConfig {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Null is none. */
  readonly access: AccessLogConfig | null
}

/** The access log: a line for each call. */
export interface AccessLogConfig {
  /** The path of a file, or `stdout`. */
  readonly to: string
  /** What lines have of the client's address: nothing, its network (IPv4 /24, IPv6 /48), or all of it. */
  readonly address: 'none' | 'prefix' | 'full'
  /** Which calls are written: those that any part of it names; null is all. */
  readonly filter: {
    /** As it is written: 429, or 5xx. */
    readonly status: readonly string[]
    /** Milliseconds; null names none. */
    readonly slower: number | null
    /** Of all calls, from 0 to 1. */
    readonly sample: number
  } | null
}

/** What gateway.yaml says of traces. `endpoint` and `headers` are the operator's secrets. */
export interface TracingConfig {
  /** Where spans are posted to: OTLP over HTTP. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** The part of all calls that is traced, from 0 to 1. */
  readonly sample: number
  /** Which other calls are traced all the same, known at their end; null is none. */
  readonly keep: {
    /** Calls that failed through a fault of ours or of an upstream. */
    readonly errors: boolean
    /** Milliseconds: calls that took at least as long; null names none. */
    readonly slow: number | null
  } | null
  /** Whose `traceparent` is believed: nobody's, that of trustedProxies, or everybody's. */
  readonly parent: 'none' | 'trusted' | 'any'
}

/** The same as it is written. */
export interface RawTracing {
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>>
  readonly sample?: string
  readonly keep?: { readonly errors?: boolean; readonly slow?: string }
  readonly parent?: TracingConfig['parent']
}
