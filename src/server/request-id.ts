import { randomBytes } from 'node:crypto'

const boot = randomBytes(6).toString('base64url')
let count = 0

/** A name for one request, unique across restarts; tells nothing about load to who sees few of them. */
export function nextRequestId(): string {
  count += 1
  return `${boot}${count.toString(36)}`
}
