/**
 * The program as one script, and the bytecode that V8 makes of it. Compiling the script takes two fifths of the time of a start (bench/start.ts), so the build
 * keeps the bytecode beside it, for the Node.js that builds. Another one, or one with other flags of V8, compiles the script as if there were none.
 */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import type * as program from '../src/commands/program.ts'

/** What the script exports. */
export type Program = Pick<typeof program, 'runProgram'>

/** What the script comes to: a function of what a CommonJS module has, and of the URL that stands for `import.meta.url` everywhere in it. */
type Run = (module: { exports: unknown }, require: NodeJS.Require, url: string) => void

/** The bytes of the checksum before the bytecode, which V8 runs as it is. */
const CHECKSUM = 4

/** The script's program. With `--enable-source-maps` it is loaded as a module, since Node.js maps no other scripts. */
export function loadProgram(url: URL): Program {
  const require = createRequire(url)
  if (process.sourceMapsEnabled) return require(fileURLToPath(url)) as Program
  return runScript(openScript(url), url)
}

/** Compiles the script, or takes its bytecode. Stacks name it without its folder: with bytecode, V8 of Node.js 20 would name the one where that was made. */
export function openScript(url: URL): Script {
  const source = readFileSync(url, 'latin1')
  return new Script(source, { filename: basename(url.pathname), cachedData: readBytecode(url) })
}

export function runScript(script: Script, url: URL): Program {
  const module = { exports: {} }
  const run = script.runInThisContext() as Run
  run(module, createRequire(url), url.href)
  return module.exports as Program
}

/** Keeps what V8 has compiled of the script until now. */
export function writeBytecode(script: Script, url: URL): void {
  const bytecode = script.createCachedData()
  const checksum = Buffer.alloc(CHECKSUM)
  checksum.writeUInt32BE(crc32(bytecode))
  const file = bytecodeOf(url)
  writeFileSync(file, Buffer.concat([checksum, bytecode]))
  // A command that makes files for its user alone has changed the mask.
  chmodSync(file, 0o644)
}

/** Undefined where there is none for this Node.js, or it is damaged: V8 would not find that out. */
function readBytecode(url: URL): Buffer | undefined {
  let file
  try {
    file = readFileSync(bytecodeOf(url))
  } catch {
    return undefined
  }
  const bytecode = file.subarray(CHECKSUM)
  return file.length > CHECKSUM && file.readUInt32BE() === crc32(bytecode) ? bytecode : undefined
}

/** V8 looks at its version and flags, but not at the machine's architecture, nor at how it was compiled: a distribution's may be another. */
function bytecodeOf(url: URL): URL {
  const compiled = crc32(JSON.stringify(process.config)).toString(16)
  return new URL(`${url.href}.${process.version}-${process.platform}-${process.arch}-${compiled}`)
}
