/** Where on the command line something is completed, and how the scripts of bash and zsh name it. */
import type { OptionKind } from '../command.ts'

/** A place on the command line, and what may follow. */
export interface Place {
  /** The words up to there, such as `account create`; empty is right behind `tollgate`. */
  readonly path: readonly string[]
  /** Commands or fixed words, each with what it does (empty: nothing to say). */
  readonly words: readonly (readonly [word: string, summary: string])[]
  /** Options without their dashes. */
  readonly options: readonly (readonly [name: string, kind: OptionKind])[]
}

/** The words of a place in quotes, each behind a space, as the scripts of bash and zsh put them together. */
export function placeOf({ path }: Pick<Place, 'path'>): string {
  return `'${path.map(word => ` ${word}`).join('')}'`
}

/** All places but the first, as a pattern. */
export function knownPlaces(places: readonly Place[]): string {
  return places.flatMap(place => (place.path.length === 0 ? [] : [placeOf(place)])).join(' | ')
}

/** What may be typed at a place. */
export function wordsOf({ words, options }: Place): string[] {
  return [...words.map(([word]) => word), ...options.map(([name]) => `--${name}`)]
}

/** A line for each option that takes one of a few words. */
export function fewValues(
  places: readonly Place[],
  line: (at: string, values: readonly string[]) => string,
): string {
  const found = places.flatMap(({ path, options }) =>
    options.flatMap(([name, kind]) =>
      typeof kind === 'string' ? [] : [line(placeOf({ path: [...path, `--${name}`] }), kind)],
    ),
  )
  return found.join('\n')
}

/** The options whose values nobody can guess, as a pattern; a folder (--config) can be. */
export function freeValues(places: readonly Place[]): string {
  const found = places.flatMap(({ path, options }) =>
    options.flatMap(([name, kind]) =>
      (kind === 'string' || kind === 'strings') && name !== 'config'
        ? [placeOf({ path: [...path, `--${name}`] })]
        : [],
    ),
  )
  return found.join(' | ')
}
