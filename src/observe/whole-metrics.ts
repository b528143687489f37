/** The metrics of several processes as those of one: what each has counted is added up. */

/** Gauges of which a sum says nothing: what is the same for all, or the worst of them. */
const LARGEST = new Set([
  'tollgate_route_head',
  'tollgate_route_unsupported_methods',
  'tollgate_network_final',
  'tollgate_build_info',
  'tollgate_config_info',
  'tollgate_config_last_reload_success_timestamp_seconds',
  'nodejs_version_info',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
])
const SMALLEST = new Set([
  'tollgate_route_healthy',
  'tollgate_route_lag_blocks',
  'tollgate_config_last_reload_successful',
  'process_start_time_seconds',
  'process_max_fds',
])

/** One metric: its `HELP` and `TYPE`, and its series in the order in which they came. */
interface Metric {
  readonly head: string[]
  readonly values: Map<string, number>
  /** Whether it is a counter or a histogram. */
  grows: boolean
}

const GROWS = /^# TYPE \S+ (counter|histogram)$/
const LINE = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)$/

/** The texts of some processes as one, in Prometheus' format; yields now and then, as a text may have thousands of lines. */
export function* wholeMetrics(texts: readonly string[]): Generator<void, string> {
  const metrics = new Map<string, Metric>()
  for (const text of texts) {
    let metric: Metric | undefined
    let name = ''
    let lines = 0
    for (const line of text.split('\n')) {
      if ((lines += 1) % 100 === 0) yield
      if (line.startsWith('# ')) {
        const [, , about = ''] = line.split(' ', 3)
        if (about !== name) metric = metrics.get((name = about))
        if (metric === undefined) metrics.set(about, (metric = { head: [], values: new Map(), grows: false }))
        if (!metric.head.includes(line)) metric.head.push(line)
        if (GROWS.test(line)) metric.grows = true
      } else if (metric !== undefined) add(metric, name, line)
    }
  }
  const out: string[] = []
  for (const { head, values } of metrics.values()) {
    out.push(...head)
    for (const [series, value] of values) out.push(`${series} ${numberText(value)}`)
    yield
  }
  return `${out.join('\n')}\n`
}

/** What of a text only grows, as the process lives: counters and histograms. */
export function* countersOf(text: string): Generator<void, string> {
  const out: string[] = []
  let help = ''
  let isCounter = false
  let lines = 0
  for (const line of text.split('\n')) {
    if ((lines += 1) % 100 === 0) yield
    if (line.startsWith('# HELP ')) {
      help = line
      isCounter = false
    } else if (line.startsWith('# TYPE ')) {
      isCounter = GROWS.test(line)
      if (isCounter) out.push(help, line)
    } else if (isCounter && line !== '') out.push(line)
  }
  return `${out.join('\n')}\n`
}

function add({ values, grows }: Metric, name: string, line: string): void {
  const [, series = '', labels = '', text = ''] = LINE.exec(line) ?? []
  if (series === '') return
  const key = series + labels
  const said = Number(text.replace(/Inf$/, 'Infinity'))
  const value = grows ? millionths(said) : said
  const before = values.get(key)
  const all = before === undefined ? value : together(name, before, value)
  values.set(key, grows ? millionths(all) : all)
}

/** Rounded, so that a sum does not depend on the order of its parts: Prometheus takes a counter that falls by its last digit for one that began anew. */
function millionths(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6
}

function together(name: string, one: number, other: number): number {
  if (LARGEST.has(name)) return Math.max(one, other)
  if (SMALLEST.has(name)) return Math.min(one, other)
  return one + other
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}
