import t from 'tap'
import * as kit from '@solana/kit'
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { LitesvmChain } from '../support/litesvm-chain.ts'
import { startLitesvmNode } from '../support/litesvm-node.ts'
import { noLitesvm } from '../support/litesvm.ts'
import { metric, metricIs } from '../support/metrics.ts'
import type { ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { socketUrl } from '../support/socket-client.ts'

/** The largest number of 64 bits, which accounts that pay no rent carry; JSON.parse makes another one of it. */
const u64 = '18446744073709551615'
const amount = 1_234_567_890

/** What a person does with a wallet, by one library. */
interface Wallet {
  readonly address: string
  /** Asks for a coin and waits until it is there. */
  airdrop(lamports: number): Promise<void>
  /** Sends a transfer, waits over the socket until it is confirmed, and gives its signature. */
  transfer(to: string, lamports: number): Promise<string>
  balance(address: string): Promise<bigint>
  /** The account's rent epoch as the library has it, and the reply as it came. */
  rentEpoch(address: string): Promise<readonly [value: bigint, text: string]>
  /** What a transfer from an empty wallet fails with. */
  failure(): Promise<unknown>
  statusOf(signature: string): Promise<string | null | undefined>
  close(): void
}

async function kitWallet(access: Access): Promise<Wallet> {
  const rpc = kit.createSolanaRpc(kit.devnet(access.url))
  const leaving = new AbortController()
  const rpcSubscriptions = kit.createSolanaRpcSubscriptions(kit.devnet(socketUrl(access)))
  const signer = await kit.generateKeyPairSigner()
  const confirm = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })
  const signed = async (from: kit.KeyPairSigner, to: string, lamports: number) => {
    const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const data = Buffer.alloc(12)
    data.writeUInt32LE(2)
    data.writeBigUInt64LE(BigInt(lamports), 4)
    const instruction = {
      programAddress: kit.address('11111111111111111111111111111111'),
      accounts: [
        { address: from.address, role: kit.AccountRole.WRITABLE_SIGNER },
        { address: kit.address(to), role: kit.AccountRole.WRITABLE },
      ],
      data,
    }
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      one => kit.setTransactionMessageFeePayerSigner(from, one),
      one => kit.setTransactionMessageLifetimeUsingBlockhash(value, one),
      one => kit.appendTransactionMessageInstruction(instruction, one),
    )
    return kit.signTransactionMessageWithSigners(message)
  }
  return {
    address: signer.address,
    airdrop: async lamports => {
      const drop = kit.airdropFactory({ rpc, rpcSubscriptions })
      await drop({
        commitment: 'confirmed',
        lamports: kit.lamports(BigInt(lamports)),
        recipientAddress: signer.address,
        abortSignal: leaving.signal,
      })
    },
    transfer: async (to, lamports) => {
      const transaction = await signed(signer, to, lamports)
      kit.assertIsTransactionWithBlockhashLifetime(transaction)
      kit.assertIsSendableTransaction(transaction)
      await confirm(transaction, { commitment: 'confirmed', abortSignal: leaving.signal })
      return kit.getSignatureFromTransaction(transaction)
    },
    balance: async address =>
      (await rpc.getBalance(kit.address(address), { commitment: 'confirmed' }).send()).value,
    rentEpoch: async address => {
      const config = { commitment: 'confirmed', encoding: 'base64' } as const
      const { value } = await rpc.getAccountInfo(kit.address(address), config).send()
      const { text } = await access.post(message('getAccountInfo', [address, config]))
      return [(value as unknown as { rentEpoch: bigint }).rentEpoch, text]
    },
    failure: async () => {
      const poor = await kit.generateKeyPairSigner()
      const wire = kit.getBase64EncodedWireTransaction(await signed(poor, signer.address, 1))
      return rpc
        .sendTransaction(wire, { encoding: 'base64' })
        .send()
        .catch((thrown: unknown) =>
          kit.isSolanaError(
            thrown,
            kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
          ),
        )
    },
    statusOf: async signature => {
      const { value } = await rpc.getSignatureStatuses([kit.signature(signature)]).send()
      return value[0]?.confirmationStatus
    },
    close: () => {
      leaving.abort()
    },
  }
}

function web3Wallet(access: Access): Wallet {
  let lastText = ''
  const connection = new Connection(access.url, {
    wsEndpoint: socketUrl(access),
    commitment: 'confirmed',
    fetch: async (...request: Parameters<typeof fetch>) => {
      const response = await fetch(...request)
      lastText = await response.clone().text()
      return response
    },
  })
  const wallet = Keypair.generate()
  const signed = async (from: Keypair, to: string, lamports: number) => {
    const latest = await connection.getLatestBlockhash()
    const toPubkey = new PublicKey(to)
    const transaction = new Transaction(latest).add(
      SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey, lamports }),
    )
    transaction.sign(from)
    return { latest, bytes: transaction.serialize() }
  }
  return {
    address: wallet.publicKey.toBase58(),
    airdrop: async lamports => {
      const latest = await connection.getLatestBlockhash()
      const signature = await connection.requestAirdrop(wallet.publicKey, lamports)
      await connection.confirmTransaction({ signature, ...latest })
    },
    transfer: async (to, lamports) => {
      const { latest, bytes } = await signed(wallet, to, lamports)
      const signature = await connection.sendRawTransaction(bytes)
      const { value } = await connection.confirmTransaction({ signature, ...latest })
      if (value.err !== null) throw new Error(JSON.stringify(value.err))
      return signature
    },
    balance: async address => BigInt(await connection.getBalance(new PublicKey(address))),
    rentEpoch: async address => {
      const info = await connection.getAccountInfo(new PublicKey(address))
      return [BigInt(info!.rentEpoch!), lastText]
    },
    failure: async () => {
      const { bytes } = await signed(Keypair.generate(), wallet.publicKey.toBase58(), 1)
      return connection
        .sendRawTransaction(bytes)
        .catch((thrown: unknown) => String(thrown).includes('Simulation failed'))
    },
    statusOf: async signature =>
      (await connection.getSignatureStatuses([signature])).value[0]?.confirmationStatus,
    close: () => undefined,
  }
}

/** A library, its chain, and the two nodes of it that a network of its own has as routes. */
interface Scene {
  readonly slug: string
  readonly open: (access: Access) => Wallet | Promise<Wallet>
  readonly chain: LitesvmChain
  readonly a: ScriptedSocketNode
  readonly b: ScriptedSocketNode
}

async function scene(slug: string, open: Scene['open']): Promise<Scene> {
  const chain = new LitesvmChain()
  return { slug, open, chain, a: await startLitesvmNode(t, chain), b: await startLitesvmNode(t, chain) }
}

async function run(): Promise<void> {
  const scenes = [await scene('kit', kitWallet), await scene('web3', web3Wallet)]
  const methods = { requestAirdrop: { enabled: true } }
  const gateway = await startGateway(t, {
    networks: Object.fromEntries(
      scenes.map(({ slug }) => [slug, { family: 'solana', chainId: `solana-${slug}`, methods }]),
    ),
    routes: scenes.flatMap(({ slug, a, b }) => [
      { id: `${slug}-a`, network: slug, http: a.url, ws: a.wsUrl, priority: 1 },
      { id: `${slug}-b`, network: slug, http: b.url, ws: b.wsUrl, priority: 2 },
    ]),
  })
  for (const { slug, open, chain, a, b } of scenes) {
    t.test(`${slug}: a coin, a transfer whose node dies under it, and what is there afterwards`, async t => {
      const access = await createAccess(gateway, 'paid', slug)
      const wallet = await open(access)
      await wallet.airdrop(10_000_000_000)
      t.equal(await wallet.balance(wallet.address), 10_000_000_000n)
      t.equal(await wallet.failure(), true, 'a preflight failure is told as such')
      t.equal(b.count('sendTransaction'), 0)

      // The first node takes the transaction, and is gone before it says so.
      const take = a.handler('sendTransaction')!
      a.on('sendTransaction', async (request, response) => {
        const discard = { writeHead: () => undefined, end: () => undefined }
        await take(request, discard as never)
        response.socket?.resetAndDestroy()
        await a.close()
      })
      const to = kit.getAddressDecoder().decode(Keypair.generate().publicKey.toBytes())
      const signature = await wallet.transfer(to, amount)
      t.equal(b.count('sendTransaction'), 1, 'the second node was asked, and had it already')
      t.equal(chain.find(signature)?.err, null, 'it is on the chain under that signature')
      t.equal(await wallet.statusOf(signature), 'confirmed')
      t.equal(await wallet.balance(to), BigInt(amount))
      t.equal(await wallet.balance(wallet.address), 10_000_000_000n - BigInt(amount) - 5_000n)

      const [value, text] = await wallet.rentEpoch(to)
      t.equal(value, slug === 'kit' ? BigInt(u64) : BigInt(Number(u64)), 'as exact as the library is')
      t.match(text, `"rentEpoch":${u64}`, 'byte for byte')
      const sent = { network: slug, route: `${slug}-a`, result: 'reset' }
      t.ok((await metric(gateway, 'tollgate_attempts_total', sent)) >= 1)
      wallet.close()
      await metricIs(gateway, 'tollgate_ws_connections', { network: slug }, 0)
    })
  }
}

if (noLitesvm === false) await run()
else t.test('real clients on a real virtual machine', { skip: noLitesvm }, t => t.end())
