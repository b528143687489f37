import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }

/** The version of this program, from package.json. */
export const version: string = manifest.version
