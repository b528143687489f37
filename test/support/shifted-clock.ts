/** The environment of a process, and of all that it starts, whose clock is so many milliseconds ahead. What measures distances in time is as it was. */
export function shiftedClock(ahead: number): Readonly<Record<string, string>> {
  const program = `const System = Date
    globalThis.Date = class Date extends System {
      constructor(...given) { super(...(given.length === 0 ? [System.now() + ${ahead}] : given)) }
      static now() { return System.now() + ${ahead} }
    }`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}
