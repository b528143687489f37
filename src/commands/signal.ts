/** Resolves at the first SIGTERM or SIGINT, to its name; a second one ends the process as it would without us. */
export function signalled(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })
}
