import { linkTo } from '../address.ts'
import type { Account } from '../api/types.ts'
import { provider } from '../brand.ts'
import { account } from '../model/account.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Heading } from '../parts/heading.tsx'
import { AlertsCard } from '../settings/alerts.tsx'
import { AuditCard } from '../settings/audit.tsx'
import { TokenCard } from '../settings/token.tsx'
import { day } from '../text/time.ts'

/** The account: its token, its alerts, and what was changed. Keys are on the pages of their endpoints. */
export function SettingsPage() {
  return (
    <>
      <Heading title="Settings" />
      <section class="card" aria-labelledby="account">
        <h2 id="account">Account</h2>
        <Awaited of={account} what="your account">
          {account => <AccountCard {...account} />}
        </Awaited>
      </section>
      <TokenCard />
      <AlertsCard />
      <AuditCard />
    </>
  )
}

function AccountCard({ accountId, name, plan, createdAt }: Account) {
  return (
    <>
      <dl>
        <dt>Name</dt>
        <dd>{name}</dd>
        <dt>Account ID</dt>
        <dd>
          <code>{accountId}</code>
        </dd>
        <dt>Plan</dt>
        <dd>{plan}</dd>
        <dt>Since</dt>
        <dd>{day(createdAt)}</dd>
      </dl>
      <p class="quiet-text">
        To change the plan, ask {provider}. Keys, and what each may be used for, are on the page of their{' '}
        <a href={linkTo('endpoints')}>endpoint</a>.
      </p>
    </>
  )
}
