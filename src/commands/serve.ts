/** `tollgate serve`: runs the gateway until it is told to stop. */
import { startApp } from '../app/app.ts'
import { formatProblem } from '../config/problem.ts'
import { openLog } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import { LogOutput } from '../observe/log-output.ts'
import { tellServiceManager } from '../app/service-manager.ts'
import { readArguments } from './command.ts'
import type { Command } from './command.ts'
import { signalled } from './signal.ts'

export const serve: Command = {
  usage: `tollgate serve [--config DIR]

Reads networks.yaml, routes.yaml, methods.yaml, plans.yaml and gateway.yaml in DIR (default: here), and serves until
SIGTERM or SIGINT; SIGHUP, and any edit of the files, loads them again. At the end it finishes the calls in flight
and exits 0. Logs JSON lines on stdout; lines that cannot be written there are dropped and counted on stderr. The line
with "msg":"ready" has the addresses. Under systemd (Type=notify) it reports them there too.

  TOLLGATE_MASTER_KEY   32 bytes in base64 that seal the keys at rest; default: dataDir/master.key, made at first use`,

  async run(args, io) {
    const { config } = readArguments(args, [])
    const output = new LogOutput(process.stdout.fd, sentence => {
      io.err(sentence)
    })
    const makeLog = (level: string): Logger => openLog(level, output)
    const app = await startApp({ dir: config, env: io.env, makeLog })
    for (const problem of app.warnings) app.log.warn(formatProblem(problem))
    const stopping = signalled()
    // A file that may not grow (RLIMIT_FSIZE) is an error of the write, not the end of the process.
    process.on('SIGXFSZ', () => undefined)
    process.on('SIGHUP', () => {
      app.reload()
    })
    const { listen, admin, probes } = app
    app.log.info({ listen, admin, ...(probes === undefined ? {} : { probes }) }, 'ready')
    const tell = async (...states: readonly string[]): Promise<void> => {
      const why = await tellServiceManager(io.env, ...states)
      if (why !== null) app.log.warn(`systemd was not notified of ${states[0] ?? ''}: ${why}`)
    }
    void tell('READY=1', `STATUS=serving on ${listen}`)
    app.log.info({ signal: await stopping }, 'draining')
    void tell('STOPPING=1', 'STATUS=finishing the calls in flight')
    await app.stop()
    app.log.info('stopped')
    await output.close()
    return 0
  },
}
