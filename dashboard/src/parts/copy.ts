/** Puts a text that still has to be fetched into the clipboard. */
export async function copyText(fetchText: () => Promise<string>): Promise<void> {
  // Browsers without TLS have no clipboard to write to but this old one; some allow the new one only while a click is handled.
  if (!isSecureContext) copyOldWay(await fetchText())
  else if ('ClipboardItem' in globalThis) {
    const blob = fetchText().then(text => new Blob([text], { type: 'text/plain' }))
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })])
  } else await navigator.clipboard.writeText(await fetchText())
}

function copyOldWay(text: string): void {
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- without TLS there is nothing else
  const done = document.execCommand('copy')
  area.remove()
  if (!done) throw new Error('The browser does not allow copying; reveal the text and copy it by hand.')
}
