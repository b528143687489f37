/** Waiting, but not for ever. */

/** How many timers one after another make up the time: a process that stood still meanwhile skips no more than one. */
const STEPS = 4

/** Whether the event came within `ms` milliseconds, not counting those in which this process could not have heard of it. */
export async function orAfter(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    const wait = (steps: number): void => {
      if (steps === 0) resolve(false)
      else timer = setTimeout(wait, ms / STEPS, steps - 1)
    }
    wait(STEPS)
  })
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
