/** What OTLP says of its JSON: the messages of opentelemetry-proto v1, as proto3 writes them, with ids in hex (OTLP 1.x, "JSON Protobuf Encoding"). */

/** Says what is wrong at a place. */
type Check = (value: unknown, at: string, fault: (what: string) => void) => void

/** Everything wrong in the body of an export: its place, and what should be there. */
export function otlpFaults(body: string): string[] {
  const faults: string[] = []
  exported(JSON.parse(body) as unknown, '', what => faults.push(what))
  return faults
}

const written =
  (isRight: (value: unknown) => boolean, what: string): Check =>
  (value, at, fault) => {
    if (!isRight(value)) fault(`${at} is not ${what}: ${JSON.stringify(value)}`)
  }

const text = (form: RegExp, what: string): Check =>
  written(value => typeof value === 'string' && form.test(value), what)

const upTo = (most: number, what: string): Check =>
  written(value => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most, what)

const listOf =
  (each: Check): Check =>
  (value, at, fault) => {
    if (Array.isArray(value)) for (const [i, one] of value.entries()) each(one, `${at}[${i}]`, fault)
    else fault(`${at} is not a list`)
  }

/** A map of the fields that are named, of which some have to be there. */
const fieldsOf =
  (fields: Readonly<Record<string, Check>>, needed: readonly string[] = []): Check =>
  (value, at, fault) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) fault(`${at} is not a message`)
    else {
      for (const name of needed) if (!(name in value)) fault(`${at} has no ${name}`)
      for (const [name, one] of Object.entries(value)) {
        const check = fields[name]
        if (check === undefined) fault(`${at} has an unknown field ${name}`)
        else check(one, `${at}.${name}`, fault)
      }
    }
  }

const string = text(/^/, 'text')
const uint32 = upTo(2 ** 32 - 1, 'a uint32')
const traceId = text(/^(?!0{32})[0-9a-f]{32}$/, 'the id of a trace')
const spanId = text(/^(?!0{16})[0-9a-f]{16}$/, 'the id of a span')
const time = text(/^[1-9]\d{18}$/, 'nanoseconds of today as text')

const oneValue = fieldsOf({
  stringValue: string,
  boolValue: written(value => typeof value === 'boolean', 'true or false'),
  intValue: text(/^(0|-?[1-9]\d{0,18})$/, 'an int64 as text'),
  doubleValue: written(Number.isFinite, 'a number'),
})

const value: Check = (given, at, fault) => {
  oneValue(given, at, fault)
  if (Object.keys(given as object).length !== 1) fault(`${at} is not one value`)
}

const attributes: Check = (given, at, fault) => {
  listOf(fieldsOf({ key: text(/./, 'a name'), value }, ['key', 'value']))(given, at, fault)
  const keys = (given as readonly { readonly key: string }[]).map(({ key }) => key)
  if (new Set(keys).size !== keys.length) fault(`${at} has a key twice`)
}

const link = fieldsOf(
  { traceId, spanId, traceState: string, attributes, droppedAttributesCount: uint32, flags: uint32 },
  ['traceId', 'spanId'],
)

const span = fieldsOf(
  {
    traceId,
    spanId,
    parentSpanId: spanId,
    traceState: string,
    flags: uint32,
    name: text(/./, 'a name'),
    kind: upTo(5, 'a kind'),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    droppedAttributesCount: uint32,
    links: listOf(link),
    droppedLinksCount: uint32,
    events: listOf(fieldsOf({})),
    droppedEventsCount: uint32,
    status: fieldsOf({ code: upTo(2, 'a status'), message: string }),
  },
  ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
)

const scope = fieldsOf({ name: string, version: string })
const resource = fieldsOf({ attributes, droppedAttributesCount: uint32 })
const scopeSpans = fieldsOf({ scope, spans: listOf(span), schemaUrl: string }, ['scope', 'spans'])
const resourceSpans = fieldsOf({ resource, scopeSpans: listOf(scopeSpans), schemaUrl: string }, [
  'resource',
  'scopeSpans',
])
const exported = fieldsOf({ resourceSpans: listOf(resourceSpans) }, ['resourceSpans'])
