/** A name out of the data that one wants to take elsewhere: shown, shortened where it says nothing, and copied whole. */
import { useState } from 'react';
import { visibleText } from '../../../parts/visible-text.ts';

interface CopyTextProps {
  readonly text: string;
  /** Characters shown. */
  readonly short?: number;
}

export function CopyText({ text, short = 48 }: CopyTextProps) {
  const [copied, setCopied] = useState(false);
  const shown = text.length > short ? `${text.slice(0, short)}…` : text;
  return (
    <button
      type="button"
      className="copy-text"
      title={`Copy ${visibleText(text.slice(0, 500))}`}
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setCopied(true);
      }}
      onBlur={() => setCopied(false)}
    >
      <bdi>{visibleText(shown)}</bdi>
      <span className="dim copy-word" aria-live="polite">
        {copied ? ' copied' : ' copy'}
      </span>
    </button>
  );
}
