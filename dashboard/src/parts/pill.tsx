/** A state in one word, with a colour that only repeats it. */
export function Pill({ tone, children }: { tone: 'good' | 'bad' | 'off'; children: string }) {
  return <span class={`pill ${tone}`}>{children}</span>
}
