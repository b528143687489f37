/** The process of a command: what it is called with, and where its output goes. */
import type { Io } from './commands/command.ts'
import { programOf } from './commands/output/called-as.ts'
import { Output } from './commands/output/output.ts'
import { tellLost } from './commands/output/refused.ts'
import { runProgram } from './commands/program.ts'

// For `ps` and `top`; a key that stands in the arguments is not shown to others of the machine any longer.
process.title = 'tollgate'

const stdout = new Output(process.stdout)
const stderr = new Output(process.stderr)
const io: Io = {
  out: (text, done, once) => {
    stdout.line(text, done, once)
  },
  drained: () => stdout.drained(),
  err: text => {
    stderr.line(text)
  },
  env: process.env,
  program: programOf(process.argv[1] ?? '', process.env, process.cwd()),
}

const code = await runProgram(process.argv.slice(2), io)
const lost = await stdout.written()
process.exitCode = lost === null ? code : tellLost(lost, code, io)
