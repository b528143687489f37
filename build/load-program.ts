/** dist/program.js: src/commands/program.ts as the built program has it. */
import { loadProgram } from './script.ts'

/** The script's file beside this one; the build writes its name here. */
declare const SCRIPT: string

export const { runProgram } = loadProgram(new URL(SCRIPT, import.meta.url))
