import type { ListenAddress } from '../types.ts'

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** What quotas, rates and bills count, and a call costs: `1 request unit`, `2 request units`. */
export function requestUnits(count: number): string {
  return counted(count, 'request unit')
}

/** Milliseconds of `250ms`, `10s`, `5m`, `1h` or `30d`; null when it is none of these. */
export function duration(text: string): number | null {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  return count === undefined || unit === undefined ? null : Number(count) * (MILLISECONDS[unit] ?? NaN)
}

/** Bytes of `64KiB`, `1MiB`, `1GiB`, `512B` or a plain number; null when it is none of these. */
export function size(written: string | number): number | null {
  if (typeof written === 'number') return written
  const [, count, unit] = /^(\d+)(B|KiB|MiB|GiB)$/.exec(written) ?? []
  return count === undefined || unit === undefined ? null : Number(count) * (BYTES[unit] ?? NaN)
}

/** The part that `1%` or `0.5%` is of all; null where it is none, or more than all. */
export function percentage(text: string): number | null {
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  const part = Number(number) / 100
  return number === undefined || part > 1 ? null : part
}

/** The two parts of `host:port`, such as `127.0.0.1:8080` or `[::]:8080`; null when it has not both. */
export function listenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65535) return null
  return { host, port: Number(port) }
}
