/** Commands that make files on a disk without room: one sentence, and nothing of the attempt stays. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runProcess as run } from '../support/cli.ts'
import { cannotMount } from '../support/cramped-disk.ts'
import { tempDir } from '../support/temp-dir.ts'

const skip = cannotMount() ?? false
const disk = join(await tempDir(t), 'disk')
const ballast = join(disk, 'ballast')
if (skip === false) {
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', disk])
  t.teardown(() => execFileSync('umount', ['-l', disk]))
}

/** Leaves `room` bytes; a folder or a file of no length takes none. */
function fill(room: number): void {
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - room))
}

for (const room of [0, 4096, 8192])
  t.test(`init with room for ${room} bytes`, { skip }, async t => {
    fill(room)
    const dir = join(disk, 'new', 'gateway')
    const { code, stderr } = await run(['init', dir, '--network', 'ethereum'])
    t.equal(code, 1)
    t.match(stderr, new RegExp(`^tollgate: cannot write ${dir}/\\w+\\.yaml: the disk is full\n$`))
    t.strictSame(readdirSync(disk), ['ballast'])
    rmSync(ballast)
    t.match(await run(['init', dir, '--network', 'ethereum']), { code: 0 }, 'and with room it goes')
    rmSync(join(disk, 'new'), { recursive: true })
  })

for (const room of [0, 4096, 64 * 1024])
  t.test(`account create --init with room for ${room} bytes`, { skip }, async t => {
    const config = join(await tempDir(t), 'config')
    await run(['init', config, '--network', 'ethereum'])
    fill(room)
    const TOLLGATE_DATA = join(disk, 'data')
    const create = ['account', 'create', 'acme', '--plan', 'free', '--init', '--config', config]
    const { code, stderr } = await run(create, { TOLLGATE_DATA })
    t.equal(code, 1)
    t.match(stderr, /^tollgate: .*(the disk of .* is full|the disk is full)\n$/m)
    t.strictSame(readdirSync(disk), ['ballast'])
    rmSync(ballast)
    t.match(await run(create, { TOLLGATE_DATA }), { code: 0 }, 'and with room it goes')
    rmSync(TOLLGATE_DATA, { recursive: true })
  })
