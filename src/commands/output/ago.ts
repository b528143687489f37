/** How long ago a moment in Unix seconds was, in its largest unit: `2 s ago`, `3 h ago`. */
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round(now / 1000 - at))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}
