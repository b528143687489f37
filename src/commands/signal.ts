const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Resolves at the first SIGTERM or SIGINT, to its name; a second one ends the process as it would without us, behind `atOnce`. */
export function signalled(atOnce: () => void = () => undefined): Promise<string> {
  return new Promise(resolve => {
    let isFirst = true
    const heard = (signal: (typeof SIGNALS)[number]): void => {
      if (isFirst) {
        isFirst = false
        resolve(signal)
        return
      }
      for (const each of SIGNALS) process.off(each, heard)
      atOnce()
      process.kill(process.pid, signal)
    }
    for (const signal of SIGNALS) process.on(signal, heard)
  })
}
