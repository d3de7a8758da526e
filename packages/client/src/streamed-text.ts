/** Assembles the text that the steps of a run stream. Pure. */

interface OfAttempt {
  readonly at: string;
  /** Step id, or `id[itemKey]`. */
  readonly step: string;
  readonly revision: number;
  readonly attempt: number;
  /** A compensation of the step streams it. */
  readonly undoes?: true | undefined;
}

export type StreamedLine =
  /** A new attempt begins: earlier text of the step is obsolete. */
  | (OfAttempt & { readonly kind: 'attempt' })
  /** `offset`: length of the attempt's text before it. */
  | (OfAttempt & { readonly kind: 'text'; readonly text: string; readonly offset: number })
  /** The text is complete, or `cut` at the limit of the API. */
  | (OfAttempt & { readonly kind: 'text_end'; readonly cut?: true });

export interface StreamedText extends Pick<OfAttempt, 'step' | 'revision' | 'attempt' | 'undoes'> {
  readonly text: string;
  readonly state: 'open' | 'whole' | 'cut';
}

/** By step; a compensation has a separate entry. */
export type StreamedTexts = ReadonlyMap<string, StreamedText>;

const KINDS: ReadonlySet<string> = new Set(['attempt', 'text', 'text_end'] satisfies StreamedLine['kind'][]);

export function isTextKind(kind: string): kind is StreamedLine['kind'] {
  return KINDS.has(kind);
}

/** The texts after the next line of the stream. */
export function withLine(texts: StreamedTexts, line: StreamedLine): StreamedTexts {
  const { step, revision, attempt, undoes } = line;
  const name = undoes ? `${step} undone` : step;
  const before = line.kind === 'attempt' ? undefined : texts.get(name);
  return new Map(texts).set(name, {
    step,
    revision,
    attempt,
    undoes,
    text: `${before?.text ?? ''}${line.kind === 'text' ? line.text : ''}`,
    state: line.kind !== 'text_end' ? 'open' : line.cut ? 'cut' : 'whole',
  });
}
