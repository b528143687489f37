const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Resolves at the first SIGTERM or SIGINT, to its name; a second one ends the process as it would without us. */
export function signalled(): Promise<string> {
  return new Promise(resolve => {
    const heard = (signal: string): void => {
      for (const each of SIGNALS) process.off(each, heard)
      resolve(signal)
    }
    for (const signal of SIGNALS) process.on(signal, heard)
  })
}
