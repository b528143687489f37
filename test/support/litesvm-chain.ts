import { EventEmitter } from 'node:events'
import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { newVm, type Vm, type VmOutcome } from './litesvm.ts'

/** What became of a transaction. */
export interface Landed {
  readonly signature: string
  readonly slot: number
  /** As nodes write it; null when it succeeded. */
  readonly err: unknown
  readonly logs: readonly string[]
  readonly bytes: Uint8Array | null
}

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Slots after which what was processed is settled so far. */
const settles = { processed: 0, confirmed: 1, finalized: 32 } as const

/** Errors without fields, by the number that the virtual machine gives them. */
const texts: Readonly<Record<string, string>> = {
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
}

export const toBase58 = (bytes: Uint8Array) => getBase58Decoder().decode(bytes)
export const fromBase58 = (text: string) => new Uint8Array(getBase58Encoder().encode(text))

/** One Solana chain, in a virtual machine: several nodes may serve it, as those of a cluster do. */
export class LitesvmChain {
  readonly vm: Vm = newVm()
  readonly #landed = new Map<string, Landed>()
  readonly #events = new EventEmitter().setMaxListeners(0)
  #slot = 1_000

  /** Blocks below the slot: some slots were skipped. */
  readonly skipped = 10

  constructor() {
    this.vm.warpToSlot(BigInt(this.#slot))
  }

  /** The newest slot that is settled so far. */
  slot(commitment: Commitment = 'processed'): number {
    return this.#slot - settles[commitment]
  }

  find(signature: string): Landed | undefined {
    return this.#landed.get(signature)
  }

  isSettled({ slot }: Landed, commitment: Commitment): boolean {
    return slot <= this.slot(commitment)
  }

  /** Goes on by one slot, and tells. */
  advance(): void {
    this.#slot += 1
    this.vm.warpToSlot(BigInt(this.#slot))
    this.#events.emit('slot')
  }

  onSlot(listener: () => void): void {
    this.#events.on('slot', listener)
  }

  /** Executes a transaction in the newest slot, and goes on by one. */
  send(bytes: Uint8Array): Landed | { readonly refused: unknown; readonly text: string } {
    const outcome = this.vm.sendVersionedTransaction(bytes)
    const failed = outcome.err === undefined ? null : errorOf(outcome)
    if (failed !== null) return failed
    return this.#land(outcome, bytes)
  }

  airdrop(address: string, lamports: bigint): Landed | undefined {
    const outcome = this.vm.airdrop(fromBase58(address), lamports)
    return outcome === null || outcome.err !== undefined ? undefined : this.#land(outcome, null)
  }

  #land(outcome: VmOutcome, bytes: Uint8Array | null): Landed {
    const signature = toBase58(outcome.signature!())
    const landed = { signature, slot: this.#slot, err: null, logs: outcome.logs!(), bytes }
    this.#landed.set(signature, landed)
    // Subscribers hear of it after the reply, as on a real node.
    setImmediate(() => {
      this.advance()
    })
    return landed
  }
}

/** A failed transaction's error in the words of nodes, and its text. */
export function errorOf(outcome: VmOutcome): { readonly refused: unknown; readonly text: string } {
  const name = /err: (\w+)/.exec(outcome.toString())?.[1] ?? 'Unknown'
  const error = outcome.err!()
  if (typeof error === 'number') return { refused: name, text: texts[name] ?? name }
  const inner = error.err()
  const detail = typeof inner === 'number' ? inner : { Custom: inner.code }
  const code = typeof inner === 'number' ? '' : `: custom program error: 0x${inner.code.toString(16)}`
  return {
    refused: { InstructionError: [error.index, detail] },
    text: `Error processing Instruction ${error.index}${code}`,
  }
}
