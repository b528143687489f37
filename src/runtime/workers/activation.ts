/**
 * Sockets that the service manager has bound and passed on (systemd's socket activation, sd_listen_fds(3)): connections wait in them while no gateway
 * runs.
 */

/** Descriptors by what they are for. */
export interface PassedOn {
  readonly listen?: number
  readonly admin?: number
  readonly probes?: number
}

const FIRST = 3
/** Which is which where `FileDescriptorName=` does not say so. */
const ORDER = ['listen', 'admin', 'probes'] as const

/** What was passed on to this process; nothing where the variables are meant for another one. */
export function passedOn(
  env: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): PassedOn {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = '' } = env
  if (LISTEN_PID !== String(pid)) return {}
  const names = LISTEN_FDNAMES.split(':')
  const passed: Partial<Record<(typeof ORDER)[number], number>> = {}
  for (let i = 0; i < Math.min(Number(LISTEN_FDS), ORDER.length); i++) {
    const isFree = (name: (typeof ORDER)[number]): boolean => passed[name] === undefined
    const name = ORDER.find(one => one === names[i] && isFree(one)) ?? ORDER.find(isFree)
    if (name !== undefined) passed[name] = FIRST + i
  }
  return passed
}

/** The environment without what says so: the sockets are this process's. */
export function withoutPassedOn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^LISTEN_(PID|FDS|FDNAMES)$/.test(name)))
}
