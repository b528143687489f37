import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How an edit reaches the disk: into the file, over it by a rename, or as a swap of the link that Kubernetes keeps. */
export type Writing = 'plain' | 'rename' | 'swap'

/** The five files. */
export const files = ['networks.yaml', 'routes.yaml', 'methods.yaml', 'plans.yaml', 'gateway.yaml'] as const

/** One of the five files. */
export type File = (typeof files)[number]

/** Edits a configuration directory the ways editors, scripts and Kubernetes do. */
export class ConfigDir {
  #written = 0

  constructor(readonly dir: string) {}

  /** The text of a file. */
  read(file: File): string {
    return readFileSync(join(this.dir, file), 'utf8')
  }

  /** Writes these files, in this order. */
  write(texts: ReadonlyMap<File, string>, how: Writing): void {
    this.#written++
    if (how === 'swap') this.#swap(texts)
    else for (const [file, text] of texts) this.#writeOne(file, text, how)
  }

  #writeOne(file: File, text: string, how: Writing): void {
    const path = join(this.dir, file)
    if (how === 'plain') writeFileSync(path, text)
    else {
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
    }
  }

  /** All five files in a new directory, behind a link that changes in one step. */
  #swap(texts: ReadonlyMap<File, string>): void {
    const version = `..${this.#written}`
    mkdirSync(join(this.dir, version))
    for (const file of files) writeFileSync(join(this.dir, version, file), texts.get(file) ?? this.read(file))
    this.#link(version, '..data')
    for (const file of [...texts.keys(), ...files]) this.#link(`..data/${file}`, file)
  }

  #link(target: string, name: string): void {
    symlinkSync(target, join(this.dir, 'link.new'))
    renameSync(join(this.dir, 'link.new'), join(this.dir, name))
  }
}
