/** A button that copies a text. */
import { copyWords, useCopy } from './use-copy.ts';

interface CopyButtonProps {
  readonly children: string;
  /** Called on the click, because the text may be large. */
  text(): string;
}

export function CopyButton({ children, text }: CopyButtonProps) {
  const { outcome, copy, forget } = useCopy();
  return (
    <button type="button" className="small" onClick={() => copy(text())} onBlur={forget}>
      <span aria-live="polite">{copyWords(outcome, children)}</span>
    </button>
  );
}
