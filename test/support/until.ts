import { setTimeout as pause } from 'node:timers/promises'

/** Asks again every 20 ms until `probe` gives something, for what announces itself by no event; fails after the deadline. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  deadlineMs = 15_000,
): Promise<T> {
  const end = Date.now() + deadlineMs
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`)
    await pause(20)
  }
}

/** Fails when a promise takes longer than the deadline, with the name of what was awaited. */
export async function within<T>(what: string, promise: Promise<T>, deadlineMs = 15_000): Promise<T> {
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
