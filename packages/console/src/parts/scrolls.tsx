/** A part of a page that scrolls sideways if it is too wide, also by keyboard. */
import type { ReactNode } from 'react';

interface ScrollsProps {
  readonly label: string;
  readonly isCard?: boolean;
  readonly children: ReactNode;
}

export function Scrolls({ label, isCard = false, children }: ScrollsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={isCard ? 'card scrolls' : 'scrolls'} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
