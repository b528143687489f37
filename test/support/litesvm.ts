import { createRequire } from 'node:module'

/** A byte array or a number as the virtual machine gives them. */
interface VmMeta {
  signature(): Uint8Array
  logs(): string[]
  computeUnitsConsumed(): bigint
}

interface VmInstructionError {
  readonly index: number
  err(): number | { readonly code: number }
}

/** A transaction that failed has an error; one that succeeded is its own metadata. */
export interface VmOutcome extends Partial<VmMeta> {
  err?(): number | VmInstructionError
  meta?(): VmMeta
  toString(): string
}

/** As much of the virtual machine as tests use. */
export interface Vm {
  setTransactionHistory(capacity: bigint): void
  getAccount(key: Uint8Array): null | {
    lamports(): bigint
    data(): Uint8Array
    owner(): Uint8Array
    executable(): boolean
    rentEpoch(): bigint
  }
  getBalance(key: Uint8Array): bigint | null
  airdrop(key: Uint8Array, lamports: bigint): VmOutcome | null
  latestBlockhash(): string
  minimumBalanceForRentExemption(bytes: bigint): bigint
  sendVersionedTransaction(bytes: Uint8Array): VmOutcome
  simulateVersionedTransaction(bytes: Uint8Array): VmOutcome
  expireBlockhash(): void
  warpToSlot(slot: bigint): void
}

interface Binding {
  readonly LiteSvm: new () => Vm
}

/** Of the platform that CI has. */
const binary = 'litesvm-linux-x64-gnu'

let binding: Binding | undefined
try {
  binding = createRequire(import.meta.url)(binary) as Binding
} catch {
  binding = undefined
}

/** Why tests on a real Solana virtual machine cannot run here; false when they can. */
export const noLitesvm =
  binding === undefined &&
  `the package ${binary} is not installed here; npm install --no-save ${binary}@1.5.0 does that`

/** A new chain in a virtual machine. */
export function newVm(): Vm {
  if (binding === undefined) throw new Error(String(noLitesvm))
  const vm = new binding.LiteSvm()
  vm.setTransactionHistory(10_000n)
  return vm
}
