import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusalTable } from '../src/jsonrpc/refusal-table.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

t.test("the README's table of refusals is the code's", t => {
  const rows = [
    ...readme.matchAll(
      /^\| ([a-z_]+)(?: \([^)]*\))? \| (\d+) \| (-?\d+) \| (-?\d+) \| (\d+|–) \| (yes|no) \|$/gm,
    ),
  ]
  const told = rows.map(([, reason, status, evm, solana, http, billed]) => [
    reason,
    {
      status: Number(status),
      evm: Number(evm),
      solana: Number(solana),
      http: http === '–' ? null : Number(http),
      billed: billed === 'yes',
    },
  ])
  const table = Object.entries(refusalTable).map(([reason, { status, evm, solana, http, billed }]) => [
    reason,
    { status, evm, solana, http, billed },
  ])
  t.strictSame(Object.fromEntries(told), Object.fromEntries(table))
  t.equal(told.length, table.length)
  t.end()
})

t.test('every command of the README exists, and every script it runs', t => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>
  }
  const scripts = [...readme.matchAll(/npm run (\w+)/g)].map(([, name]) => name)
  t.ok(scripts.length > 0)
  for (const name of scripts) t.ok(manifest.scripts[name!], String(name))
  const main = readFileSync(new URL('../src/main.ts', import.meta.url), 'utf8')
  const section = /\n## Command line\n.*?\n## /s.exec(readme)?.[0] ?? ''
  const commands = [...section.matchAll(/`([a-z]+)[^`|]*`(?=[^|]*\|[^|]*\|$)/gm)].map(([, name]) => name!)
  t.ok(commands.length >= 8, commands.join())
  for (const name of commands) t.match(main, `  ${name}: {`, name)
  t.end()
})
