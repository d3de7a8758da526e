/** Copies a text to the clipboard, and reports the outcome: a browser may refuse. */
import { useState } from 'react';
import { copyText } from './copy-text.ts';

type Copied = 'none' | 'copied' | 'refused';

export function useCopy(): {
  readonly outcome: Copied;
  copy(text: string): void;
  forget(): void;
} {
  const [outcome, setOutcome] = useState<Copied>('none');
  return {
    outcome,
    copy: (text) => void copyText(text).then((isCopied) => setOutcome(isCopied ? 'copied' : 'refused')),
    forget: () => setOutcome('none'),
  };
}

/** Tooltip of a copy button; `idle` unless the browser has refused. */
export function copyTitle(outcome: Copied, idle?: string): string | undefined {
  return outcome === 'refused' ? 'The browser refused: select the text and copy it' : idle;
}

/** @param idle text of the button before anything is copied */
export function copyWords(outcome: Copied, idle: string): string {
  return outcome === 'none' ? idle : outcome === 'copied' ? 'Copied' : 'Not copied';
}
