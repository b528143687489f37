import { setTimeout as pause } from 'node:timers/promises'

/**
 * Asks again until `probe` gives something, for what announces itself by no event; fails after the deadline. Every 20 ms at first, and less
 * and less often in the second after that, to 100 ms: what is slow is waited for with little CPU.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  deadlineMs = 30_000,
): Promise<T> {
  const end = Date.now() + deadlineMs
  for (let ms = 20; ; ms = Math.min(ms * 1.1, 100)) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`)
    await pause(ms)
  }
}

/** Fails when a promise takes longer than the deadline, with the name of what was awaited. */
export async function within<T>(what: string, promise: Promise<T>, deadlineMs = 30_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`gave up waiting for ${what}`))
    }, deadlineMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
