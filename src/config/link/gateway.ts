import { getHeapStatistics } from 'node:v8'
import ipaddr from 'ipaddr.js'
import { DEFAULTS } from '../build/gateway.ts'
import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { isLoopback } from '../../net/address-range.ts'
import { normalizeOrigin } from '../../net/origin.ts'
import { show } from '../words/show.ts'
import { sharePort } from '../share-port.ts'
import { duration, listenAddress, percentage, size } from '../words/units.ts'
import type { Partly, RawConfig, RawGateway } from '../raw-config.ts'
import { checkTimeout } from './timeouts.ts'

/** What gateway.yaml gets wrong that a schema cannot see. */
export function checkGateway({ gateway = {}, plans: { plans = {} } = {} }: Partly<RawConfig>): Finding[] {
  return [
    ...checkListen(gateway.listen, ['listen']),
    ...checkListen(gateway.admin, ['admin']),
    ...checkListen(gateway.probes, ['probes']),
    ...checkShared(gateway),
    ...(gateway.trustedProxies ?? []).flatMap(checkRange),
    ...(gateway.management?.origins ?? []).flatMap(checkOrigin),
    ...checkManagement(gateway, plans),
    ...Object.entries(gateway.timeouts ?? {}).flatMap(([name, value]) =>
      checkTimeout('gateway.yaml', ['timeouts', name], value),
    ),
    ...checkHeaderTimeout(gateway.timeouts ?? {}),
    ...checkWebhook(gateway.alerts ?? {}),
    ...checkSample(gateway.log?.access?.filter?.sample),
    ...checkLimitsOfAll(gateway),
    ...checkCache(gateway.cache ?? {}),
    ...Object.entries(gateway.dashboard?.links ?? {}).flatMap(checkLink),
  ]
}

function checkListen(written: string | undefined, path: Path): Finding[] {
  if (written === undefined) return []
  const address = listenAddress(written)
  const isIp = written.startsWith('[') ? ipaddr.IPv6.isValid(written.slice(1, written.indexOf(']'))) : true
  if (address !== null && isIp) return []
  return [
    finding(
      path,
      `${show(written)} is not a listen address`,
      'the port is at most 65535, and only IPv6 has brackets',
    ),
  ]
}

/** The second of two listeners would not find its port free, and no other program is to blame. */
function checkShared(gateway: Partly<RawGateway>): Finding[] {
  const { listen = DEFAULTS.listen, admin = DEFAULTS.admin, probes } = gateway
  const listeners = Object.entries({ listen, admin, probes }).flatMap(([name, text]) => {
    const address = text === undefined ? null : listenAddress(text)
    return address === null ? [] : [{ name, text, address }]
  })
  return listeners.flatMap((one, index) =>
    listeners
      .slice(index + 1)
      .filter(other => sharePort(one.address, other.address))
      .map(other =>
        finding(
          [other.name in gateway ? other.name : one.name],
          `${one.name} (${one.text}) and ${other.name} (${other.text}) cannot listen on the same port`,
          'give each a port of its own',
        ),
      ),
  )
}

/** A leaked key manages the account of its owner; who serves strangers should have chosen that. */
function checkManagement(
  { listen = DEFAULTS.listen, management }: Partly<RawGateway>,
  plans: Plans,
): Finding[] {
  const keys = management?.keys ?? DEFAULTS.managementKeys
  const isAll = Object.entries(plans).some(
    ([name, plan]) => name !== 'public' && (plan?.management?.keys ?? keys) === 'all',
  )
  const address = listenAddress(listen)
  if (!isAll || address === null || isLoopback(address.host)) return []
  return [
    {
      ...finding(
        management?.keys === undefined ? ['listen'] : ['management', 'keys'],
        `every API key can manage its account with service_* calls, and other machines reach ${listen}`,
        'write management: { keys: first }, or acknowledge it',
      ),
      severity: 'warning',
      kind: 'keys-that-manage',
    },
  ]
}

type Plans = NonNullable<NonNullable<Partly<RawConfig>['plans']>['plans']>

function checkOrigin(written: string | undefined, index: number): Finding[] {
  if (written === undefined || normalizeOrigin(written) !== null) return []
  return [
    finding(
      ['management', 'origins', index],
      `${show(written)} is not an origin`,
      'write scheme and host, such as https://app.example.com',
    ),
  ]
}

function checkRange(written: string | undefined, index: number): Finding[] {
  if (written === undefined || isRange(written)) return []
  const host = ipaddr.isValid(written)
    ? `write ${written}/${written.includes(':') ? 128 : 32}`
    : 'write it like 10.0.0.0/8 or fd00::/8'
  return [finding(['trustedProxies', index], `${show(written)} is not an address range`, host)]
}

/** `10/8` and `010.0.0.0/8` mean something else to every reader: four decimal parts, or IPv6. */
function isRange(text: string): boolean {
  return text.includes(':') ? ipaddr.IPv6.isValidCIDR(text) : ipaddr.IPv4.isValidCIDRFourPartDecimal(text)
}

/** Node.js refuses to listen with headersTimeout above requestTimeout; an absent one is cut to fit. */
function checkHeaderTimeout({
  headers,
  request = '30s',
}: NonNullable<Partly<RawGateway>['timeouts']>): Finding[] {
  if (headers === undefined || (duration(headers) ?? 0) <= (duration(request) ?? 0)) return []
  return [
    finding(
      ['timeouts', 'headers'],
      `headers may not take longer (${headers}) than the whole request (${request})`,
    ),
  ]
}

function checkWebhook(alerts: NonNullable<Partly<RawGateway>['alerts']>): Finding[] {
  // A value that was dropped as invalid has its problem already.
  const [hasWebhook, hasSecret] = ['webhook' in alerts, 'secret' in alerts]
  if (hasWebhook === hasSecret) return []
  return !hasWebhook
    ? [finding(['alerts', 'secret'], 'there is no webhook whose messages it would sign')]
    : [
        finding(
          ['alerts', 'webhook'],
          'its messages are signed, and there is no secret',
          'write secret: ${ALERTS_SECRET}',
        ),
      ]
}

function checkSample(written: string | undefined): Finding[] {
  if (written === undefined || percentage(written) !== null) return []
  return [finding(['log', 'access', 'filter', 'sample'], `${show(written)} is more than all calls`)]
}

/** Several gateways with one ledger, each of which gives an account all of its plan. */
function checkLimitsOfAll({ postgres, redis }: Partly<RawGateway>): Finding[] {
  if (postgres === undefined || redis !== undefined) return []
  return [
    {
      ...finding(
        ['postgres'],
        'without redis each gateway counts rates, quotas and connections by itself',
        'add redis: { url: ${TOLLGATE_REDIS} }',
      ),
      severity: 'warning',
      kind: 'limits-per-gateway',
    },
  ]
}

/** A host that the schema lets pass may still be none, such as `https://[`. */
function checkLink([name, url]: readonly [string, string | undefined]): Finding[] {
  if (url === undefined || URL.canParse(url)) return []
  return [finding(['dashboard', 'links', name], `${show(url)} is not a link`, 'write https://… or mailto:…')]
}

/** Bytes of the longest answer that may be kept. */
const LONGEST_ENTRY = 1024 ** 2
/** Part of the heap limit above which the cache draws a warning. Node.js derives that limit from the memory of the machine. */
const HEAP_PART = 0.25

function checkCache({ memory, entry }: NonNullable<Partly<RawGateway>['cache']>): Finding[] {
  const bytes = memory === undefined ? 0 : (size(memory) ?? 0)
  const heap = getHeapStatistics().heap_size_limit
  const findings: Finding[] = []
  if (entry !== undefined && (size(entry) ?? 0) > LONGEST_ENTRY)
    findings.push(finding(['cache', 'entry'], `must be at most 1MiB, not ${entry}`))
  if (bytes > heap * HEAP_PART)
    findings.push({
      ...finding(
        ['cache', 'memory'],
        `${String(memory)} is more than a quarter of the heap of a process (${Math.round(heap / 1024 ** 2)}MiB), beside which each worker takes it`,
        'lower it, or write `acknowledge: [large-cache]` where the machine has as much',
      ),
      severity: 'warning',
      kind: 'large-cache',
    })
  return findings
}

function finding(path: Path, message: string, hint?: string): Finding {
  return { file: 'gateway.yaml', path, at: 'value', message, hint }
}
