import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { linkTo } from '../address.ts'

/** What an address shows that names no page. */
export function UnknownPage() {
  return (
    <>
      <Heading title="Page not found" />
      <Empty title="There is no page at this address">
        <p>
          The link may be mistyped or old. <a href={linkTo('overview')}>Go to the overview</a>
        </p>
      </Empty>
    </>
  )
}
