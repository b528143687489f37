/** How the program was called: what hints say to run is then what can be pasted. */
import { basename, relative } from 'node:path'
import { quoted } from '../../config/words/shell-word.ts'
import type { Io } from '../command.ts'

type Env = Io['env']

/** The words before a command, from the script that Node.js runs. */
export function programOf(script: string, env: Env, cwd: string): string {
  if (basename(script).replace(/\.\w+$/, '') === 'tollgate')
    return env['npm_command'] === 'exec' ? 'npx tollgate' : 'tollgate'
  const near = relative(cwd, script)
  return `node ${quoted(near.startsWith('..') ? script : near)}`
}

/** A command as it can be typed; with the configuration directory where that is not the working directory. */
export function typed({ program }: Pick<Io, 'program'>, words: readonly string[], config = '.'): string {
  const place = config === '.' ? [] : ['--config', config]
  return [program, ...[...words, ...place].map(quoted)].join(' ')
}
