import t from 'tap'
import { askedFor, hostName, findTarget } from '../../src/http/request-head.ts'
import { isJson } from '../../src/http/body.ts'
import { snapshotOf } from '../support/snapshot.ts'

t.test('hosts are compared in lower case, without port and one trailing dot', t => {
  t.equal(hostName('ETH-RPC.Example.test:8080'), 'eth-rpc.example.test')
  t.equal(hostName('eth-rpc.example.test.:1'), 'eth-rpc.example.test')
  t.equal(hostName('eth-rpc.example.test..'), 'eth-rpc.example.test.')
  t.equal(hostName('[::1]:80'), '[::1]')
  t.end()
})

t.test('what a host and path stand for', async t => {
  const snapshot = await snapshotOf(t)
  const find = (host: string, url: string): string => {
    const target = findTarget(host, url, snapshot, { localAddress: '::ffff:10.0.0.9' })
    return target.kind === 'rpc' ? `${target.network.slug}:${target.key}` : target.kind
  }
  const own = 'eth-rpc.example.test'
  const cases: [string, string, string][] = [
    [own, '/v1/rpc/key', 'eth:key'],
    [own, '/v1/rpc/key/', 'eth:key'],
    [own, '/v1/rpc/key?x=/v1', 'eth:key'],
    [own, '/v1/rpc', 'eth:'],
    [own, '/v1/rpc/', 'eth:'],
    [own, '/v1/rpc//', 'eth:'],
    [own, '/v1/rpc/key//', 'nothing'],
    [own, '/v1/rpc/a/b', 'nothing'],
    [own, '/v1/rpcs/key', 'nothing'],
    [own, '/V1/rpc/key', 'nothing'],
    [own, '//v1/rpc/key', 'nothing'],
    [own, '/eth/v1/rpc/key', 'nothing'],
    [own, '/', 'nothing'],
    [own, '*', 'nothing'],
    [own, '', 'nothing'],
    ['10.0.0.1', '/eth/v1/rpc/key', 'eth:key'],
    ['10.0.0.1', '/eth/v1/rpc/', 'eth:'],
    ['10.0.0.1', '/eth', 'nothing'],
    ['10.0.0.1', '/ETH/v1/rpc/key', 'nothing'],
    ['10.0.0.1', '/v1/rpc/key', 'nothing'],
    ['10.0.0.1', '/constructor/v1/rpc/key', 'nothing'],
    ['10.0.0.1', '/__proto__/v1/rpc/key', 'nothing'],
    ['constructor', '/v1/rpc/key', 'nothing'],
    ['10.0.0.1', 'http://eth-rpc.example.test/v1/rpc/key', 'nothing'],
    ['example.test', '/', 'page'],
    ['localhost:8080', '/', 'page'],
    ['127.0.0.1:8080', '/', 'page'],
    ['127.0.0.1', '/eth/v1/rpc/key', 'eth:key'],
    ['[::1]:8080', '/assets/x.js', 'page'],
    ['[::ffff:127.0.0.1]', '/', 'page'],
    ['10.0.0.9', '/', 'page'],
    ['10.0.0.1', '/', 'nothing'],
    ['evil.example', '/', 'nothing'],
    ['127.0.0.1.evil.example', '/', 'nothing'],
    ['', '/', 'nothing'],
  ]
  for (const [host, url, expected] of cases) t.equal(find(host, url), expected, `${host} ${url}`)
})

t.test('in an absolute target the host counts that stands there', t => {
  const cases: [string, string, string][] = [
    ['/v1/rpc/key', 'a', '/v1/rpc/key'],
    ['http://b/v1/rpc/key?x', 'b', '/v1/rpc/key?x'],
    ['HTTPS://B:443/v1', 'B:443', '/v1'],
    ['http://b', 'b', '/'],
    ['http://b?x=/y', 'b', '/?x=/y'],
    ['http:///x', '', '/x'],
    ['http://user@b/x', 'user@b', '/x'],
    ['ftp://b/x', 'a', 'ftp://b/x'],
    ['*', 'a', '*'],
  ]
  for (const [target, host, url] of cases) t.strictSame(askedFor('a', target), { host, url }, target)
  t.end()
})

t.test('only JSON in UTF-8 is JSON', t => {
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf8',
    'application/json;charset=UTF8',
    'application/json; ',
    'application/json ;charset = utf-8 ; ',
  ])
    t.ok(isJson(type), type)
  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/json-patch+json',
    'application/json; charset=utf-16',
    'application/json; charset=utf--8',
    'application/json; charset=utf81',
    'application/jsonp',
    'application/json;;',
    'application/json; charset=utf-8;;',
    'application/json, text/plain',
  ])
    t.notOk(isJson(type), String(type))
  t.end()
})
