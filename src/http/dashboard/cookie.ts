/** The cookie that carries a session's id. */

/** `__Host-` makes browsers take it only over TLS, from this very host; without TLS there is no such cookie. */
function nameOf(secure: boolean): string {
  return secure ? '__Host-tollgate' : 'tollgate'
}

/** The id that a Cookie header carries; null when it carries none. */
export function readCookie(header: string | undefined, secure: boolean): string | null {
  const start = `${nameOf(secure)}=`
  const pairs = (header ?? '').split(';').map(pair => pair.trim())
  return pairs.find(pair => pair.startsWith(start))?.slice(start.length) ?? null
}

/** The header that sets the cookie, as name and value. */
export function setCookie(id: string, secure: boolean): readonly [string, string] {
  return ['Set-Cookie', `${nameOf(secure)}=${id}; ${attributes(secure)}`]
}

/** The header that removes the cookie, as name and value. */
export function dropCookie(secure: boolean): readonly [string, string] {
  return ['Set-Cookie', `${nameOf(secure)}=; Max-Age=0; ${attributes(secure)}`]
}

function attributes(secure: boolean): string {
  return `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}
