/**
 * CPU that a call pays to be found by equal ones while it is in flight: in the chains of `call/share/flights.ts`, and in a Map by whole keys. Each
 * stays in flight until 256 others have come, as calls do, so that what either leaves to the garbage collector counts.
 */
import { keyOf } from '../src/call/cache/key.ts'
import { Flight } from '../src/call/share/flight.ts'
import type { Passenger } from '../src/call/share/flight.ts'
import { flightKey, Flights } from '../src/call/share/flights.ts'
import type { MethodRow } from '../src/snapshot/types.ts'
import { median } from './parts/cpu.ts'
import { ROUNDS } from './parts/effort.ts'

const CALLS = Number(process.env['CALLS'] ?? 1_000_000)
const IN_FLIGHT = 256
/** Calls of one turn of the event loop. */
const TURN = 500

/** A call, its params a slice of the message that it came in. */
interface Came {
  readonly row: MethodRow
  readonly method: string
  readonly params: string
}

/** Where calls are found while they are in flight. */
interface Table {
  readonly begin: (call: Came) => Flight
  readonly end: (flight: Flight) => void
}

const leader: Passenger = {
  need: { tip: true, atLeast: null, mayProbe: true },
  caller: 'bench',
  departure: () => null,
}
const rows = Array.from({ length: 40 }, () => ({}) as MethodRow)
const flights = new Flights()
const map = new Map<string, Flight>()

const anyone = (): boolean => true
const nothing = (): void => undefined

function alone({ row, params }: Came, method: string): Flight {
  return new Flight({ row: flights.of(row), method, params, hash: 0 }, leader, null)
}

const nowhere: Table = { begin: call => alone(call, call.method), end: nothing }
const chains: Table = {
  begin: call => {
    const key = flightKey(flights.of(call.row), call.method, call.params)
    return flights.find(key, anyone) ?? flights.begin(key, leader, null) ?? alone(call, call.method)
  },
  end: flight => {
    flights.end(flight)
  },
}
const mapped: Table = {
  begin: call => {
    const key = keyOf('eth', call.method, call.params)
    let flight = map.get(key)
    if (flight === undefined) map.set(key, (flight = alone(call, key)))
    return flight
  },
  end: ({ key }) => {
    map.delete(key.method)
  },
}

let came = 0

function next(): Came {
  came += 1
  const to = `0x${(came * 2_654_435_761).toString(16).padStart(40, '0')}`
  const params = `[{"to":"${to}","data":"0x70a08231${to.slice(2).padStart(64, '0')}"},"latest"]`
  const body = `{"jsonrpc":"2.0","id":${came},"method":"eth_call","params":${params}}`
  const text = Buffer.from(body, 'latin1').toString('latin1')
  return { row: rows[came % rows.length]!, method: 'eth_call', params: text.slice(-params.length - 1, -1) }
}

/** Microseconds of CPU a call. */
async function cost({ begin, end }: Table): Promise<number> {
  const inFlight: Flight[] = []
  const before = process.cpuUsage()
  for (let n = 0; n < CALLS; n += 1) {
    if (n % TURN === 0) await new Promise(resolve => setImmediate(resolve))
    const at = n % IN_FLIGHT
    const over = inFlight[at]
    if (over !== undefined) end(over)
    inFlight[at] = begin(next())
  }
  for (const flight of inFlight) end(flight)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

const tables = [
  { title: 'in chains', table: chains, costs: [] as number[] },
  { title: 'in a Map', table: mapped, costs: [] as number[] },
]
for (let round = -1; round < ROUNDS; round += 1)
  for (const { table, costs } of tables) {
    const [without, withIt] = [await cost(nowhere), await cost(table)]
    if (round >= 0) costs.push(withIt - without)
  }
console.log(`${ROUNDS} × ${CALLS} calls, ${IN_FLIGHT} in flight\n| found | CPU a call |\n|---|---|`)
for (const { title, costs } of tables) console.log(`| ${title} | ${median(costs).toFixed(2)} µs |`)
