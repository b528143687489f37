import { brand, LINKS, title } from '../brand.ts'

/** The logo and the name. */
export function Brand() {
  const { logo, wide } = brand
  if (logo !== null && wide) return <img class="logo" src={logo} alt={title} />
  return (
    <>
      {logo === null ? <Mark /> : <img class="logo" src={logo} alt="" />}
      <span>{title}</span>
    </>
  )
}

/** The sign of the house. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M9 24V10m0 3 15-4m-15 9h4" />
    </svg>
  )
}

/** The operator's links; nothing where there are none. */
export function Links() {
  const shown = LINKS.flatMap(([name, label]) => {
    const url = brand.links[name]
    return url === undefined ? [] : [{ label, url }]
  })
  if (shown.length === 0) return null
  return (
    <footer class="links">
      {shown.map(({ label, url }) => (
        <a key={label} href={url} rel="noreferrer">
          {label}
        </a>
      ))}
    </footer>
  )
}
