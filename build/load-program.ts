/** program.js of the built program: src/commands/program.ts as that has it. */
import { loadProgram } from './script.ts'

export const { runProgram } = loadProgram(new URL('./program.cjs', import.meta.url))
