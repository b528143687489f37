/** Waiting, but not for ever. */

/** Whether the event came within `ms` milliseconds. */
export async function orAfter(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, ms, false)
  })
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
