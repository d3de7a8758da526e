/** A name from data with a button that copies it. A long id is shown shortened, and copied whole. */
import { copyTitle, copyWords, useCopy } from '../../../parts/copy/use-copy.ts';
import { visibleText } from '../../../parts/visible-text.ts';

interface CopyTextProps {
  readonly text: string;
  /** Characters shown. */
  readonly short?: number;
}

export function CopyText({ text, short = 48 }: CopyTextProps) {
  const { outcome, copy, forget } = useCopy();
  const shown = text.length > short ? `${text.slice(0, short)}…` : text;
  return (
    <button
      type="button"
      className="copy-text mono"
      title={copyTitle(outcome, `Copy ${visibleText(text.slice(0, 500))}`)}
      onClick={() => copy(text)}
      onBlur={forget}
    >
      <bdi>{visibleText(shown)}</bdi>
      <span className="dim copy-word" aria-live="polite">
        {` ${copyWords(outcome, 'copy').toLowerCase()}`}
      </span>
    </button>
  );
}
