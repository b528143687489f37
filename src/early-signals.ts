/**
 * Signals that come before `serve` can do what they ask for. Without a listener SIGUSR1 opens Node's debugger, to which any local user can speak, and the
 * others end the process. Loaded before all else, which takes most of a start.
 */
import inspector from 'node:inspector'

const SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const
type Signal = (typeof SIGNALS)[number]

/** Milliseconds after the start in which a signal may still be acted on that came before this file was loaded, and between two looks. */
const BEFORE = 1_000
const LOOK = 10

const came = new Set<Signal>()
const keep = (signal: NodeJS.Signals): void => {
  came.add(signal as Signal)
}

/** The command, which --config may come before. Others end by SIGHUP as any program does. */
const args = process.argv.slice(2)
const command = args.find((arg, i) => !arg.startsWith('-') && args[i - 1] !== '--config')

if (command === 'serve') {
  for (const signal of SIGNALS) process.on(signal, keep)
  const looking = setInterval(closeDebugger, LOOK).unref()
  setTimeout(() => {
    clearInterval(looking)
  }, BEFORE).unref()
}

/** Has each signal do something from now on, and once for those that came already. */
export function onSignals(actions: Readonly<Record<Signal, () => void>>): void {
  closeDebugger()
  for (const signal of SIGNALS) {
    process.on(signal, actions[signal])
    process.off(signal, keep)
    if (came.delete(signal)) actions[signal]()
  }
}

/** Closes a debugger that nobody has asked for by an option. */
function closeDebugger(): void {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (inspector.url() !== undefined && !options.some(option => option.includes('--inspect')))
    inspector.close()
}
