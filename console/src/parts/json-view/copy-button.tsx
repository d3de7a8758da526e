/** Puts a text on the clipboard, exactly as it is, and says so. */
import { useState } from 'react';

interface CopyButtonProps {
  /** What the button says. */
  readonly children: string;
  /** Made when it is pressed: it may be large. */
  text(): string;
}

type Outcome = 'none' | 'copied' | 'refused';

export function CopyButton({ children, text }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>('none');
  const copy = () =>
    navigator.clipboard.writeText(text()).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    );
  return (
    <button type="button" className="small" onClick={() => void copy()} onBlur={() => setOutcome('none')}>
      <span aria-live="polite">
        {outcome === 'none' ? children : outcome === 'copied' ? 'Copied' : 'The browser refuses'}
      </span>
    </button>
  );
}
