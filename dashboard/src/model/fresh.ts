/** Fetches again what is on the screen, as long as somebody seems to look at it. */
import type { Resource } from './resource.ts'

/** Milliseconds between two looks. */
const EVERY = 15_000
/** Milliseconds without a key or a touch after which a page is left alone, so that its session can end. */
const PATIENCE = 10 * 60_000

let lastInput = Date.now()
const noticeInput = (): void => {
  lastInput = Date.now()
}
for (const event of ['pointerdown', 'pointermove', 'keydown', 'scroll'])
  addEventListener(event, noticeInput, { passive: true, capture: true })

const watched = new Map<Resource<unknown>, number>()

/** Several parts of a page may look at the same thing, and a reply may take longer than the next look. */
function loadIdle(resource: Resource<unknown>): void {
  if (!resource.known.peek().busy && !resource.isFresh()) void resource.load()
}

function refresh(): void {
  if (document.visibilityState === 'hidden' || Date.now() - lastInput > PATIENCE) return
  for (const resource of watched.keys()) loadIdle(resource)
}

setInterval(refresh, EVERY)
document.addEventListener('visibilitychange', refresh)

/** Fetches a resource now and from time to time; returns how to stop. */
export function keepFresh(resource: Resource<unknown>): () => void {
  watched.set(resource, (watched.get(resource) ?? 0) + 1)
  loadIdle(resource)
  return () => {
    const left = (watched.get(resource) ?? 1) - 1
    if (left === 0) watched.delete(resource)
    else watched.set(resource, left)
  }
}
