import t from 'tap'
import { MEMORY_MIB } from '../harness/bounds.ts'
import { playAll } from '../harness/scenario.ts'

/** No turn of the gateway's loop is long meanwhile, but a call needs several of them. */
const LATE = 'seen: 20 to 48 ms more at the 99th percentile, and twice that where others use the machine'

await playAll(t, [
  {
    name: 'requests without end on one connection, whose answers nobody reads',
    attack: stage => stage.attack('pipelining', 'bodies'),
  },
  {
    name: 'the same without bodies',
    attack: stage => stage.attack('pipelining', 'heads'),
  },
  {
    name: 'large answers over HTTP that nobody reads',
    attack: stage => stage.attack('large', 'httpReplies'),
    unmet: { slower: LATE },
  },
  {
    name: 'large answers over WebSocket that nobody reads',
    attack: stage => stage.attack('large', 'socketReplies'),
    unmet: { slower: LATE },
  },
  {
    name: 'batches of large answers',
    attack: stage => stage.attack('large', 'batches'),
    unmet: { slower: LATE },
  },
  {
    name: 'frames of 5 MiB that never end, on many sockets',
    attack: stage => stage.attack('large', 'frames'),
    unmet: { slower: LATE },
  },
  {
    name: 'batches of a thousand items that are no calls',
    attack: stage => {
      const body = `[${Array.from({ length: 1_000 }, () => '0').join()}]`
      return stage.attack('calls', 'pipelinedFlood', {
        path: 'public',
        body,
        connections: 30,
        each: 16,
        ms: 2_500,
      })
    },
    // Texts of a thousand refusals a batch, which wait for the collector.
    bounds: { memory: MEMORY_MIB + 150 },
    unmet: {
      slower:
        'seen: 38 to 45 ms more at the 99th percentile, 190 to 460 with longer turns, 7 s before they were worked off in steps',
    },
  },
  {
    name: 'a flood with a key of the other account that lets in nobody from here',
    attack: stage =>
      stage.attack('calls', 'flood', {
        path: 'denied',
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
        // Below what one address may open: the other account is at the same one.
        connections: 800,
        ms: 2_500,
      }),
    unmet: { slower: LATE },
    also: (t, _, seen) => {
      t.ok(seen['"reason":"address_denied"'] > 0, 'the flood is refused')
    },
  },
  {
    name: 'messages in fragments of a byte',
    attack: stage => stage.attack('large', 'fragments'),
    also: (t, _, { codes }) => {
      t.same(codes, [1009, 1009, 1009, 1009])
    },
  },
  {
    name: 'hosts that are none',
    attack: stage => stage.attack('heads', 'strangeHosts'),
    also: (t, _, statuses: Record<string, string>) => {
      for (const [host, status] of Object.entries(statuses))
        t.equal(status, '400 invalid_request', `Host: ${host}`)
    },
  },
])
