import type { Finding } from '../finding.ts'
import type { Partly, RawConfig, RawRoute } from '../raw-config.ts'
import { checkHeaders, type Writer } from '../link/headers.ts'
import { show } from '../words/show.ts'
import { percentage } from '../words/units.ts'
import type { RawTracing } from './types.ts'

/** What `tracing:` gets wrong that a schema cannot see, and what means nothing without it. */
export function checkTracing({ gateway, routes }: Partly<RawConfig>): Finding[] {
  if (gateway === undefined) return []
  const { tracing = {}, trustedProxies = [] } = gateway
  const { endpoint, headers, sample, parent } = tracing
  const findings: Finding[] = []
  // The value itself is not shown: it may hold a password.
  if (endpoint !== undefined && !URL.canParse(endpoint))
    findings.push(finding('endpoint', 'the value is not a URL'))
  findings.push(...checkHeaders(headers, HEADERS, EXPORTER))
  if (sample !== undefined && percentage(sample) === null)
    findings.push(finding('sample', `${show(sample)} is more than all calls`))
  if (parent === 'trusted' && trustedProxies.length === 0)
    findings.push({
      ...finding('parent', 'no traceparent is believed, as trustedProxies is empty', NAME_PROXIES),
      severity: 'warning',
      kind: 'no-trusted-proxies',
    })
  if (parent === 'any')
    findings.push({
      ...finding(
        'parent',
        'every caller can have all its calls traced, and crowd out the spans of others',
        TRUST_SOME,
      ),
      severity: 'warning',
      kind: 'any-traceparent',
    })
  return 'tracing' in gateway ? findings : (routes?.routes ?? []).flatMap(checkRoute)
}

const HEADERS = { file: 'gateway.yaml', path: ['tracing', 'headers'] } as const
const EXPORTER: Writer = { called: 'the exporter', owns: ['content-type', 'user-agent'] }

const TRUST_SOME =
  'write parent: trusted, or `acknowledge: [any-traceparent]` where strangers cannot reach the gateway'
const NAME_PROXIES = 'name the proxies in trustedProxies, or write parent: none'

function checkRoute(route: Partly<RawRoute> | undefined, index: number): Finding[] {
  if (route?.trace !== true) return []
  const message = 'gateway.yaml does not configure tracing, so no traceparent is sent'
  const hint = 'write tracing: { endpoint: … } there, or remove it'
  return [
    {
      file: 'routes.yaml',
      path: ['routes', index, 'trace'],
      at: 'value',
      message,
      hint,
      severity: 'warning',
      kind: 'no-tracing',
    },
  ]
}

function finding(key: keyof RawTracing, message: string, hint?: string): Finding {
  return { file: 'gateway.yaml', path: ['tracing', key], at: 'value', message, hint }
}
