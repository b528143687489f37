import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { openClient } from '../../support/socket-client.ts'
import { playAll } from '../harness/scenario.ts'

/** Subscriptions that the plan `free` may have. */
const FREE_SUBSCRIPTIONS = 20
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const logs = (n: number) =>
  JSON.stringify({ context: { slot: n }, value: { signature: String(n), err: null, logs: [] } })

await playAll(t, [
  {
    name: 'subscriptions that are made and ended without end',
    attack: async stage => {
      const client = await openClient(t, stage.free)
      let most = 0
      let made = 0
      for (let n = 0; n < 90; n++) {
        const { result, error } = await client.call('eth_subscribe', ['logs', { address: address(n) }])
        if (result !== undefined) {
          made++
          await client.call('eth_unsubscribe', [result])
        } else if (error.data?.reason === 'rate_limited') await pause(error.data.retryAfterMs)
        most = Math.max(
          most,
          stage.nodes.evm.reduce((sum, node) => sum + node.live('eth_subscribe', 'logs').length, 0),
        )
      }
      client.socket.terminate()
      return { most, made }
    },
    also: (t, _, { most, made }) => {
      t.ok(made > FREE_SUBSCRIPTIONS, `${made} were made`)
      t.ok(most <= FREE_SUBSCRIPTIONS, `${most} at the nodes at one time`)
    },
  },
  {
    name: "a stranger's equal subscription in other words: Solana",
    attack: async stage => {
      // Agave gives equal subscriptions of one connection one id, and sends their messages once.
      for (const node of stage.nodes.solana) node.onSubscribe(() => ({ id: '77' }))
      const good = await openClient(t, stage.solana(stage.free))
      const own = await good.subscribe('logsSubscribe', ['all'])
      const push = (n: number) => {
        for (const node of stage.nodes.solana) {
          let sent = false
          node.push('logsSubscribe', logs(n), () => !sent && (sent = true))
        }
      }
      push(1)
      await good.notified(own, 1)
      const stranger = await openClient(t, stage.solana(stage.paid))
      const theirs = await stranger.subscribe('logsSubscribe', ['all', { commitment: 'finalized' }])
      for (let n = 2; n <= 6; n++) push(n)
      await stranger.notified(theirs, 5).catch(() => undefined)
      await stranger.call('logsUnsubscribe', [Number(theirs)])
      stranger.socket.terminate()
      await pause(100)
      push(7)
      await good.notified(own, 7).catch(() => undefined)
      const heard = good.notifications(own).map(({ value }) => Number(value.signature))
      await good.close()
      return { heard, strangers: stranger.notifications(theirs).length }
    },
    restore: stage => {
      for (const node of stage.nodes.solana) node.onSubscribe(() => 'accept')
    },
    also: (t, _, { heard, strangers }) => {
      t.same(heard, [1, 2, 3, 4, 5, 6, 7], 'each message reaches the bystander')
      t.equal(strangers, 5, 'and the stranger')
    },
  },
])
