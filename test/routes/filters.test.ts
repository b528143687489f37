import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto'
import t from 'tap'
import { deriveKey } from '../../src/stores/sqlite/accounts/secrets/master-key.ts'
import { Filters } from '../../src/routes/filters.ts'

const masterKey = createSecretKey(randomBytes(32))
const key = deriveKey(masterKey, 'filter ids')
const filters = new Filters(() => [key])
const filter = {
  network: 'eth',
  route: 'eth-a.1',
  node: filters.nodeAt('http://127.0.0.1:1'),
  upstreamId: '"0x1"',
  madeAt: 1_750_000_000_123,
}
const seal = (upstreamId = filter.upstreamId, owner = 'ep_1') =>
  filters.seal({ ...filter, upstreamId }, owner)!

t.test('an id is opened by its owner, on its network, in any process that has the master key', t => {
  const id = seal()
  t.match(id, /^"0x[0-9a-f]{126}"$/)
  t.strictSame(filters.open(id, 'ep_1', 'eth'), filter)
  const elsewhere = new Filters(() => [deriveKey(createSecretKey(masterKey.export()), 'filter ids')])
  t.strictSame(elsewhere.open(id, 'ep_1', 'eth'), filter)

  t.equal(filters.open(id, 'ep_2', 'eth'), null, 'another endpoint')
  t.equal(filters.open(id, 'public 192.0.2.1', 'eth'), null, 'an address')
  t.equal(filters.open(id, 'ep_1', 'bsc'), null, 'another network')
  const foreign = new Filters(() => [deriveKey(createSecretKey(randomBytes(32)), 'filter ids')])
  t.equal(foreign.open(id, 'ep_1', 'eth'), null, 'another master key')
  t.equal(
    new Filters(() => [deriveKey(masterKey, 'others')]).open(id, 'ep_1', 'eth'),
    null,
    'another purpose',
  )
  t.equal(new Filters(() => [masterKey]).open(id, 'ep_1', 'eth'), null, 'the master key itself seals no id')
  t.end()
})

t.test('equal ids of nodes give ids that have nothing in common', t => {
  const ids = Array.from({ length: 100 }, () => seal())
  t.equal(new Set(ids.map(id => id.slice(0, 27))).size, 100, 'each has a nonce of its own')
  t.equal(new Set(ids.map(id => id.slice(27))).size, 100)
  for (const id of ids) t.strictSame(filters.open(id, 'ep_1', 'eth'), filter)
  t.end()
})

t.test("the node's id stays what it was, byte by byte", t => {
  const raws = [
    '"0x1"',
    '7',
    'null',
    '"a b  c"',
    '"\\u0030x1"',
    '" \\n"',
    '"\u00c3\u00a9\u00ff"',
    '[1, {"a": 2}]',
  ]
  for (const raw of raws) t.equal(filters.open(seal(raw), 'ep_1', 'eth')?.upstreamId, raw, raw)
  t.end()
})

t.test('no other text opens', t => {
  const id = seal()
  const hex = id.slice(3, -1)
  for (let at = 0; at < hex.length; at++) {
    const digit = hex[at] === '0' ? '1' : '0'
    const forged = `"0x${hex.slice(0, at)}${digit}${hex.slice(at + 1)}"`
    if (filters.open(forged, 'ep_1', 'eth') !== null) t.fail(`digit ${at} is not protected`)
  }
  for (let length = 0; length < hex.length; length++)
    if (filters.open(`"0x${hex.slice(0, length)}"`, 'ep_1', 'eth') !== null) t.fail(`cut to ${length}`)
  const others: Readonly<Record<string, string>> = {
    'one digit more': `"0x${hex}0"`,
    'a byte more': `"0x${hex}00"`,
    'upper case': `"0x${hex.toUpperCase()}"`,
    'upper case X': `"0X${hex}"`,
    'an escape': `"\\u0030x${hex}"`,
    'an escaped digit': `"0x${hex.slice(0, -1)}\\u003${hex.at(-1)}"`,
    spaces: `" 0x${hex}"`,
    'no prefix': `"${hex}"`,
    'no string': `0x${hex}`,
    'a list': `["0x${hex}"]`,
    'not hex': `"0x${hex.slice(0, -2)}zz"`,
    'a number': '1',
    null: 'null',
    nothing: '',
    'an empty string': '""',
    zeros: `"0x${'00'.repeat(60)}"`,
  }
  for (const [what, text] of Object.entries(others)) t.equal(filters.open(text, 'ep_1', 'eth'), null, what)
  t.strictSame(filters.open(id, 'ep_1', 'eth'), filter, 'and the id itself still does')
  t.end()
})

t.test('what is sealed with the right key and is no filter is none', t => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from('ep_1'))
  const sealed = Buffer.concat([nonce, cipher.update('eth a'), cipher.final(), cipher.getAuthTag()])
  t.equal(filters.open(`"0x${sealed.toString('hex')}"`, 'ep_1', 'eth'), null)
  t.end()
})

t.test('the longest names fit, and an id of a node that is no id does not', t => {
  const long = { ...filter, network: 'n'.repeat(59), route: 'r'.repeat(64) }
  const fits = { ...long, upstreamId: `"${'x'.repeat(289)}"` }
  const id = filters.seal(fits, 'ep_1')!
  t.ok(id.length <= 1024, `${id.length} characters`)
  t.strictSame(filters.open(id, 'ep_1', long.network), fits)
  t.equal(filters.seal({ ...long, upstreamId: `"${'x'.repeat(1_000)}"` }, 'ep_1'), null)
  t.end()
})

t.test('a long text is refused before any of it is read', t => {
  const text = `"0x${'ab'.repeat(2_000_000)}"`
  const begin = process.cpuUsage()
  for (let i = 0; i < 1_000; i++) if (filters.open(text, 'ep_1', 'eth') !== null) t.fail('it opens')
  const { user } = process.cpuUsage(begin)
  t.ok(user < 1_000_000, `${user / 1000} ms for 1 000 of 4 MB each`)
  t.end()
})
