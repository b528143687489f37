import { errorOf, fromBase58, toBase58, type Commitment, type LitesvmChain } from './litesvm-chain.ts'
import { error, result, type Handler } from './node-replies.ts'
import { ScriptedSocketNode, type NodeSubscription } from './scripted-socket-node.ts'
import type { Teardown } from './teardown.ts'

/** The config object of a call, as far as this node reads it. */
interface Config {
  readonly commitment?: Commitment
  readonly preflightCommitment?: Commitment
  readonly encoding?: string
  readonly minContextSlot?: number
  readonly skipPreflight?: boolean
  readonly sigVerify?: boolean
}

/** An error as nodes answer with it. */
class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

const big = /"@(\d+)"/g
/** A value as JSON, numbers of 64 bits exact. */
export const exact = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `@${one}` : one)).replace(big, '$1')

/** Makes a scripted node answer from a chain in a virtual machine, over HTTP and its sockets. */
function play(node: ScriptedSocketNode, chain: LitesvmChain): void {
  const { vm } = chain
  const atSlot = ({ commitment, minContextSlot }: Config = {}) => {
    const slot = chain.slot(commitment ?? 'finalized')
    if (minContextSlot !== undefined && slot < minContextSlot)
      throw new Refused(-32016, 'Minimum context slot has not been reached', { contextSlot: slot })
    return slot
  }
  const inContext = (config: Config | undefined, value: unknown) => ({
    context: { apiVersion: '2.1.0', slot: atSlot(config) },
    value,
  })
  const account = (address: string) => {
    const found = vm.getAccount(fromBase58(address))
    if (found === null) return null
    return {
      data: [Buffer.from(found.data()).toString('base64'), 'base64'],
      executable: found.executable(),
      lamports: found.lamports(),
      owner: toBase58(found.owner()),
      rentEpoch: found.rentEpoch(),
      space: found.data().length,
    }
  }
  const status = (signature: string) => {
    const landed = chain.find(signature)
    if (landed === undefined) return null
    const settled = (['finalized', 'confirmed', 'processed'] as const).find(one =>
      chain.isSettled(landed, one),
    )
    const confirmations = settled === 'finalized' ? null : chain.slot() - landed.slot
    const { slot, err } = landed
    return { slot, confirmations, err, status: { Ok: null }, confirmationStatus: settled }
  }
  const methods: Readonly<Record<string, (...params: any[]) => unknown>> = {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '2.1.0', 'feature-set': 1 }),
    getSlot: (config?: Config) => atSlot(config),
    getBlockHeight: (config?: Config) => atSlot(config) - chain.skipped,
    getFirstAvailableBlock: () => 0,
    getEpochInfo: (config?: Config) => {
      const absoluteSlot = atSlot(config)
      const height = { absoluteSlot, blockHeight: absoluteSlot - chain.skipped, transactionCount: 1 }
      return { ...height, epoch: 0, slotIndex: absoluteSlot, slotsInEpoch: 432_000 }
    },
    getLatestBlockhash: (config?: Config) =>
      inContext(config, {
        blockhash: vm.latestBlockhash(),
        lastValidBlockHeight: chain.slot() - chain.skipped + 150,
      }),
    isBlockhashValid: (blockhash: string, config?: Config) =>
      inContext(config, blockhash === vm.latestBlockhash()),
    getFeeForMessage: (_: string, config?: Config) => inContext(config, 5_000),
    getBalance: (address: string, config?: Config) =>
      inContext(config, vm.getBalance(fromBase58(address)) ?? 0),
    getAccountInfo: (address: string, config?: Config) => inContext(config, account(address)),
    getMultipleAccounts: (addresses: string[], config?: Config) => inContext(config, addresses.map(account)),
    getMinimumBalanceForRentExemption: (bytes: number) => vm.minimumBalanceForRentExemption(BigInt(bytes)),
    requestAirdrop: (address: string, lamports: number) =>
      chain.airdrop(address, BigInt(lamports))?.signature,
    getSignatureStatuses: (signatures: string[]) =>
      inContext({ commitment: 'processed' }, signatures.map(status)),
    getTransaction: (signature: string, config?: Config) => {
      const landed = chain.find(signature)
      if (landed?.bytes == null || !chain.isSettled(landed, config?.commitment ?? 'finalized')) return null
      const { slot, err, logs, bytes } = landed
      const none = { innerInstructions: [], preTokenBalances: [], postTokenBalances: [], rewards: [] }
      const meta = { err, fee: 5_000, preBalances: [], postBalances: [], logMessages: logs, ...none }
      const transaction = [Buffer.from(bytes).toString('base64'), 'base64']
      return { slot, blockTime: 1_700_000_000, meta, transaction, version: 'legacy' }
    },
    simulateTransaction: (text: string, config?: Config) => {
      const outcome = vm.simulateVersionedTransaction(decode(text, config))
      const meta = outcome.meta!()
      const err = outcome.err === undefined ? null : errorOf(outcome).refused
      const unitsConsumed = meta.computeUnitsConsumed()
      return inContext(config, { err, logs: meta.logs(), accounts: null, unitsConsumed, returnData: null })
    },
    sendTransaction: (text: string, config?: Config) => {
      const sent = chain.send(decode(text, config))
      if (!('refused' in sent)) return sent.signature
      const data = { err: sent.refused, logs: [], accounts: null, unitsConsumed: 0, returnData: null }
      throw new Refused(-32002, `Transaction simulation failed: ${sent.text}`, data)
    },
  }
  for (const [method, answer] of Object.entries(methods)) node.on(method, handler(answer))
  chain.onSlot(() => {
    tell(node, chain, account)
  })
  node.onSubscribe(() => {
    // What is settled already is told at once.
    setImmediate(() => {
      tellSignatures(node, chain)
    })
    return 'accept'
  })
}

function handler(answer: (...params: any[]) => unknown): Handler {
  return (request, response) => {
    try {
      const params = JSON.parse(request.params === '' ? '[]' : request.params) as unknown[]
      return result(exact(answer(...params)))(request, response)
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown
      const { code, message, data } = thrown
      return error(exact({ code, message, data }))(request, response)
    }
  }
}

function decode(text: string, config: Config | undefined): Uint8Array {
  return config?.encoding === 'base64' ? Buffer.from(text, 'base64') : fromBase58(text)
}

function configOf({ params }: NodeSubscription): [key: string, commitment: Commitment] {
  const [key, config] = JSON.parse(params) as [string, Config?]
  return [key, config?.commitment ?? 'finalized']
}

function tell(node: ScriptedSocketNode, chain: LitesvmChain, account: (address: string) => unknown): void {
  const slot = chain.slot()
  node.push('slotSubscribe', exact({ parent: slot - 1, root: chain.slot('finalized'), slot }))
  for (const one of node.live('accountSubscribe')) {
    const [address, commitment] = configOf(one)
    const value = { context: { slot: chain.slot(commitment) }, value: account(address) }
    node.push('accountSubscribe', exact(value), other => other === one)
  }
  tellSignatures(node, chain)
}

function tellSignatures(node: ScriptedSocketNode, chain: LitesvmChain): void {
  for (const one of node.live('signatureSubscribe')) {
    const [signature, commitment] = configOf(one)
    const landed = chain.find(signature)
    if (landed === undefined || !chain.isSettled(landed, commitment)) continue
    const { err, slot } = landed
    node.pushLast('signatureSubscribe', exact({ context: { slot }, value: { err } }), other => other === one)
  }
}

/** Starts a node of a chain in a virtual machine; it is stopped with the test. */
export async function startLitesvmNode(t: Teardown, chain: LitesvmChain): Promise<ScriptedSocketNode> {
  const node = new ScriptedSocketNode({ genesisHash: 'So11111111111111111111111111111111111111112' })
  play(node, chain)
  await node.listen()
  t.teardown(() => node.close())
  return node
}
