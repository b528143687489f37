const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  ENOTFOUND: 'the name is not known',
}

/** Why nobody can listen on an address, as one sentence. */
export function listenFault(host: string, port: number, error: NodeJS.ErrnoException): string {
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return `cannot listen on ${at}: ${WORDS[error.code ?? ''] ?? error.message}`
}
