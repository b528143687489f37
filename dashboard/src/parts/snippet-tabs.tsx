import { useId, useState } from 'preact/hooks'
import type { Endpoint, NetworkStatus, Secrets } from '../api/types.ts'
import { reveal } from '../model/account.ts'
import { maskUrl } from '../text/mask.ts'
import { snippets } from '../text/snippets.ts'
import { CopyButton } from './copy-button.tsx'
import { Tabs } from './tabs.tsx'

interface Props {
  readonly endpoint: Endpoint
  readonly family: NetworkStatus['family']
  readonly secrets: Secrets | null
}

/** Ready-made programs; what is copied holds the key also while it is masked here. */
export function SnippetTabs({ endpoint, family, secrets }: Props) {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const all = snippets[family].filter(({ url }) => endpoint[url] !== '')
  const snippet = all[chosen] ?? all[0]!
  const shown = secrets?.[snippet.url] ?? maskUrl(endpoint[snippet.url], endpoint)
  return (
    <section class="card">
      <div class="card-head">
        <h2>Use it from</h2>
        <CopyButton
          what={`${snippet.tool} snippet`}
          fetchText={async () => snippet.code((await reveal(endpoint.endpointId))[snippet.url])}
        />
      </div>
      <Tabs label="Tools" id={id} names={all.map(({ tool }) => tool)} chosen={chosen} onChoose={setChosen} />
      <pre id={id} role="tabpanel" tabIndex={0} aria-label={`${snippet.tool} snippet`}>
        <code>{snippet.code(shown)}</code>
      </pre>
    </section>
  )
}
